// The range of an integer expression: every integer from `low` to `high`.

#ifndef SWITCHBOARD_FAKE_SYMBOLIC_VALUE_RANGE_H_
#define SWITCHBOARD_FAKE_SYMBOLIC_VALUE_RANGE_H_

#include <cstdint>
#include <limits>
#include <string>

namespace sb::symbolic {

// The ends of int64 mean infinity, and stay infinite under arithmetic. What is computed from ranges
// holds every result of the same computation on members of theirs; it may hold more.
struct ValueRange {
  static constexpr int64_t kMinusInfinity = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kInfinity = std::numeric_limits<int64_t>::max();

  int64_t low = kMinusInfinity;
  int64_t high = kInfinity;

  static ValueRange of(int64_t value) { return {value, value}; }
  bool empty() const { return low > high; }
  bool is_single() const { return low == high; }
  bool contains(int64_t v) const { return low <= v && v <= high; }
  bool is_everything() const { return low == kMinusInfinity && high == kInfinity; }
  bool operator==(const ValueRange&) const = default;
};

ValueRange intersect(ValueRange a, ValueRange b);
ValueRange operator+(ValueRange a, ValueRange b);
ValueRange operator-(ValueRange a);
ValueRange operator*(ValueRange a, ValueRange b);
ValueRange range_min(ValueRange a, ValueRange b);
ValueRange range_max(ValueRange a, ValueRange b);
// Rounded to minus infinity; of the quotients that exist, for a divisor that may be 0.
ValueRange floor_div(ValueRange a, ValueRange b);
ValueRange floor_mod(ValueRange a, ValueRange b);
// "[2, inf]".
std::string to_string(ValueRange range);

}  // namespace sb::symbolic

#endif  // SWITCHBOARD_FAKE_SYMBOLIC_VALUE_RANGE_H_
