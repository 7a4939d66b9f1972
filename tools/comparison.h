// How far a result is from what was expected.

#ifndef SWITCHBOARD_TOOLS_COMPARISON_H_
#define SWITCHBOARD_TOOLS_COMPARISON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "switchboard/core/tensor.h"
#include "switchboard/io/exported/program.h"

namespace sb::tools {

// A result may differ by absolute + relative * |expected|; integers and bools not at all.
struct Tolerance {
  double relative = 1e-5;
  double absolute = 1e-5;
};

struct Comparison {
  double max_difference = 0;  // infinite where NaN or infinity meets something else
  int64_t elements = 0;
  int64_t outside = 0;  // elements beyond the tolerance
  // The element furthest beyond its own tolerance, or nothing: "[4, 2]: 1.25, expected 1.5".
  std::string worst;
};

// Compares two CPU tensors of the same dtype and sizes. NaN equals NaN.
Comparison compare(const Tensor& result, const Tensor& expected, const Tolerance& tolerance);

// What is wrong with a tensor's dtype, sizes, strides (of more than one element) or device, which
// `meta` and `device` say: "strides [1, 64], recorded [64, 1]". Nothing if it is as recorded.
std::optional<std::string> metadata_fault(const Tensor& tensor, const io::TensorMeta& meta,
                                          Device device);

// How good an output is at what its model is for, given each sample's label. An output [N, C]
// classifies N samples by its argmax: "31/32 96.88%"; one of N elements predicts N values: "R2
// 0.8745". nullopt if the labels fit neither.
std::optional<std::string> score(const Tensor& output, const std::vector<double>& labels);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_COMPARISON_H_
