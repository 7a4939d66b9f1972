// A language model of 7 billion parameters, whole or a rank's part of it.

#ifndef SWITCHBOARD_EXAMPLES_TRANSFORMER_TRANSFORMER_H_
#define SWITCHBOARD_EXAMPLES_TRANSFORMER_TRANSFORMER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "switchboard/core/tensor.h"
#include "switchboard/distributed/functional_collectives.h"

namespace transformer {

using sb::DType, sb::Tensor;
using Sizes = std::vector<int64_t>;

inline constexpr int64_t kLayers = 32, kWidth = 4096, kHeads = 32, kHidden = 11008;
inline constexpr int64_t kVocabulary = 32000, kBatch = 1, kTokens = 2048;

struct Layer {
  Tensor attention_norm, query, key, value, output;
  Tensor mlp_norm, gate, up, down;
};
struct Model {
  Tensor embedding;
  std::vector<Layer> layers;
  Tensor last_norm, head;
  Tensor cosine, sine;  // no weights: by how much positions rotate
  // Ranks that have a part of each matrix, and their group. Heads, hidden channels and the
  // vocabulary are split; what is normalised is whole on all of them.
  int64_t parts = 1;
  sb::GroupRef group = {};

  std::vector<Tensor> weights() const;
};

// `make` gives a weight of these sizes, called "layers.3.query".
Model make_model(const std::function<Tensor(const std::string& name, const Sizes&)>& make,
                 int64_t parts = 1, const sb::GroupRef& group = {});

// [batch, tokens] of int64 to [batch, tokens, vocabulary]. `label` is told of each part of the
// model before it runs: "layers.3".
Tensor logits_of(const Model& model, const Tensor& tokens,
                 const std::function<void(const std::string&)>& label);

}  // namespace transformer

#endif  // SWITCHBOARD_EXAMPLES_TRANSFORMER_TRANSFORMER_H_
