#include "switchboard/ops/indexing/pad.h"

#include <algorithm>
#include <limits>

#include "switchboard/core/checked_math.h"
#include "switchboard/ops/copy.h"
#include "switchboard/ops/dims.h"
#include "switchboard/ops/factories.h"
#include "switchboard/ops/fill.h"
#include "switchboard/ops/memory_format.h"
#include "switchboard/ops/out_by_copy.h"
#include "switchboard/ops/views.h"

namespace sb {
namespace {

// Operators of the convolution networks' family, found by name when they are called: this family
// does without it.
SB_OP(reflection_pad1d, "aten::reflection_pad1d(Tensor self, int[2] padding) -> Tensor");
SB_OP(reflection_pad2d, "aten::reflection_pad2d(Tensor self, int[4] padding) -> Tensor");
SB_OP(reflection_pad3d, "aten::reflection_pad3d(Tensor self, int[6] padding) -> Tensor");
SB_OP(replication_pad1d, "aten::replication_pad1d(Tensor self, int[2] padding) -> Tensor");
SB_OP(replication_pad2d, "aten::replication_pad2d(Tensor self, int[4] padding) -> Tensor");
SB_OP(replication_pad3d, "aten::replication_pad3d(Tensor self, int[6] padding) -> Tensor");

enum Mode : int64_t { kReflect, kReplicate, kCircular, kConstant };

// RuntimeError where there is no such number.
int64_t negated(int64_t n) {
  SB_CHECK(n != std::numeric_limits<int64_t>::min(), "pad: ", n, " is out of range");
  return -n;
}

Tensor constant_pad_kernel(const Tensor& self, IntArrayRef pad, const Scalar& value) {
  check_defined("constant_pad_nd", self);
  SB_CHECK(pad.size() % 2 == 0 && pad.size() <= 2 * self.sizes().size(),
           "constant_pad_nd: pad: expected two numbers for each of the last dimensions of ",
           self.describe(), ", got ", shape_text(pad));
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  // What is taken away goes first.
  Tensor kept = self;
  bool only_smaller = true;
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t d = self.dim() - 1 - static_cast<int64_t>(i);
    const int64_t front = pad[2 * i], back = pad[2 * i + 1];
    only_smaller &= front <= 0 && back <= 0;
    int64_t& size = sizes[static_cast<size_t>(d)];
    size = checked_add(checked_add(size, front), back);
    if (front < 0) kept = narrow(kept, d, negated(front), checked_add(kept.size(d), front));
    if (back < 0) kept = narrow(kept, d, 0, checked_add(kept.size(d), back));
  }
  if (only_smaller) return clone(kept);
  for (size_t d = sizes.size() - pad.size() / 2; d < sizes.size(); ++d) {
    SB_CHECK(sizes[d] > 0, "constant_pad_nd: pad ", shape_text(pad),
             " leaves nothing of dimension ", d, " of ", self.describe());
  }
  const Tensor result = empty(sizes, self.dtype(), self.layout(), self.device(), std::nullopt,
                              suggest_memory_format(self));
  fill_(result, value);
  Tensor middle = result;
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t d = self.dim() - 1 - static_cast<int64_t>(i);
    middle = narrow(middle, d, std::max<int64_t>(pad[2 * i], 0), kept.size(d));
  }
  copy_(middle, kept);
  return result;
}

Tensor pad_circular_kernel(const Tensor& self, IntArrayRef pad) {
  check_defined("_pad_circular", self);
  const int64_t padded = self.dim() - 2;
  SB_CHECK(static_cast<int64_t>(pad.size()) == 2 * padded,
           "_pad_circular: pad: expected two numbers for each dimension of ", self.describe(),
           " but the first two, got ", shape_text(pad));
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  const auto front = [&](int64_t d) { return pad[static_cast<size_t>(2 * (self.dim() - 1 - d))]; };
  const auto back = [&](int64_t d) {
    return pad[static_cast<size_t>(2 * (self.dim() - 1 - d) + 1)];
  };
  for (int64_t d = 2; d < self.dim(); ++d) {
    const int64_t size = self.size(d);
    SB_CHECK(front(d) <= size && back(d) <= size, "_pad_circular: pad ", shape_text(pad),
             " goes more than once around dimension ", d, " of ", self.describe());
    const int64_t padded_size = checked_add(checked_add(size, front(d)), back(d));
    SB_CHECK(padded_size >= 0, "_pad_circular: pad ", shape_text(pad),
             " leaves nothing of dimension ", d, " of ", self.describe());
    sizes[static_cast<size_t>(d)] = padded_size;
  }
  const Tensor result = new_empty(self, sizes);
  const auto positive = [](int64_t n) { return std::max<int64_t>(n, 0); };
  Tensor to = result, from = self;
  for (int64_t d = 2; d < self.dim(); ++d) {
    to = slice(to, d, positive(front(d)), result.size(d) - positive(back(d)));
    from = slice(from, d, positive(negated(front(d))), self.size(d) - positive(negated(back(d))));
  }
  copy_(to, from);
  // Each dimension takes its edges from what the dimensions before it have made.
  for (int64_t d = 2; d < self.dim(); ++d) {
    const int64_t size = result.size(d), begin = positive(front(d)), end = size - positive(back(d));
    if (front(d) > 0) copy_(slice(result, d, 0, begin), slice(result, d, end - begin, end));
    if (back(d) > 0) copy_(slice(result, d, end, size), slice(result, d, begin, begin + back(d)));
  }
  return result;
}

Tensor pad_enum_kernel(const Tensor& self, IntArrayRef pad, int64_t mode,
                       std::optional<double> value) {
  check_defined("pad", self);
  SB_CHECK(pad.size() % 2 == 0 && pad.size() <= 2 * self.sizes().size(),
           "pad: pad: expected two numbers for each of the last dimensions of ", self.describe(),
           ", got ", shape_text(pad));
  if (mode == kConstant) return constant_pad_nd(self, pad, value.value_or(0));
  SB_CHECK(!value || *value == 0, "pad: value: only for mode constant");
  const size_t n = pad.size() / 2, rank = self.sizes().size();
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

Tensor pad_kernel(const Tensor& self, IntArrayRef pad, std::string_view mode,
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
  m.define(constant_pad_nd);
  m.impl(constant_pad_nd, DispatchKey::CompositeExplicitAutograd, constant_pad_kernel);
  define_out_by_copy<constant_pad_nd>(m);
  m.define(_pad_circular);
  m.impl(_pad_circular, DispatchKey::CompositeImplicitAutograd, pad_circular_kernel);
  m.define(_pad_enum);
  m.impl(_pad_enum, DispatchKey::CompositeImplicitAutograd, pad_enum_kernel);
  m.define(pad);
  m.impl(pad, DispatchKey::CompositeImplicitAutograd, pad_kernel);
}

}  // namespace sb
