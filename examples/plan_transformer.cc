// A language model of 7 billion parameters, planned on a GPU that is not here: built from its sizes
// alone, no weights file and no memory behind any tensor. Prints what one forward pass needs.

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "switchboard/core/str_cat.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/attention/attention.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/elementwise/activations.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/embedding.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tools/plan/plan_report.h"
#include "switchboard/tools/plan/planner.h"
#include "switchboard/tools/plan/text_table.h"

namespace {

using sb::DType;
using sb::Tensor;
using Sizes = std::vector<int64_t>;

constexpr int64_t kLayers = 32, kWidth = 4096, kHeads = 32, kHidden = 11008, kVocabulary = 32000;
constexpr int64_t kBatch = 1, kTokens = 2048;
const sb::Device kDevice("cuda:0");

struct Layer {
  Tensor attention_norm, query, key, value, output;
  Tensor mlp_norm, gate, up, down;
};

// Makes weights, and tells the planner of each.
class Weights {
 public:
  explicit Weights(sb::plan::Planner& planner) : planner_(planner) {}
  Tensor operator()(const std::string& name, const Sizes& sizes) {
    const Tensor weight = sb::empty(sizes, DType::Float16, std::nullopt, kDevice);
    planner_.add_input(weight, name);
    count_ += weight.numel();
    return weight;
  }
  int64_t count() const { return count_; }

 private:
  sb::plan::Planner& planner_;
  int64_t count_ = 0;
};

Layer make_layer(Weights& weights, int64_t i) {
  const auto make = [&](const char* name, const Sizes& sizes) {
    return weights(sb::str_cat("layers.", i, ".", name), sizes);
  };
  return {make("attention_norm", {kWidth}), make("query", {kWidth, kWidth}),
          make("key", {kWidth, kWidth}),    make("value", {kWidth, kWidth}),
          make("output", {kWidth, kWidth}), make("mlp_norm", {kWidth}),
          make("gate", {kHidden, kWidth}),  make("up", {kHidden, kWidth}),
          make("down", {kWidth, kHidden})};
}

// Root mean square normalisation, in float32 as one does.
Tensor rms_norm(const Tensor& x, const Tensor& weight) {
  const Tensor wide = sb::to_dtype(x, DType::Float32);
  const Tensor scale = sb::rsqrt(sb::mean_dim(wide * wide, Sizes{-1}, true) + 1e-5);
  return sb::to_dtype(wide * scale, DType::Float16) * weight;
}

// (batch, tokens, width) to (batch, heads, tokens, width / heads).
Tensor split_heads(const Tensor& x) {
  return sb::transpose(sb::view(x, {kBatch, kTokens, kHeads, kWidth / kHeads}), 1, 2);
}

// Rotates pairs of channels by angles that grow with the position.
Tensor rotate(const Tensor& x, const Tensor& cosine, const Tensor& sine) {
  const int64_t half = x.size(-1) / 2;
  const Tensor first = sb::slice(x, -1, 0, half), second = sb::slice(x, -1, half);
  return x * cosine + sb::cat({-second, first}, -1) * sine;
}

Tensor run_layer(const Layer& layer, const Tensor& x, const Tensor& cosine, const Tensor& sine) {
  const Tensor normal = rms_norm(x, layer.attention_norm);
  const Tensor query = rotate(split_heads(sb::linear(normal, layer.query)), cosine, sine);
  const Tensor key = rotate(split_heads(sb::linear(normal, layer.key)), cosine, sine);
  const Tensor value = split_heads(sb::linear(normal, layer.value));
  const Tensor attended =
      sb::scaled_dot_product_attention(query, key, value, std::nullopt, 0.0, /*is_causal=*/true);
  const Tensor joined = sb::reshape(sb::transpose(attended, 1, 2), {kBatch, kTokens, kWidth});
  const Tensor middle = x + sb::linear(joined, layer.output);
  const Tensor wide = rms_norm(middle, layer.mlp_norm);
  const Tensor gated = sb::silu(sb::linear(wide, layer.gate)) * sb::linear(wide, layer.up);
  return middle + sb::linear(gated, layer.down);
}

}  // namespace

int main() {
  const auto start = std::chrono::steady_clock::now();
  const sb::FakeTensorMode fake;
  const sb::FakeTensorModeGuard fake_guard(fake);
  sb::plan::Planner planner;

  Weights weights(planner);
  const Tensor embedding = weights("embedding", {kVocabulary, kWidth});
  std::vector<Layer> layers;
  for (int64_t i = 0; i < kLayers; ++i) layers.push_back(make_layer(weights, i));
  const Tensor last_norm = weights("norm", {kWidth}), head = weights("head", {kVocabulary, kWidth});
  const int64_t parameters = weights.count();
  const Tensor cosine = weights("cosine", {kTokens, kWidth / kHeads});
  const Tensor sine = weights("sine", {kTokens, kWidth / kHeads});
  const Tensor tokens = sb::empty({kBatch, kTokens}, DType::Int64, std::nullopt, kDevice);
  planner.add_input(tokens, "tokens");

  Tensor logits;
  {
    const sb::ModeGuard planning(&planner);
    planner.set_label("embedding");
    Tensor x = sb::embedding(embedding, tokens);
    for (int64_t i = 0; i < kLayers; ++i) {
      planner.set_label(sb::str_cat("layers.", i));
      x = run_layer(layers[static_cast<size_t>(i)], x, cosine, sine);
    }
    planner.set_label("head");
    logits = sb::linear(rms_norm(x, last_norm), head);
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
