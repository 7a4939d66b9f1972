// Weights for a program that came without them, the same wherever they are made.

#ifndef SWITCHBOARD_TOOLS_RANDOM_WEIGHTS_H_
#define SWITCHBOARD_TOOLS_RANDOM_WEIGHTS_H_

#include <cstdint>
#include <string_view>

#include "switchboard/core/tensor.h"
#include "switchboard/io/exported/program.h"

namespace sb::tools {

// A CPU tensor with the sizes and strides of `meta`, offset 0 and a storage of its own. Its
// elements depend on the seed, the name and the sizes alone. They keep deep networks finite:
//   two dimensions or more   uniform within +-sqrt(3 * size(0) / numel), so that a layer keeps the
//                            variance of its input
//   one or none              uniform within [0.5, 1.5) if the name ends in "weight" or "var" (the
//                            scale of a norm), else within +-0.1
//   integers and bools       0
// Throws RuntimeError for strides that cannot be written to.
Tensor random_weight(uint64_t seed, std::string_view name, const io::TensorMeta& meta);

// The same for an input: floats are uniform within +-1, integers 0 or 1, bools either.
Tensor random_input(uint64_t seed, std::string_view name, const io::TensorMeta& meta);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_RANDOM_WEIGHTS_H_
