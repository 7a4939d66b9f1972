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
#include "switchboard/distributed/one_process/run_ranks.h"
#include "switchboard/distributed/world.h"
#include "switchboard/examples/digits_training/data_parallel.h"
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
ABSL_FLAG(int, ranks, 0,
          "train on so many ranks, 1, 2 or 4, each with a part of every batch: the perceptron, on "
          "the cpu");
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

// One training run, with losses to the last bit where `bits` is set; whether it does as it should.
bool run(const std::string& name, const std::string& optimizer, const std::string& device,
         const digits::Step& step, bool prints, bool bits) {
  const std::string folder = absl::GetFlag(FLAGS_data);
  const digits::NamedTensors start = sb::load_tensors(folder + "/start.safetensors");
  const auto model = digits::make_model(name, start, sb::Device(device));
  const digits::Data data = digits::read_digits(folder + "/digits.safetensors", sb::Device(device));
  if (prints) std::printf("%s by %s on %s\n", name.c_str(), optimizer.c_str(), device.c_str());
  const auto print = [&](const digits::Epoch& epoch) {
    if (!prints) return;
    std::printf("  epoch %2d: loss %.4f, test accuracy %.2f %%", epoch.number, epoch.loss,
                100 * epoch.accuracy);
    if (bits) std::printf(", exactly %a", epoch.loss);
    std::printf("\n");
    std::fflush(stdout);
  };
  const digits::Report report =
      digits::train(*model, optimizer, data, absl::GetFlag(FLAGS_epochs), print, step);

  const nlohmann::json reference = read_reference(folder + "/reference.json");
  double worst = 0;
  for (size_t i = 0; i < report.first_losses.size(); ++i)
    worst = std::max(worst, std::abs(report.first_losses[i] -
                                     reference[name + "." + optimizer][i].get<double>()));
  const bool agrees = worst <= kTolerance, learned = report.accuracy >= kAccuracy;
  if (!prints) return agrees && learned;
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

// The same on ranks, of which the first prints.
bool run_on_ranks(int ranks, const std::string& name, const std::string& optimizer) {
  SB_CHECK_VALUE(name == "mlp", "--ranks is for mlp: the batch norm of ", name,
                 " computes statistics of the whole batch");
  bool ok = false;
  sb::run_ranks(ranks, [&] {
    const bool first = sb::get_rank() == 0;
    const bool good = run(name, optimizer, "cpu", digits::data_parallel_step, first, true);
    if (first) ok = good;
  });
  return ok;
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Trains networks on handwritten digits from scratch.");
  absl::ParseCommandLine(argc, argv);
  bool ok = true;
  try {
    const int ranks = absl::GetFlag(FLAGS_ranks);
    const std::vector<std::string> devices =
        ranks ? std::vector<std::string>{"cpu"} : absl::GetFlag(FLAGS_device);
    for (const std::string& device : devices)
      for (const std::string& model : absl::GetFlag(FLAGS_model))
        for (const std::string& optimizer : absl::GetFlag(FLAGS_optimizer))
          ok = (ranks ? run_on_ranks(ranks, model, optimizer)
                      : run(model, optimizer, device, digits::training_step, true, false)) &&
               ok;
  } catch (const sb::Error& error) {
    std::fprintf(stderr, "train_digits: %s\n", error.what());
    return 1;
  }
  return ok ? 0 : 1;
}
