// An integer that may be a symbol. Where a schema says `SymInt`, C++ sees sb::SymInt.
//
// A plain integer is held as itself, so a span of plain SymInts is a span of int64_t. A symbolic
// one is a tagged pointer to a SymNode, which the fake room implements. Plain integers lie in
// [-2^62, 2^63).

#ifndef SWITCHBOARD_CORE_SYM_INT_H_
#define SWITCHBOARD_CORE_SYM_INT_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/types/span.h"
#include "switchboard/core/error.h"
#include "switchboard/core/intrusive_ptr.h"

namespace sb {

// A symbolic integer expression. Immutable; thread-safe to read.
class SymNode : public IntrusiveTarget {
 public:
  // The value, which decides it: records a guard. Throws where no value is known.
  virtual int64_t guard_int() const = 0;
  virtual std::string to_string() const = 0;
};

class SymInt {
 public:
  SymInt() = default;
  SymInt(int64_t value) : data_(value) {  // NOLINT: integers are symbolic integers
    SB_CHECK(!is_tagged(value), "integer out of range for SymInt: ", value);
  }
  SymInt(int value) : data_(value) {}  // NOLINT
  // Throws ValueError for a null node.
  explicit SymInt(IntrusivePtr<SymNode> node) {
    SB_CHECK_VALUE(node, "SymInt: expected a symbolic expression, got null");
    data_ = static_cast<int64_t>(kTag | (reinterpret_cast<uint64_t>(node.leak()) & kPointerBits));
  }

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
  int64_t guard_int() const { return is_symbolic() ? node()->guard_int() : data_; }
  // The value of a plain integer. Throws RuntimeError for a symbolic one, naming it.
  int64_t expect_int() const {
    if (is_symbolic()) [[unlikely]]
      throw_symbolic();
    return data_;
  }

 private:
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

#endif  // SWITCHBOARD_CORE_SYM_INT_H_
