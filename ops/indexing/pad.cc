#include "switchboard/ops/indexing/pad.h"

#include <algorithm>

#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

// Operators of the convolution networks' family, found by name when they are called: this family
// does without it.
SB_OP(reflection_pad1d, "aten::reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor");
SB_OP(reflection_pad2d, "aten::reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor");
SB_OP(reflection_pad3d, "aten::reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor");
SB_OP(replication_pad1d, "aten::replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor");
SB_OP(replication_pad2d, "aten::replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor");
SB_OP(replication_pad3d, "aten::replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor");

enum Mode : int64_t { kReflect, kReplicate, kCircular, kConstant };

// What is added in front of dimension d of n, and behind it.
struct Pads {
  SymInt front, back;
};
Pads pads_of(SymIntArrayRef pad, int64_t n, int64_t d) {
  const size_t i = static_cast<size_t>(2 * (n - 1 - d));
  return {pad[i], pad[i + 1]};
}
// Whether a pad takes something away, or surely adds nothing; one that data decides is taken not
// to, and checked.
bool takes_away(const SymInt& n) {
  if (n.is_symbolic() && known(n <= 0)) return true;
  const SymBool negative = n < 0;
  if (const std::optional<bool> sure = statically_known(negative)) return *sure;
  if (has_hint(negative)) return guard_bool(negative);
  SB_CHECK(n >= 0, "pad: ", n.to_string(), ": expected a number that is not negative");
  return false;
}
// Whether it takes away or does nothing; where the tensor is contiguous nothing depends on whether
// one that is not known does.
bool keeps_or_takes_away(const SymInt& n, bool is_contiguous) {
  return takes_away(n) || known(n == 0) || (!is_contiguous && guard_size_oblivious(n == 0));
}
SymInt positive(const SymInt& n) { return takes_away(n) ? SymInt(0) : n; }

Tensor constant_pad_kernel(const Tensor& self, SymIntArrayRef pad, const Scalar& value) {
  check_defined("constant_pad_nd", self);
  const int64_t rank = self.dim();
  SB_CHECK(pad.size() % 2 == 0 && pad.size() <= 2 * static_cast<size_t>(rank),
           "constant_pad_nd: pad: expected two numbers for each of the last dimensions of ",
           self.describe(), ", got ", shape_text(pad));
  const int64_t first = rank - static_cast<int64_t>(pad.size() / 2);
  SymDimVector sizes = size_vector<SymInt>(self);
  const bool is_plain = self.is_contiguous();
  // What is taken away goes first.
  Tensor kept = self;
  bool only_smaller = true;
  for (int64_t d = rank; d-- > first;) {
    const auto [front, back] = pads_of(pad, rank, d);
    only_smaller &= keeps_or_takes_away(front, is_plain) && keeps_or_takes_away(back, is_plain);
    sizes[static_cast<size_t>(d)] += front + back;
    if (takes_away(front)) kept = narrow(kept, d, -front, kept.sym_size(d) + front);
    if (takes_away(back)) kept = narrow(kept, d, 0, kept.sym_size(d) + back);
  }
  // Of symbols it is not asked whether what is kept is contiguous, too: the copy is.
  const bool copies_plain = is_plain && kept.is_symbolic();
  if (only_smaller)
    return clone(kept, copies_plain ? MemoryFormat::Contiguous : MemoryFormat::Preserve);
  for (int64_t d = first; d < rank; ++d) {
    SB_CHECK(sizes[static_cast<size_t>(d)] > 0, "constant_pad_nd: pad ", shape_text(pad),
             " leaves nothing of dimension ", d, " of ", self.describe());
  }
  const Tensor result = empty(SymIntArrayRef(sizes), self.dtype(), self.layout(), self.device(),
                              std::nullopt, suggest_memory_format(self));
  fill_(result, value);
  Tensor middle = result;
  for (int64_t d = rank; d-- > first;)
    middle = narrow(middle, d, positive(pads_of(pad, rank, d).front), kept.sym_size(d));
  copy_(middle, kept);
  return result;
}

Tensor pad_circular_kernel(const Tensor& self, SymIntArrayRef pad) {
  check_defined("_pad_circular", self);
  const int64_t rank = self.dim();
  SB_CHECK(static_cast<int64_t>(pad.size()) == 2 * (rank - 2),
           "_pad_circular: pad: expected two numbers for each dimension of ", self.describe(),
           " but the first two, got ", shape_text(pad));
  SymDimVector sizes = size_vector<SymInt>(self);
  for (int64_t d = 2; d < rank; ++d) {
    SymInt& size = sizes[static_cast<size_t>(d)];
    const auto [front, back] = pads_of(pad, rank, d);
    SB_CHECK(sym_and(front <= size, back <= size), "_pad_circular: pad ", shape_text(pad),
             " goes more than once around dimension ", d, " of ", self.describe());
    size += front + back;
    SB_CHECK(size >= 0, "_pad_circular: pad ", shape_text(pad), " leaves nothing of dimension ", d,
             " of ", self.describe());
  }
  const Tensor result = new_empty(self, SymIntArrayRef(sizes));
  Tensor to = result, from = self;
  for (int64_t d = 2; d < rank; ++d) {
    const auto [front, back] = pads_of(pad, rank, d);
    to = slice(to, d, positive(front), result.sym_size(d) - positive(back));
    from = slice(from, d, positive(-front), self.sym_size(d) - positive(-back));
  }
  copy_(to, from);
  // Each dimension takes its edges from what the dimensions before it have made.
  for (int64_t d = 2; d < rank; ++d) {
    const auto [front, back] = pads_of(pad, rank, d);
    const SymInt size = result.sym_size(d), begin = positive(front), end = size - positive(back);
    if (front > 0) copy_(slice(result, d, 0, begin), slice(result, d, end - begin, end));
    if (back > 0) copy_(slice(result, d, end, size), slice(result, d, begin, begin + back));
  }
  return result;
}

Tensor pad_enum_kernel(const Tensor& self, SymIntArrayRef pad, int64_t mode,
                       std::optional<double> value) {
  check_defined("pad", self);
  SB_CHECK(pad.size() % 2 == 0 && pad.size() <= 2 * static_cast<size_t>(self.dim()),
           "pad: pad: expected two numbers for each of the last dimensions of ", self.describe(),
           ", got ", shape_text(pad));
  if (mode == kConstant) return constant_pad_nd(self, pad, value.value_or(0));
  SB_CHECK(!value || *value == 0, "pad: value: only for mode constant");
  const size_t n = pad.size() / 2, rank = static_cast<size_t>(self.dim());
  if (n >= 1 && n <= 3 && (rank == n + 1 || rank == n + 2)) {
    switch (mode) {
      case kReflect:
        return n == 1   ? reflection_pad1d(self, pad)
               : n == 2 ? reflection_pad2d(self, pad)
                        : reflection_pad3d(self, pad);
      case kReplicate:
        return n == 1   ? replication_pad1d(self, pad)
               : n == 2 ? replication_pad2d(self, pad)
                        : replication_pad3d(self, pad);
      case kCircular:
        return _pad_circular(self, pad);
      default:
        break;
    }
  }
  SB_THROW(NotImplementedError, "pad: mode ", mode, " is not implemented for ", pad.size() / 2,
           " dimensions of ", self.describe());
}

Tensor pad_kernel(const Tensor& self, SymIntArrayRef pad, std::string_view mode,
                  std::optional<double> value) {
  constexpr std::string_view kModes[] = {"reflect", "replicate", "circular", "constant"};
  const auto found = std::ranges::find(kModes, mode);
  SB_CHECK_NOT_IMPLEMENTED(found != std::end(kModes),
                           "pad: mode: expected constant, reflect, replicate or circular, got ",
                           mode);
  return _pad_enum(self, pad, found - std::begin(kModes), value);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, constant_pad_nd).composite_explicit(constant_pad_kernel).out(constant_pad_nd_out);
  define(m, _pad_circular).composed(pad_circular_kernel);
  define(m, _pad_enum).composed(pad_enum_kernel);
  define(m, pad).composed(pad_kernel);
}

}  // namespace sb
