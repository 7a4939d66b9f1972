// Tags: facts about an operator that its schema does not say.

#ifndef SWITCHBOARD_DISPATCH_SCHEMA_TAG_H_
#define SWITCHBOARD_DISPATCH_SCHEMA_TAG_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace sb {

// As `torch.Tag`, and derived_through, which is ours: the operator has no derivative of its own,
// and autograd goes through its CompositeExplicitAutograd kernel, which is made of operators that
// have. Without it such a kernel is opaque: backward through a call is an error that names the
// operator.
#define SB_FORALL_TAGS(X)       \
  X(core)                       \
  X(data_dependent_output)      \
  X(derived_through)            \
  X(dynamic_output_shape)       \
  X(flexible_layout)            \
  X(generated)                  \
  X(inplace)                    \
  X(inplace_view)               \
  X(maybe_aliasing_or_mutating) \
  X(needs_contiguous_strides)   \
  X(needs_exact_strides)        \
  X(needs_fixed_stride_order)   \
  X(nondeterministic_bitwise)   \
  X(nondeterministic_seeded)    \
  X(out)                        \
  X(out_variant)                \
  X(pointwise)                  \
  X(pt2_compliant_tag)          \
  X(reduction)                  \
  X(view_copy)

enum class Tag : uint8_t {
#define SB_TAG(name) name,
  SB_FORALL_TAGS(SB_TAG)
#undef SB_TAG
};

std::string_view to_string(Tag tag);
// The tag of that name; nullopt where there is none.
std::optional<Tag> find_tag(std::string_view name);

// A set of tags.
class TagSet {
 public:
  constexpr TagSet() = default;
  constexpr TagSet(Tag tag) : bits_(bit(tag)) {}  // NOLINT: a tag is a set
  constexpr TagSet(std::initializer_list<Tag> tags) {
    for (Tag tag : tags) bits_ |= bit(tag);
  }
  constexpr bool has(Tag tag) const { return (bits_ & bit(tag)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr TagSet& operator|=(TagSet other) {
    bits_ |= other.bits_;
    return *this;
  }
  constexpr bool operator==(const TagSet&) const = default;

 private:
  static constexpr uint32_t bit(Tag tag) { return uint32_t{1} << static_cast<int>(tag); }
  uint32_t bits_ = 0;
};

// "{inplace_view, view_copy}".
std::string to_string(TagSet tags);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_SCHEMA_TAG_H_
