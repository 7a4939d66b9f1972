#include "switchboard/examples/transformer/transformer.h"

#include "switchboard/core/str_cat.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/attention/attention.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/elementwise/activations.h"
#include "switchboard/ops/indexing/embedding.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace transformer {
namespace {

// Root mean square normalisation, in float32 as one does.
Tensor rms_norm(const Tensor& x, const Tensor& weight) {
  const Tensor wide = sb::to_dtype(x, DType::Float32);
  const Tensor scale = sb::rsqrt(sb::mean_dim(wide * wide, Sizes{-1}, true) + 1e-5);
  return sb::to_dtype(wide * scale, DType::Float16) * weight;
}

// (batch, tokens, width) to (batch, heads, tokens, width / heads).
Tensor split_heads(const Tensor& x) {
  return sb::transpose(sb::view(x, {kBatch, kTokens, -1, kWidth / kHeads}), 1, 2);
}

// Rotates pairs of channels by angles that grow with the position.
Tensor rotate(const Tensor& x, const Tensor& cosine, const Tensor& sine) {
  const int64_t half = x.size(-1) / 2;
  const Tensor first = sb::slice(x, -1, 0, half), second = sb::slice(x, -1, half);
  return x * cosine + sb::cat({-second, first}, -1) * sine;
}

// What all ranks have of a sum, and of a tensor whose last dimension they share.
Tensor added(const Model& model, const Tensor& x) {
  return model.parts == 1 ? x : sb::all_reduce(x, "sum", model.group);
}
Tensor joined(const Model& model, const Tensor& x) {
  return model.parts == 1 ? x : sb::all_gather_tensor(x, x.dim() - 1, model.group);
}

Tensor run_layer(const Model& model, const Layer& layer, const Tensor& x) {
  const Tensor normal = rms_norm(x, layer.attention_norm);
  const auto heads = [&](const Tensor& weight) { return split_heads(sb::linear(normal, weight)); };
  const Tensor query = rotate(heads(layer.query), model.cosine, model.sine);
  const Tensor key = rotate(heads(layer.key), model.cosine, model.sine);
  const Tensor attended = sb::scaled_dot_product_attention(query, key, heads(layer.value),
                                                           std::nullopt, 0.0, /*is_causal=*/true);
  const Tensor flat = sb::reshape(sb::transpose(attended, 1, 2), {kBatch, kTokens, -1});
  const Tensor middle = x + added(model, sb::linear(flat, layer.output));
  const Tensor wide = rms_norm(middle, layer.mlp_norm);
  const Tensor gated = sb::silu(sb::linear(wide, layer.gate)) * sb::linear(wide, layer.up);
  return middle + added(model, sb::linear(gated, layer.down));
}

}  // namespace

Model make_model(const std::function<Tensor(const std::string& name, const Sizes&)>& make,
                 int64_t parts, const sb::GroupRef& group) {
  Model model;
  model.parts = parts;
  model.group = group;
  model.embedding = make("embedding", {kVocabulary, kWidth / parts});
  for (int64_t i = 0; i < kLayers; ++i) {
    const auto weight = [&](const char* name, const Sizes& sizes) {
      return make(sb::str_cat("layers.", i, ".", name), sizes);
    };
    model.layers.push_back(
        {weight("attention_norm", {kWidth}), weight("query", {kWidth / parts, kWidth}),
         weight("key", {kWidth / parts, kWidth}), weight("value", {kWidth / parts, kWidth}),
         weight("output", {kWidth, kWidth / parts}), weight("mlp_norm", {kWidth}),
         weight("gate", {kHidden / parts, kWidth}), weight("up", {kHidden / parts, kWidth}),
         weight("down", {kWidth, kHidden / parts})});
  }
  model.last_norm = make("norm", {kWidth});
  model.head = make("head", {kVocabulary / parts, kWidth});
  return model;
}

std::vector<Tensor> Model::weights() const {
  std::vector<Tensor> all = {embedding};
  for (const Layer& layer : layers)
    for (const Tensor& weight : {layer.attention_norm, layer.query, layer.key, layer.value,
                                 layer.output, layer.mlp_norm, layer.gate, layer.up, layer.down})
      all.push_back(weight);
  all.push_back(last_norm);
  all.push_back(head);
  return all;
}

Tensor logits_of(const Model& model, const Tensor& tokens,
                 const std::function<void(const std::string&)>& label) {
  label("embedding");
  Tensor x = joined(model, sb::embedding(model.embedding, tokens));
  for (size_t i = 0; i < model.layers.size(); ++i) {
    label(sb::str_cat("layers.", i));
    x = run_layer(model, model.layers[i], x);
  }
  label("head");
  return joined(model, sb::linear(rms_norm(x, model.last_norm), model.head));
}

}  // namespace transformer
