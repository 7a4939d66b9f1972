// A network that PyTorch exported, run op by op: here, under a mode that counts its calls, and on a
// GPU that is not here. Takes the folder of a model; examples/digits_mlp unless one is given.

#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/dispatch/modes/counting_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/io/exported_program.h"
#include "switchboard/ops/reductions/reductions.h"

namespace {

void run(const std::string& folder) {
  // Five lines.
  sb::ExportedProgram program = sb::load_exported_program(folder);
  const sb::TensorMap samples = sb::load_tensors(folder + "/inputs.safetensors");
  std::vector<sb::IValue> inputs;
  for (const sb::ExportedValue& input : program.inputs()) inputs.push_back(samples.at(input.name));
  const sb::Tensor output = program(inputs).at(0).to_tensor();

  std::cout << program.outputs()[0].name << " is " << output.describe()
            << "\nits largest: " << sb::argmax(output, -1) << "\n";

  // Whatever mode stands sees each call.
  sb::CountingMode count;
  {
    const sb::ModeGuard counting(&count);
    program(inputs);
  }
  std::cout << "\nCounted:\n" << count.to_string();

  // On fake tensors, nothing is computed, and the device need not exist.
  sb::FakeTensorMode fake;
  const auto pretend = [&](const sb::Tensor& t) { return fake.from_tensor(t, sb::Device("cuda")); };
  program.apply(pretend);
  for (sb::IValue& input : inputs) input = pretend(input.to_tensor());
  const sb::FakeTensorModeGuard pretending(fake);
  std::cout << "\nOn a GPU: " << program(inputs).at(0).to_tensor() << ", "
            << fake.memory().peak_bytes() << " bytes at most\n";
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "examples/digits_mlp");
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
