// The format of the numbers of one printed tensor, chosen so that they line up.

#ifndef SWITCHBOARD_CORE_PRINT_NUMBER_FORMAT_H_
#define SWITCHBOARD_CORE_PRINT_NUMBER_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/types/span.h"

namespace sb {

// Chosen from all floating-point numbers that will be shown: whole numbers as "3.", others with
// four decimals, and both in scientific notation where they differ too much. As `_Formatter` of
// torch/_tensor_str.py, with its default options.
class FloatFormat {
 public:
  explicit FloatFormat(absl::Span<const double> values);

  // The number, padded on the left to width().
  std::string operator()(double value) const;
  size_t width() const { return width_; }

 private:
  std::string unpadded(double value) const;

  bool whole_ = true;
  bool scientific_ = false;
  size_t width_ = 1;
};

// The same for integers, and for bools as "True" and "False".
class IntFormat {
 public:
  IntFormat(absl::Span<const int64_t> values, bool is_bool);

  std::string operator()(int64_t value) const;
  size_t width() const { return width_; }

 private:
  std::string unpadded(int64_t value) const;

  bool is_bool_;
  size_t width_ = 1;
};

}  // namespace sb

#endif  // SWITCHBOARD_CORE_PRINT_NUMBER_FORMAT_H_
