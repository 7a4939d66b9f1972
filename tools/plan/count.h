// A count of FLOPs or bytes moved: a number that saturates, or an expression of symbols.

#ifndef SWITCHBOARD_TOOLS_PLAN_COUNT_H_
#define SWITCHBOARD_TOOLS_PLAN_COUNT_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>

#include "switchboard/core/symbols/sym_int.h"

namespace sb::plan {

// What a number shows when there are more than uint64 holds. Sizes of fake tensors are anything
// that fits int64, and a product of three of them is no error: nobody allocates it.
inline constexpr uint64_t kSaturated = UINT64_MAX;

// Formulas are written once with it, and count whatever sizes are. Sums and products of numbers
// stop at kSaturated instead of wrapping; 0 times anything is 0. Of expressions, coefficients that
// int64 does not hold throw RuntimeError, and so does a number above int64 beside an expression.
class Count {
 public:
  Count() = default;
  // At least 0.
  Count(std::integral auto number) : number_(static_cast<uint64_t>(number)) {}  // NOLINT
  Count(const SymInt& size) {                                                   // NOLINT
    if (const std::optional<int64_t> number = size.maybe_int())
      number_ = static_cast<uint64_t>(*number);
    else
      expression_ = size;
  }

  bool is_symbolic() const { return expression_.is_symbolic(); }
  // Throws RuntimeError for an expression.
  uint64_t number() const {
    if (is_symbolic()) expression_.expect_int();
    return number_;
  }
  // Throws RuntimeError for a number that int64 does not hold.
  SymInt expression() const;
  // The number, or what the sizes at hand give: to sort by.
  uint64_t at_hand() const;
  std::string to_string() const;

  friend Count operator+(const Count& a, const Count& b);
  friend Count operator*(const Count& a, const Count& b);
  Count& operator+=(const Count& other) { return *this = *this + other; }
  Count& operator*=(const Count& other) { return *this = *this * other; }
  // The same number; of expressions, the same for all sizes. Records nothing.
  friend bool operator==(const Count& a, const Count& b);

 private:
  uint64_t number_ = 0;
  SymInt expression_;  // a number, 0, unless symbolic
};

Count min(const Count& a, const Count& b);
Count max(const Count& a, const Count& b);

}  // namespace sb::plan

#endif  // SWITCHBOARD_TOOLS_PLAN_COUNT_H_
