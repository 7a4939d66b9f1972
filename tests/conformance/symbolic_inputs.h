// Tensors whose sizes are symbols, and what these are where the tensors have other sizes.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_SYMBOLIC_INPUTS_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_SYMBOLIC_INPUTS_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/fake/symbolic/shape_env.h"
#include "switchboard/tests/conformance/json_values.h"

namespace sb::conformance {

using Ints = std::vector<int64_t>;

// Calls f(value, path) for each argument of a case; paths are "args.0" and "kwargs.x".
template <class F>
void for_each_argument(const Json& json, F&& f) {
  size_t i = 0;
  for (const Json& value : json.at("args")) f(value, str_cat("args.", i++));
  for (const auto& [name, value] : json.at("kwargs").items()) f(value, "kwargs." + name);
}

// An argument that is no tensor, and may be made of sizes: dimension `dim` of the tensor at `path`
// has this one.
IValue read_number(const Json& value,
                   absl::FunctionRef<SymInt(const std::string& path, size_t dim)> size);

// A tensor, and what its sizes and strides were before the call.
struct SymbolicInput {
  std::string path;
  Ints shape, stride;  // as recorded
  std::vector<SymInt> sizes, strides;
};

// The strides that an input has at other sizes: dense, in the same order; expanded ones stay 0.
template <class Int>
std::vector<Int> strides_at(const Ints& order_of, const std::vector<Int>& sizes) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return std::pair(order_of[a], b) < std::pair(order_of[b], a);
  });
  std::vector<Int> strides(sizes.size(), Int(0));
  Int stride = 1;
  for (const size_t d : order) {
    if (order_of[d] == 0) continue;
    strides[d] = stride;
    stride *= sym_max(sizes[d], Int(1));
  }
  return strides;
}

class SymbolicInputs {
 public:
  void add(SymbolicInput input) { inputs_.push_back(std::move(input)); }
  // What a fake run knows of a tensor without dimensions: "x.item()".
  void add_number(std::string source, int64_t value) {
    numbers_.emplace_back(std::move(source), value);
  }
  // Throws MalformedCase if there is none.
  const SymbolicInput& find(const std::string& path) const;

  // Values of the symbols, and of the sources that guards speak of.
  struct At {
    symbolic::SymbolValues values;
    std::vector<std::pair<std::string, int64_t>> sources;
  };
  // Where dimension d of an input has the size that `size` says.
  At at(absl::FunctionRef<int64_t(const SymbolicInput& input, size_t d)> size) const;

 private:
  std::vector<SymbolicInput> inputs_;
  std::vector<std::pair<std::string, int64_t>> numbers_;
};

// The number that an expression is then; -1 where a symbol has no value, as only data tell it.
int64_t evaluated(const SymInt& n, const symbolic::SymbolValues& values);

// A result beside its recorded dtype, shape and stride: strides of dimensions of size 1, and of
// tensors without elements, mean nothing. What is no tensor there is not compared.
Difference compare_at(const Json& expected, const IValue& actual,
                      const symbolic::SymbolValues& values);

// "\n(s0 > 2) by aten::narrow (...)" for each.
std::string guards_text(const ShapeEnv& env);

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_SYMBOLIC_INPUTS_H_
