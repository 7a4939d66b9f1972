// A language model of 7 billion parameters, planned on a GPU that is not here: built from its sizes
// alone, no weights file and no memory behind any tensor. Prints what one forward pass needs.

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "switchboard/examples/transformer/transformer.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/tools/plan/plan_report.h"
#include "switchboard/tools/plan/planner.h"
#include "switchboard/tools/plan/text_table.h"

using sb::DType, sb::Tensor;
using namespace transformer;

int main() {
  const auto start = std::chrono::steady_clock::now();
  const sb::FakeTensorMode fake;
  const sb::FakeTensorModeGuard fake_guard(fake);
  sb::plan::Planner planner;

  // Makes weights, and tells the planner of each.
  const sb::Device device("cuda:0");
  const auto make = [&](const std::string& name, const Sizes& sizes) {
    const Tensor weight = sb::empty(sizes, DType::Float16, std::nullopt, device);
    planner.add_input(weight, name);
    return weight;
  };
  Model model = make_model(make);
  int64_t parameters = 0;
  for (const Tensor& weight : model.weights()) parameters += weight.numel();
  model.cosine = make("cosine", {kTokens, kWidth / kHeads});
  model.sine = make("sine", {kTokens, kWidth / kHeads});
  const Tensor tokens = sb::empty({kBatch, kTokens}, DType::Int64, std::nullopt, device);
  planner.add_input(tokens, "tokens");

  Tensor logits;
  {
    const sb::ModeGuard planning(&planner);
    logits = logits_of(model, tokens, [&](const std::string& part) { planner.set_label(part); });
  }
  const sb::plan::PlanReport report(planner.finish());
  const std::string text = report.totals_text() + "\n" + report.summary_text();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;

  std::cout << sb::plan::with_commas(parameters) << " parameters, " << kTokens << " tokens, gives "
            << logits.describe() << "\n\n"
            << text;
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  std::printf("\nplanned in %.0f ms with %.0f MB\n", time.count(), usage.ru_maxrss / 1024.0);
}
