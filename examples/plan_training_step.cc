// A training step of a language model of 7 billion parameters on 10,000 ranks that are not here: 8
// of them share the matrices, 1250 the batch. One rank's step on fake tensors tells what all of
// them compute, keep and send. Prints what, for how long, and how soon that was known.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/distributed/device_mesh.h"
#include "switchboard/distributed/fake/fake_engine.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/plan/link_model.h"
#include "switchboard/distributed/plan/traffic.h"
#include "switchboard/distributed/world.h"
#include "switchboard/examples/transformer/transformer.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/loss/nll.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tools/plan/planner.h"
#include "switchboard/tools/plan/text_table.h"

namespace {

using sb::DType, sb::Tensor;
using namespace transformer;

constexpr int64_t kData = 1250, kTensor = 8;
constexpr double kFlopsPerSecond = 400e12;
const sb::Device kDevice("cuda:0");

// Adam, whose averages are float32.
struct Adam {
  std::vector<Tensor> weights, means, squares;

  explicit Adam(const std::vector<Tensor>& of) : weights(of) {
    for (const Tensor& weight : weights) {
      const std::vector<int64_t> sizes(weight.sizes().begin(), weight.sizes().end());
      means.push_back(sb::zeros(sizes, DType::Float32, std::nullopt, kDevice));
      squares.push_back(sb::zeros(sizes, DType::Float32, std::nullopt, kDevice));
    }
  }
  void step(size_t i, const Tensor& gradient) {
    const sb::NoGradGuard no_grad;
    const Tensor wide = sb::to_dtype(gradient, DType::Float32);
    sb::add_(sb::mul_Scalar_(means[i], 0.9), wide, 0.1);
    sb::add_(sb::mul_Scalar_(squares[i], 0.99), wide * wide, 0.01);
    const Tensor by = means[i] / (sb::sqrt(squares[i]) + 1e-8);
    sb::add_(weights[i], sb::to_dtype(by, DType::Float16), -1e-4);
  }
};

void train(const Model& model, Adam& adam, const Tensor& tokens, const Tensor& labels,
           const sb::DeviceMesh& mesh, sb::plan::Planner& planner) {
  const Tensor logits =
      logits_of(model, tokens, [&](const std::string& part) { planner.set_label(part); });
  planner.set_label("loss");
  const Tensor rows =
      sb::to_dtype(sb::view(logits, {kBatch * kTokens, kVocabulary}), DType::Float32);
  const Tensor loss = sb::cross_entropy_loss(rows, sb::view(labels, {kBatch * kTokens}));
  planner.set_label("backward");
  // Those that share the matrices all compute it, and gradients are of the sum.
  sb::backward(sb::div_Scalar(loss, kTensor));
  planner.set_label("gradients");
  std::vector<Tensor> gradients;
  for (const Tensor& weight : adam.weights) {
    gradients.push_back(sb::grad_of(weight));
    // What normalises is whole on the ranks that share matrices, each of which has a summand.
    if (weight.dim() == 1)
      gradients.back() = sb::all_reduce(gradients.back(), "sum", mesh.group("tensor"));
  }
  gradients = sb::all_reduce_coalesced(gradients, "avg", mesh.group("data"));
  planner.set_label("optimizer");
  for (size_t i = 0; i < gradients.size(); ++i) adam.step(i, gradients[i]);
}

std::string commas(int64_t number) { return sb::plan::with_commas(static_cast<uint64_t>(number)); }

void print_ranks(const sb::TrafficRecorder& recorder, const sb::DeviceMesh& mesh, int64_t peak) {
  sb::plan::TextTable table(
      {"ranks", ">number", ">peak bytes", ">sent over data", ">sent over tensor"});
  for (const sb::RankKind& kind : sb::rank_kinds(recorder.calls(), mesh.dims()))
    table.add({sb::str_cat(kind.ranks.front(), kind.ranks.size() > 1 ? "..." : ""),
               commas(std::ssize(kind.ranks)), commas(peak), commas(kind.sent[0]),
               commas(kind.sent[1])});
  std::cout << table.to_string() << "\n";
}

void print_times(const sb::TrafficRecorder& recorder, uint64_t flops) {
  // The eight that share matrices are one machine, whose links are faster than those between.
  const sb::Link links[] = {{50e9, 10e-6}, {450e9, 2e-6}};
  double seconds[2] = {0, 0};
  int64_t calls[2] = {0, 0};
  for (const sb::PlannedCall& call : recorder.calls()) {
    const auto dim = static_cast<size_t>(call.dim);
    seconds[dim] +=
        std::min(sb::ring_seconds(call, links[dim]), sb::tree_seconds(call, links[dim]));
    ++calls[dim];
  }
  const double computing = static_cast<double>(flops) / kFlopsPerSecond;
  std::printf("collectives over data:   %5lld calls, %8.1f ms\n", static_cast<long long>(calls[0]),
              1e3 * seconds[0]);
  std::printf("collectives over tensor: %5lld calls, %8.1f ms\n", static_cast<long long>(calls[1]),
              1e3 * seconds[1]);
  std::printf("computing:                            %8.1f ms\n", 1e3 * computing);
}

}  // namespace

int main() {
  const auto start = std::chrono::steady_clock::now();
  sb::World world(sb::fake_engine(/*rank=*/0, kData * kTensor));
  const sb::WorldGuard world_guard(&world);
  const sb::DeviceMesh mesh({{"data", kData}, {"tensor", kTensor}});
  const sb::FakeTensorMode fake;
  const sb::FakeTensorModeGuard fake_guard(fake);

  sb::plan::Planner planner;
  int64_t parameters = 0;
  const auto make = [&](const std::string& name, const Sizes& sizes) {
    const Tensor weight = sb::empty(sizes, DType::Float16, std::nullopt, kDevice);
    planner.add_input(weight, name);
    sb::set_requires_grad(weight);
    parameters += weight.numel();
    return weight;
  };
  Model model = make_model(make, kTensor, mesh.group("tensor"));
  const Sizes angles = {kTokens, kWidth / kHeads};
  model.cosine = sb::empty(angles, DType::Float16, std::nullopt, kDevice);
  model.sine = sb::empty(angles, DType::Float16, std::nullopt, kDevice);
  Adam adam(model.weights());
  const Tensor tokens = sb::empty({kBatch, kTokens}, DType::Int64, std::nullopt, kDevice);
  const Tensor labels = sb::empty({kBatch, kTokens}, DType::Int64, std::nullopt, kDevice);

  sb::TrafficRecorder recorder(mesh);
  {
    const sb::ModeGuard recording(&recorder);
    const sb::ModeGuard planning(&planner);
    train(model, adam, tokens, labels, mesh, planner);
  }
  const sb::plan::Plan plan = planner.finish();
  const int64_t peak = sb::plan::memory_on(plan, kDevice).peak_bytes;
  std::cout << commas(parameters) << " parameters on each of " << commas(world.size())
            << " ranks, data=" << kData << ",tensor=" << kTensor << "\n\n";
  print_ranks(recorder, mesh, peak);
  print_times(recorder, plan.total().flops.number());
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  std::printf("\nplanned in %.2f s\n", time.count());
}
