// An integer that may be a symbol. Where a schema says `SymInt`, C++ sees sb::SymInt.
//
// A plain integer is held as itself, so a span of plain SymInts is a span of int64_t. A symbolic
// one is a tagged pointer to a SymNode, which the fake room implements. Plain integers lie in
// [-2^62, 2^63).

#ifndef SWITCHBOARD_CORE_SYMBOLS_SYM_INT_H_
#define SWITCHBOARD_CORE_SYMBOLS_SYM_INT_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/types/span.h"
#include "switchboard/core/error.h"
#include "switchboard/core/intrusive_ptr.h"
#include "switchboard/core/symbols/sym_bool.h"
#include "switchboard/core/symbols/sym_node.h"

namespace sb {

// As `torch.SymInt`. Arithmetic on plain ones costs a test and what int64 costs; what does not fit
// a SymInt, and division by a plain zero, throw RuntimeError. Comparing gives a SymBool.
class SymInt {
 public:
  SymInt() = default;
  SymInt(int64_t value) : data_(value) {  // NOLINT: integers are symbolic integers
    SB_CHECK(!is_tagged(value), "integer out of range for SymInt: ", value);
  }
  SymInt(int value) : data_(value) {}  // NOLINT
  // Throws ValueError for a null node, or one that is no integer.
  explicit SymInt(IntrusivePtr<const SymNode> node) {
    SB_CHECK_VALUE(node, "SymInt: expected a symbolic expression, got null");
    SB_CHECK_VALUE(node->kind() == SymKind::Int, "SymInt: expected an integer expression, got ",
                   sb::to_string(node->kind()), " ", node->to_string());
    data_ = static_cast<int64_t>(kTag | (reinterpret_cast<uint64_t>(node.leak()) & kPointerBits));
  }
  // A number or a node of kind Int.
  explicit SymInt(const SymValue& value)
      : SymInt(value.is_symbolic() ? SymInt(value.node_ptr()) : SymInt(value.as_int())) {}

  SymInt(const SymInt& other) noexcept : data_(other.data_) {
    if (is_symbolic()) node()->retain();
  }
  SymInt(SymInt&& other) noexcept : data_(std::exchange(other.data_, 0)) {}
  SymInt& operator=(SymInt other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~SymInt() {
    if (is_symbolic()) node()->release();
  }

  bool is_symbolic() const { return is_tagged(data_); }
  // The symbolic expression; nullptr for a plain integer.
  const SymNode* node() const {
    return is_symbolic()
               ? reinterpret_cast<const SymNode*>(static_cast<uint64_t>(data_) & kPointerBits)
               : nullptr;
  }

  // The value of a plain integer, or of a symbolic one after recording a guard.
  int64_t guard_int(SourceLocation where = SourceLocation::current()) const {
    return is_symbolic() ? node()->guard_int(where) : data_;
  }
  // The value of a plain integer. Throws RuntimeError for a symbolic one, naming it.
  int64_t expect_int() const {
    if (is_symbolic()) [[unlikely]]
      throw_symbolic();
    return data_;
  }
  // The number, where the integer is plain or its expression has become a number meanwhile (a guard
  // said s0 == 4). Records nothing. As `SymInt::maybe_as_int`.
  std::optional<int64_t> maybe_int() const {
    return is_symbolic() ? known_int() : std::optional<int64_t>(data_);
  }
  SymValue value() const {
    return is_symbolic() ? SymValue(IntrusivePtr<const SymNode>::share(node()))
                         : SymValue::of_int(data_);
  }
  std::string to_string() const { return is_symbolic() ? node()->to_string() : str_cat(data_); }

  friend SymInt operator+(const SymInt& a, const SymInt& b) {
    int64_t r;
    if (both_plain(a, b) && !__builtin_add_overflow(a.data_, b.data_, &r) && !is_tagged(r))
      return SymInt(r, Fits());
    return slow(SymOp::Add, a, b);
  }
  friend SymInt operator-(const SymInt& a, const SymInt& b) {
    int64_t r;
    if (both_plain(a, b) && !__builtin_sub_overflow(a.data_, b.data_, &r) && !is_tagged(r))
      return SymInt(r, Fits());
    return slow(SymOp::Sub, a, b);
  }
  friend SymInt operator*(const SymInt& a, const SymInt& b) {
    int64_t r;
    if (both_plain(a, b) && !__builtin_mul_overflow(a.data_, b.data_, &r) && !is_tagged(r))
      return SymInt(r, Fits());
    return slow(SymOp::Mul, a, b);
  }
  // Rounds as int64 does, which is exact where both are at least 0, as sizes are. A symbolic one
  // rounds to minus infinity: use sym_floor_div where a side may be negative.
  friend SymInt operator/(const SymInt& a, const SymInt& b) {
    if (both_plain(a, b) && a.data_ >= 0 && b.data_ > 0) return SymInt(a.data_ / b.data_, Fits());
    return divide(a, b);
  }
  // The remainder; the same holds.
  friend SymInt operator%(const SymInt& a, const SymInt& b) {
    if (both_plain(a, b) && a.data_ >= 0 && b.data_ > 0) return SymInt(a.data_ % b.data_, Fits());
    return remainder(a, b);
  }
  friend SymInt operator-(const SymInt& a) { return SymInt(int64_t{0}) - a; }
  SymInt& operator+=(const SymInt& other) { return *this = *this + other; }
  SymInt& operator-=(const SymInt& other) { return *this = *this - other; }
  SymInt& operator*=(const SymInt& other) { return *this = *this * other; }
  SymInt& operator/=(const SymInt& other) { return *this = *this / other; }

#define SB_SYM_INT_COMPARISON(op, name)                          \
  friend SymBool operator op(const SymInt& a, const SymInt& b) { \
    if (both_plain(a, b)) [[likely]]                             \
      return a.data_ op b.data_;                                 \
    return compare(SymOp::name, a, b);                           \
  }
  SB_SYM_INT_COMPARISON(==, Eq)
  SB_SYM_INT_COMPARISON(!=, Ne)
  SB_SYM_INT_COMPARISON(<, Lt)
  SB_SYM_INT_COMPARISON(<=, Le)
  SB_SYM_INT_COMPARISON(>, Gt)
  SB_SYM_INT_COMPARISON(>=, Ge)
#undef SB_SYM_INT_COMPARISON

 private:
  struct Fits {};
  SymInt(int64_t value, Fits) : data_(value) {}
  static bool both_plain(const SymInt& a, const SymInt& b) {
    return !a.is_symbolic() && !b.is_symbolic();
  }
  // Symbolic operands, and plain ones that the fast ways above refuse.
  [[gnu::noinline]] static SymInt slow(SymOp op, const SymInt& a, const SymInt& b);
  [[gnu::noinline]] static SymInt divide(const SymInt& a, const SymInt& b);
  [[gnu::noinline]] static SymInt remainder(const SymInt& a, const SymInt& b);
  [[gnu::noinline]] static SymBool compare(SymOp op, const SymInt& a, const SymInt& b);
  std::optional<int64_t> known_int() const;

  // Apart, so that the kernels that call expect_int() need no stack for the message.
  [[noreturn, gnu::cold, gnu::noinline]] void throw_symbolic() const {
    SB_THROW(RuntimeError, "expected a plain integer, got symbolic ", node()->to_string());
  }
  // Tagged values have the two highest bits 10: integers below -2^62, which no size can be.
  static constexpr uint64_t kTag = uint64_t{1} << 63;
  static constexpr uint64_t kPointerBits = (uint64_t{1} << 62) - 1;
  static constexpr bool is_tagged(int64_t v) { return v < -(int64_t{1} << 62); }

  int64_t data_ = 0;
};
static_assert(sizeof(SymInt) == sizeof(int64_t));

// Round to minus infinity, as Python's // and %. Throw RuntimeError for a plain b of 0.
SymInt sym_floor_div(const SymInt& a, const SymInt& b);
SymInt sym_mod(const SymInt& a, const SymInt& b);
SymInt sym_min(const SymInt& a, const SymInt& b);
SymInt sym_max(const SymInt& a, const SymInt& b);
// 1 or 0.
SymInt sym_int(const SymBool& a);
// As `torch.sym_sum`, in one step however many there are.
SymInt sym_sum(absl::Span<const SymInt> values);
SymInt sym_product(absl::Span<const SymInt> values);

inline int64_t guard_int(const SymInt& a, SourceLocation where = SourceLocation::current()) {
  return a.guard_int(where);
}
inline int64_t expect_int(const SymInt& a) { return a.expect_int(); }
// Returns whether the sizes at hand give a number; not so for one that comes from data.
inline bool has_hint(const SymInt& a) { return !a.is_symbolic() || a.node()->hint(); }
// Returns that number. Records nothing, so decide by it only what is right for all sizes.
std::optional<int64_t> hint(const SymInt& a);
// The same where the sizes at hand do not give one: some number to go on with (SymNode::stand_in).
inline int64_t stand_in(const SymInt& a) {
  return a.is_symbolic() ? a.node()->stand_in() : a.expect_int();
}

// The same for plain integers, so that one text of a rule (template <class Int>) serves both.
// Throw RuntimeError on overflow.
int64_t sym_floor_div(std::same_as<int64_t> auto a, std::same_as<int64_t> auto b) {
  return sym_floor_div(SymInt(a), SymInt(b)).expect_int();
}
int64_t sym_mod(std::same_as<int64_t> auto a, std::same_as<int64_t> auto b) {
  return sym_mod(SymInt(a), SymInt(b)).expect_int();
}
inline int64_t sym_min(std::same_as<int64_t> auto a, std::same_as<int64_t> auto b) {
  return a < b ? a : b;
}
inline int64_t sym_max(std::same_as<int64_t> auto a, std::same_as<int64_t> auto b) {
  return a < b ? b : a;
}
int64_t sym_sum(absl::Span<const int64_t> values);
int64_t sym_product(absl::Span<const int64_t> values);
inline int64_t guard_int(std::same_as<int64_t> auto a) { return a; }
inline int64_t expect_int(std::same_as<int64_t> auto a) { return a; }
inline bool has_hint(std::same_as<int64_t> auto) { return true; }
inline std::optional<int64_t> hint(std::same_as<int64_t> auto a) { return a; }

using IntArrayRef = absl::Span<const int64_t>;

// A span of SymInts that plain integers convert to without copying. Does not own its elements.
class SymIntArrayRef : public absl::Span<const SymInt> {
 public:
  using Base = absl::Span<const SymInt>;
  using Base::Base;
  SymIntArrayRef(Base base) : Base(base) {}  // NOLINT
  // Throws RuntimeError where an element is below -2^62: no size, stride or dim is.
  SymIntArrayRef(IntArrayRef ints)  // NOLINT
      : Base(reinterpret_cast<const SymInt*>(ints.data()), ints.size()) {
    for (int64_t i : ints) SB_CHECK(i >= -(int64_t{1} << 62), "integer out of range: ", i);
  }
  template <class Container>
  requires std::is_convertible_v<const Container&, IntArrayRef> SymIntArrayRef(
      const Container& ints)
      : SymIntArrayRef(IntArrayRef(ints)) {}  // NOLINT
  SymIntArrayRef(std::initializer_list<SymInt> list) : Base(list.begin(), list.size()) {}

  // The same elements as plain integers. Throws RuntimeError where one is symbolic.
  IntArrayRef expect_ints() const {
    for (const SymInt& s : *this) s.expect_int();
    return IntArrayRef(reinterpret_cast<const int64_t*>(data()), size());
  }
};

}  // namespace sb

#endif  // SWITCHBOARD_CORE_SYMBOLS_SYM_INT_H_
