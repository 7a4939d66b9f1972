// Operators whose result, or its shape, depends on the data: symbols stand for it in a mode with a
// ShapeEnv, and without one they are refused.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "switchboard/core/error.h"
#include "switchboard/core/symbols/symbolic_number.h"
#include "switchboard/fake/fake_mode.h"
#include "switchboard/fake/fake_rule.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb::internal {
namespace {

// The environment to make the size of a result in. Throws where the mode may not.
ShapeEnv& env_for_sizes(const FakeCall& call) {
  ShapeEnv* const env = call.shape_env();
  SB_CHECK_KIND(DynamicOutputShapeError, env && env->settings().allow_dynamic_output_shape_ops,
                call.name(),
                ": the result's shape depends on the data, which fake tensors do not "
                "have; a mode with a ShapeEnv gives it a symbolic size");
  return *env;
}

// A size from 0 to `most`; exactly 0 if that is.
SymInt new_size(ShapeEnv& env, const SymInt& most) {
  const std::optional<int64_t> known = most.maybe_int();
  if (known == 0) return 0;
  const SymInt size = env.create_unbacked_symint();
  constrain_range_for_size(size, 0, known ? *known : std::numeric_limits<int64_t>::max() - 1);
  return size;
}

bool item_rule(FakeCall& call) {
  const Tensor self = call.tensor(0);
  if (const Scalar* const symbol = symbolic_number_of(self)) {
    call.give({IValue(*symbol)});
    return true;
  }
  if (const FakeExtras* const extras = find_extras(self)) {
    const IValue known = extras->item.get(self, call.epoch());
    if (!known.is_None()) {
      call.give({known});
      return true;
    }
  }
  ShapeEnv* const env = call.shape_env();
  SB_CHECK_KIND(DataDependentOutputError, env && env->settings().allow_scalar_outputs, call.name(),
                ": the result depends on the data, which fake tensors do not have; a mode with a "
                "ShapeEnv gives a symbol for it");
  SB_CHECK_NOT_IMPLEMENTED(!is_complex(self.dtype()), call.name(), ": no symbol can stand for ",
                           to_string(self.dtype()));
  const IValue symbol = self.dtype() == DType::Bool ? IValue(env->create_unbacked_symbool())
                        : is_integral(self.dtype()) ? IValue(env->create_unbacked_symint())
                                                    : IValue(env->create_unbacked_symfloat());
  if (!self.impl()->is_inference()) extras_of(self).item.set(self, call.epoch(), symbol);
  call.give({symbol});
  return true;
}

// The memo of a tensor, or a new size that it then keeps.
SymInt remembered_size(const FakeCall& call, const Tensor& self, UnbackedMemo FakeExtras::*memo) {
  FakeExtras& extras = extras_of(self);
  if (const IValue known = (extras.*memo).get(self, call.epoch()); !known.is_None()) {
    return known.to_sym_int();
  }
  const SymInt size = new_size(env_for_sizes(call), self.sym_numel());
  if (!self.impl()->is_inference()) (extras.*memo).set(self, call.epoch(), IValue(size));
  return size;
}

bool nonzero_rule(FakeCall& call) {
  const Tensor self = call.tensor(0);
  env_for_sizes(call);
  const SymInt found = remembered_size(call, self, &FakeExtras::nonzero);
  // A column for each dimension, as the CPU's kernel makes them.
  const SymInt dims = self.dim();
  const Tensor columns = call.empty({dims, found}, DType::Int64, self.device());
  call.give({call.view(columns, {found, dims}, {SymInt(1), found})});
  return true;
}

bool masked_select_rule(FakeCall& call) {
  const Tensor self = call.tensor(0);
  ShapeEnv& env = env_for_sizes(call);
  const Tensor mask = call.tensor(1);
  SB_CHECK(mask.dtype() == DType::Bool || mask.dtype() == DType::UInt8, call.name(),
           ": mask: expected bool or uint8, got ", mask.describe());
  const SymDimVector both = broadcast_sizes<SymInt>(
      self.sym_sizes(), mask.sym_sizes(), [&](const SymBool& agree, size_t) {
        SB_CHECK(agree, call.name(), ": mask: expected a shape that broadcasts with self, ",
                 self.describe(), ", got ", mask.describe());
      });
  const SymInt most = sym_product(both);
  call.give({call.empty({new_size(env, most)}, self.dtype(), self.device())});
  return true;
}

// Of these sizes, with one slice of `dim` behind the other in memory, as kernels make them.
Tensor empty_by_slices(FakeCall& call, const Tensor& self, const SymDimVector& sizes, size_t dim) {
  SymDimVector by_slices = sizes;
  std::rotate(by_slices.begin(), by_slices.begin() + static_cast<ptrdiff_t>(dim),
              by_slices.begin() + static_cast<ptrdiff_t>(dim) + 1);
  const Tensor slices = call.empty(by_slices, self.dtype(), self.device());
  SymDimVector strides(slices.sym_strides().begin(), slices.sym_strides().end());
  std::rotate(strides.begin(), strides.begin() + 1,
              strides.begin() + static_cast<ptrdiff_t>(dim) + 1);
  return call.view(slices, sizes, strides);
}

// The unique elements, or slices of `dim`, with the inverse and the counts. As `_unique`.
void give_unique(FakeCall& call, const Tensor& self, std::optional<int64_t> dim, bool inverse,
                 bool counts, bool with_counts = true) {
  env_for_sizes(call);
  SymDimVector sizes(self.sym_sizes().begin(), self.sym_sizes().end());
  SymDimVector inverse_sizes = sizes;
  SymInt found;
  if (dim) {
    SymInt& along = sizes[static_cast<size_t>(*dim)];
    inverse_sizes = {along};
    found = along = new_size(env_for_sizes(call), along);
  } else {
    found = remembered_size(call, self, &FakeExtras::unique);
    sizes = {found};
  }
  const auto longs = [&](bool wanted, const SymDimVector& of) {
    return call.empty(wanted ? SymIntArrayRef(of) : SymIntArrayRef({0}), DType::Int64,
                      self.device());
  };
  const SymDimVector found_size = {found};
  // With a dim, the kernel of the CPU makes both whether they are wanted or not.
  const bool both = dim && self.device().is_cpu();
  const Tensor values = dim ? empty_by_slices(call, self, sizes, static_cast<size_t>(*dim))
                            : call.empty(sizes, self.dtype(), self.device());
  const Tensor of_each = longs(inverse || both, inverse_sizes);
  if (!with_counts) return call.give({values, of_each});
  call.give({values, of_each, longs(counts || both, found_size)});
}

bool unique_rule(FakeCall& call) {
  give_unique(call, call.tensor(0), std::nullopt, call.argument("return_inverse").to_bool(),
              /*counts=*/false, /*with_counts=*/false);
  return true;
}

bool unique2_rule(FakeCall& call) {
  give_unique(call, call.tensor(0), std::nullopt, call.argument("return_inverse").to_bool(),
              call.argument("return_counts").to_bool());
  return true;
}

int64_t checked_dim(const FakeCall& call, const Tensor& self, int64_t dim) {
  const int64_t rank = self.dim();
  SB_CHECK_INDEX(rank != 0, call.name(), ": self: expected a dimension or more, got ",
                 self.describe());
  SB_CHECK_INDEX(dim >= -rank && dim < rank, call.name(), ": dim: expected one in [", -rank, ", ",
                 rank - 1, "] for ", self.describe(), ", got ", dim);
  return dim < 0 ? dim + rank : dim;
}

bool unique_dim_rule(FakeCall& call) {
  const Tensor self = call.tensor(0);
  give_unique(call, self, checked_dim(call, self, call.argument("dim").to_int()),
              call.argument("return_inverse").to_bool(), call.argument("return_counts").to_bool());
  return true;
}

// Runs of equal elements, or slices, which are one or more where there are any.
bool unique_consecutive_rule(FakeCall& call) {
  const Tensor self = call.tensor(0);
  const IValue dim = call.argument("dim");
  const bool inverse = call.argument("return_inverse").to_bool();
  const bool counts = call.argument("return_counts").to_bool();
  const bool flat = dim.is_None() || (dim.to_int() == 0 && self.dim() == 1);
  if (!flat) {
    give_unique(call, self, checked_dim(call, self, dim.to_int()), inverse, counts);
    return true;
  }
  ShapeEnv& env = env_for_sizes(call);
  const SymInt found = new_size(env, self.sym_numel());
  const auto longs = [&](bool wanted, SymIntArrayRef sizes) {
    return call.empty(wanted ? sizes : SymIntArrayRef({0}), DType::Int64, self.device());
  };
  const SymDimVector sizes(self.sym_sizes().begin(), self.sym_sizes().end());
  call.give({call.empty({found}, self.dtype(), self.device()), longs(inverse, sizes),
             longs(counts, {found})});
  return true;
}

// As many counts as the greatest element tells, and `minlength` at least.
bool bincount_rule(FakeCall& call) {
  const Tensor self = call.tensor(0);
  const IValue weights = call.argument("weights");
  const SymInt minlength = call.argument("minlength").to_sym_int();
  ShapeEnv& env = env_for_sizes(call);
  SB_CHECK(is_integral(self.dtype()) && self.dim() == 1, call.name(),
           ": self: expected integers in one dimension, got ", self.describe());
  SB_CHECK(minlength >= 0, call.name(), ": minlength: expected 0 or more, got ",
           minlength.to_string());
  // Of no elements the kernel looks at no weights.
  const bool weighted = weights.is_Tensor() && weights.to_tensor().defined() &&
                        !asked_or_false(self.sym_size(0) == 0);
  SB_CHECK(!weighted || (weights.to_tensor().dim() == 1 &&
                         bool(weights.to_tensor().sym_size(0) == self.sym_size(0))),
           call.name(), ": weights: expected the shape of ", self.describe(), ", got ",
           weights.to_string());
  const SymInt size = env.create_unbacked_symint();
  constrain_range_for_size(size, minlength.maybe_int().value_or(0));
  if (!minlength.maybe_int()) check(size >= minlength, "minlength");
  const DType dtype = !weighted                                       ? DType::Int64
                      : weights.to_tensor().dtype() == DType::Float32 ? DType::Float32
                                                                      : DType::Float64;
  call.give({call.empty({size}, dtype, self.device())});
  return true;
}

bool repeat_interleave_rule(FakeCall& call) {
  const Tensor repeats = call.tensor(0);
  const IValue given = call.argument("output_size");
  SymInt size;
  if (given.is_None()) {
    size = env_for_sizes(call).create_unbacked_symint();
    constrain_range_for_size(size);
  } else {
    size = given.to_sym_int();
  }
  call.give({call.empty({size}, repeats.dtype(), repeats.device())});
  return true;
}

bool pack_padded_sequence_rule(FakeCall& call) {
  const Tensor input = call.tensor("input");
  const Tensor lengths = call.tensor("lengths");
  ShapeEnv& env = env_for_sizes(call);
  SB_CHECK(input.dim() >= 2, call.name(), ": input: expected 2 dimensions or more, got ",
           input.describe());
  const SymInt steps = env.create_unbacked_symint();
  constrain_range_for_size(steps);
  // One row for each element of each sequence, which the lengths say.
  const SymInt rows = env.create_unbacked_symint();
  constrain_range_for_size(rows);
  SymDimVector sizes(input.sym_sizes().begin() + 1, input.sym_sizes().end());
  sizes[0] = rows;
  const Tensor data = call.empty(sizes, input.dtype(), input.device());
  call.give({data, call.empty({steps}, DType::Int64, lengths.device())});
  return true;
}

bool refuse_dynamic_shape(FakeCall& call) {
  SB_THROW(DynamicOutputShapeError, call.name(),
           ": the result's shape depends on the data, which fake tensors do not have");
}
bool refuse_data_dependent(FakeCall& call) {
  SB_THROW(DataDependentOutputError, call.name(),
           ": the result depends on the data, which fake tensors do not have");
}

[[maybe_unused]] const bool data_dependent_registered = [] {
  register_fake_rule("aten::_local_scalar_dense", item_rule).release();
  register_fake_rule("aten::nonzero", nonzero_rule).release();
  register_fake_rule("aten::masked_select", masked_select_rule).release();
  register_fake_rule("aten::_unique", unique_rule).release();
  register_fake_rule("aten::_unique2", unique2_rule).release();
  register_fake_rule({"aten::unique_dim", "aten::unique_dim_consecutive"}, unique_dim_rule)
      .release();
  register_fake_rule("aten::unique_consecutive", unique_consecutive_rule).release();
  register_fake_rule("aten::bincount", bincount_rule).release();
  register_fake_rule("aten::repeat_interleave.Tensor", repeat_interleave_rule).release();
  register_fake_rule("aten::_pack_padded_sequence", pack_padded_sequence_rule).release();
  // All others that say so, last.
  register_fake_rule(
      [](const OperatorHandle& op) { return op.entry().has_tag(Tag::dynamic_output_shape); },
      refuse_dynamic_shape)
      .release();
  register_fake_rule(
      [](const OperatorHandle& op) { return op.entry().has_tag(Tag::data_dependent_output); },
      refuse_data_dependent)
      .release();
  return true;
}();

}  // namespace
}  // namespace sb::internal
