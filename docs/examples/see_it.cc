// A recording of a few calls, and what a program reads in it.

#include <filesystem>
#include <iostream>

#include "switchboard/io/recording/record.h"
#include "switchboard/io/recording/recording.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/products/matmul.h"

using sb::Tensor;

int main() {
  std::filesystem::current_path(std::filesystem::temp_directory_path());
  // doc: begin
  const Tensor x = sb::ones({2, 3}), w = sb::ones({3, 4});
  {
    sb::Recording recording("run.sbr");
    sb::relu(sb::mm(x, w));
  }
  const sb::io::RecordedRun run = sb::io::read_recording("run.sbr");
  for (const sb::io::RecordedEvent& call : run.events)
    std::cout << run.site(call).op << " at " << run.site(call).key << "\n";
  // doc: end
  std::filesystem::remove("run.sbr");
}
