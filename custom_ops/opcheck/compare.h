// Describes how two runs of one call differ.

#ifndef SWITCHBOARD_CUSTOM_OPS_OPCHECK_COMPARE_H_
#define SWITCHBOARD_CUSTOM_OPS_OPCHECK_COMPARE_H_

#include <string>
#include <string_view>
#include <vector>

#include "switchboard/custom_ops/opcheck/checked_call.h"

namespace sb::internal {

// Two ways to run a call: "real", "fake".
struct Ways {
  std::string_view expected;
  std::string_view got;
};

struct Closeness {
  double rtol;
  double atol;
};
// Returns the tolerances that the options set, or the usual ones: as `torch.testing.assert_close`.
Closeness closeness(const OpCheckOptions& options, DType dtype);

// The functions below return "" where nothing differs.

// "dtype float32, not float64", "sizes [2], not [3]".
std::string differing_shape(const Tensor& expected, const Tensor& got);
// The first element that is not as near as that, NaN being itself: "element [0, 1] is 3, not 2".
// Tensors of one shape.
std::string differing_element(const Tensor& expected, const Tensor& got, Closeness close);
// The same, bit for bit but for NaN.
inline std::string differing_element(const Tensor& expected, const Tensor& got) {
  return differing_element(expected, got, {0, 0});
}

// Describe differences of tensors (dtype, sizes and elements, each named as in `expected`) and of
// their number. Values other than tensors are compared as text.
std::string differing_results(const Run& expected, const Run& got, const OpCheckOptions& options,
                              bool exact = false);
// The same for the arguments that were written to.
std::string differing_arguments(const Run& expected, const Run& got, const OpCheckOptions& options,
                                bool exact = false);
std::string differing_tensors(const std::vector<NamedTensor>& expected,
                              const std::vector<NamedTensor>& got, const OpCheckOptions& options,
                              bool exact = false);

// Describes which results are which arguments, or share memory with them or with one another:
// "result 0 shares the storage of argument 0 'x' in the real run, and not in the fake one".
std::string differing_sharing(const Run& expected, const Run& got, const Ways& ways);

// "[0, 2]".
std::string list_text(IntArrayRef list);

}  // namespace sb::internal

#endif  // SWITCHBOARD_CUSTOM_OPS_OPCHECK_COMPARE_H_
