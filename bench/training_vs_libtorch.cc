// A step of training a small network on Switchboard and on Debian's libtorch, in turns, in one
// process. Prints how many times as long libtorch takes. See docs/performance.md.
//
//   ./bazelw run -c opt //bench:training_vs_libtorch

#include <torch/torch.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "switchboard/bench/side_by_side.h"
#include "switchboard/bench/switchboard_cases.h"
#include "switchboard/bench/training_case.h"

namespace {

std::function<void()> libtorch_case(const std::string& name) {
  torch::nn::Linear hidden(64, 64), out(64, 10);
  std::vector<torch::Tensor> parameters = hidden->parameters();
  for (const torch::Tensor& p : out->parameters()) parameters.push_back(p);
  std::shared_ptr<torch::optim::Optimizer> optimizer;
  if (name == "sgd")
    optimizer = std::make_shared<torch::optim::SGD>(parameters,
                                                    torch::optim::SGDOptions(0.1).momentum(0.9));
  else
    optimizer = std::make_shared<torch::optim::Adam>(parameters, torch::optim::AdamOptions(0.003));
  const torch::Tensor images = torch::rand({32, 64}),
                      labels = torch::randint(10, {32}, torch::kLong);
  return [=]() mutable {
    const torch::Tensor scores =
        torch::log_softmax(out->forward(torch::relu(hidden->forward(images))), 1);
    const torch::Tensor loss = torch::nll_loss(scores, labels);
    for (torch::Tensor& p : parameters) p.mutable_grad() = torch::Tensor();
    loss.backward();
    optimizer->step();
  };
}

}  // namespace

int main() {
  using namespace sb::bench;
  std::printf("%-28s %14s %14s\n", "libtorch's time / ours", "1 thread", "2 threads");
  for (const std::string name : {"sgd", "adam"}) {
    const auto ours = training_case(name), theirs = libtorch_case(name);
    std::printf("%-28s", ("digits MLP, step by " + name).c_str());
    for (int threads : {1, 2}) {
      set_switchboard_threads(threads);
      at::set_num_threads(threads);
      set_openblas_threads(threads);
      const Times times = measure(ours, theirs);
      std::printf(" %14.2f", times.theirs / times.ours);
      std::fflush(stdout);
    }
    std::printf("\n");
  }
}
