// Trains two networks on handwritten digits from scratch: ./bazelw run -c opt
// //examples:train_digits

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "nlohmann/json.hpp"
#include "switchboard/core/error.h"
#include "switchboard/examples/digits_training/training.h"
#include "switchboard/io/safetensors/saving.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/views/views.h"

ABSL_FLAG(std::vector<std::string>, model, (std::vector<std::string>{"mlp", "cnn"}), "mlp, cnn");
ABSL_FLAG(std::vector<std::string>, optimizer, (std::vector<std::string>{"sgd", "adam"}),
          "sgd, adam");
ABSL_FLAG(std::vector<std::string>, device, (std::vector<std::string>{"cpu", "dummy"}),
          "cpu, dummy");
ABSL_FLAG(int, epochs, 20, "how often each image is seen");
ABSL_FLAG(std::string, save, "", "write the last network to this safetensors file");
ABSL_FLAG(std::string, data, "examples/digits_training",
          "the folder of the data and the reference");

namespace {

constexpr double kTolerance = 1e-4, kAccuracy = 0.96;

nlohmann::json read_reference(const std::string& path) {
  std::ifstream file(path);
  SB_CHECK(file, "cannot open ", path);
  return nlohmann::json::parse(file);
}

// One training run; whether it does as it should.
bool run(const std::string& name, const std::string& optimizer, const std::string& device) {
  const std::string folder = absl::GetFlag(FLAGS_data);
  const digits::NamedTensors start = sb::load_tensors(folder + "/start.safetensors");
  const auto model = digits::make_model(name, start, sb::Device(device));
  const digits::Data data = digits::read_digits(folder + "/digits.safetensors", sb::Device(device));
  std::printf("%s by %s on %s\n", name.c_str(), optimizer.c_str(), device.c_str());
  const digits::Report report =
      digits::train(*model, optimizer, data, absl::GetFlag(FLAGS_epochs), [](const auto& epoch) {
        std::printf("  epoch %2d: loss %.4f, test accuracy %.2f %%\n", epoch.number, epoch.loss,
                    100 * epoch.accuracy);
        std::fflush(stdout);
      });

  const nlohmann::json reference = read_reference(folder + "/reference.json");
  double worst = 0;
  for (size_t i = 0; i < report.first_losses.size(); ++i)
    worst = std::max(worst, std::abs(report.first_losses[i] -
                                     reference[name + "." + optimizer][i].get<double>()));
  const bool agrees = worst <= kTolerance, learned = report.accuracy >= kAccuracy;
  std::printf("  first ten losses differ from PyTorch's by %.1e at most: %s\n", worst,
              agrees ? "ok" : "more than 1e-4");
  if (!learned) std::printf("  test accuracy below %.0f %%\n", 100 * kAccuracy);

  if (const std::string path = absl::GetFlag(FLAGS_save); !path.empty()) {
    sb::TensorMap tensors;
    for (const auto& [key, tensor] : model->state())
      tensors[key] = sb::to(sb::detach(tensor), sb::Device("cpu"));
    sb::save_tensors(path, tensors);
    std::printf("  saved to %s\n", path.c_str());
  }
  return agrees && learned;
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Trains networks on handwritten digits from scratch.");
  absl::ParseCommandLine(argc, argv);
  bool ok = true;
  try {
    for (const std::string& device : absl::GetFlag(FLAGS_device))
      for (const std::string& model : absl::GetFlag(FLAGS_model))
        for (const std::string& optimizer : absl::GetFlag(FLAGS_optimizer))
          ok = run(model, optimizer, device) && ok;
  } catch (const sb::Error& error) {
    std::fprintf(stderr, "train_digits: %s\n", error.what());
    return 1;
  }
  return ok ? 0 : 1;
}
