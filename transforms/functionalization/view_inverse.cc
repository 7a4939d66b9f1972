#include "switchboard/transforms/functionalization/view_inverse.h"

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "switchboard/core/error.h"
#include "switchboard/core/symbols/known.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/indexing/diagonal.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/scatter_views.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

std::optional<SymInt> optional_index(const IValue& value) {
  if (value.is_None()) return std::nullopt;
  return value.to_sym_int();
}

// The same view of any tensor of as many elements.
Tensor all_of(const ViewStep&, const Tensor&, const Tensor& view) { return view; }

// The elements of `view` in the shape of `base`: of views that keep every element, in order.
Tensor in_shape_of_base(const ViewStep&, const Tensor& base, const Tensor& view) {
  if (are_same(view.sym_sizes(), base.sym_sizes())) return view;
  // Not by reshape(), a composite, which nothing below functionalisation is to see.
  const bool fits = any_symbolic(view) || any_symbolic(base)
                        ? view.is_contiguous()
                        : view_strides(view.sizes(), view.strides(), base.sizes()).has_value();
  return sb::view(fits ? view : clone(view, MemoryFormat::Contiguous), base.sym_sizes());
}

Tensor permuted_back(const ViewStep& step, const Tensor&, const Tensor& view) {
  const IntArrayRef dims = step.arguments[1].to_int_list();
  DimVector inverse(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    inverse[static_cast<size_t>(wrap_dim("permute", dims[i], view.dim()))] =
        static_cast<int64_t>(i);
  }
  return permute(view, inverse);
}

// One of the parts along a dimension, written back.
Tensor part_written_back(const ViewStep& step, const Tensor& base, const Tensor& view) {
  const int64_t dim = step.arguments[2].to_int();
  std::vector<IValue> arguments = step.arguments;
  arguments[step.viewed] = base;
  step.op.call_boxed(&arguments);
  const std::vector<Tensor> parts = flatten_tensors(arguments);
  SymInt start = 0;
  for (size_t i = 0; i < step.output; ++i) start += parts[i].sym_size(dim);
  return slice_scatter(base, view, dim, start, start + view.sym_size(dim), 1);
}

Tensor in_dtype_of_base(const ViewStep&, const Tensor& base, const Tensor& view) {
  if (view.itemsize() == base.itemsize()) return view_dtype(view, base.dtype());
  // As a vector: dimensions of size 1 may have strides that elements of another size cannot.
  const Tensor dense = view.is_contiguous() ? view : clone(view, MemoryFormat::Contiguous);
  return sb::view(view_dtype(sb::view(dense, {view.sym_numel()}), base.dtype()), base.sym_sizes());
}

// By where the elements lie: of any view, whatever operator made it.
Tensor by_layout(const ViewStep& step, const Tensor& base, const Tensor& view) {
  const Tensor forward = step.apply(base);
  SB_CHECK_NOT_IMPLEMENTED(
      forward.is_alias_of(base), "functionalize: ", step.op.name().to_string(),
      ": a write to its result cannot be undone, as it is not a view: ", forward.describe(), " of ",
      base.describe(), "; register_view_inverse() says how");
  const Tensor memory = write_by_layout(flat_storage(base), forward, view);
  return apply_chain(chain_to(memory, ViewForm(base)), memory);
}

class Inverses {
 public:
  Inverses() {
    const auto add = [this](const auto& op, ViewInverse inverse) {
      set(op.handle(), std::move(inverse));
    };
    for (const auto& same : {alias.handle(), detach.handle()}) set(same, all_of);
    for (const auto& shape : {sb::view.handle(), unsqueeze.handle(), squeeze.handle(),
                              squeeze_dim.handle(), squeeze_dims.handle()}) {
      set(shape, in_shape_of_base);
    }
    add(slice, [](const ViewStep& s, const Tensor& base, const Tensor& view) {
      const std::vector<IValue>& a = s.arguments;
      return slice_scatter(base, view, a[1].to_int(), optional_index(a[2]), optional_index(a[3]),
                           a[4].to_sym_int());
    });
    add(select, [](const ViewStep& s, const Tensor& base, const Tensor& view) {
      return select_scatter(base, view, s.arguments[1].to_int(), s.arguments[2].to_sym_int());
    });
    add(unbind, [](const ViewStep& s, const Tensor& base, const Tensor& view) {
      return select_scatter(base, view, s.arguments[1].to_int(), static_cast<int64_t>(s.output));
    });
    add(split, part_written_back);
    add(split_with_sizes, part_written_back);
    add(diagonal, [](const ViewStep& s, const Tensor& base, const Tensor& view) {
      const std::vector<IValue>& a = s.arguments;
      return diagonal_scatter(base, view, a[1].to_int(), a[2].to_int(), a[3].to_int());
    });
    // The base is all of its storage: see FunctionalStorage.
    add(as_strided, [](const ViewStep& s, const Tensor& base, const Tensor& view) {
      const std::vector<IValue>& a = s.arguments;
      return as_strided_scatter(base, view, a[1].to_sym_int_list(), a[2].to_sym_int_list(),
                                optional_index(a[3]));
    });
    add(sb::transpose, [](const ViewStep& s, const Tensor&, const Tensor& view) {
      return sb::transpose(view, s.arguments[1].to_int(), s.arguments[2].to_int());
    });
    add(t, [](const ViewStep&, const Tensor&, const Tensor& view) { return t(view); });
    add(permute, permuted_back);
    add(view_dtype, in_dtype_of_base);
    add(_conj, [](const ViewStep&, const Tensor&, const Tensor& v) { return conj_physical(v); });
    add(_neg_view, [](const ViewStep&, const Tensor&, const Tensor& view) { return neg(view); });
    add(view_as_real, [](const ViewStep&, const Tensor&, const Tensor& view) {
      return view_as_complex(clone(view, MemoryFormat::Contiguous));
    });
    add(view_as_complex, [](const ViewStep&, const Tensor&, const Tensor& view) {
      return view_as_real(resolve_conj(view));
    });
  }

  std::shared_ptr<const ViewInverse> find(const OperatorHandle& op) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = inverses_.find(&op.entry());
    return found == inverses_.end() ? nullptr : found->second;
  }
  void add_new(const OperatorHandle& op, ViewInverse inverse) {
    const std::lock_guard<std::mutex> lock(mutex_);
    SB_CHECK(!inverses_.contains(&op.entry()), "register_view_inverse: ", op.name().to_string(),
             " has an inverse already");
    set(op, std::move(inverse));
  }
  void remove(const OperatorHandle& op) {
    const std::lock_guard<std::mutex> lock(mutex_);
    inverses_.erase(&op.entry());
  }

 private:
  void set(const OperatorHandle& op, ViewInverse inverse) {
    inverses_[&op.entry()] = std::make_shared<const ViewInverse>(std::move(inverse));
  }

  std::mutex mutex_;
  absl::flat_hash_map<const OperatorEntry*, std::shared_ptr<const ViewInverse>> inverses_;
};

Inverses& inverses() {
  static Inverses* const inverses = new Inverses;
  return *inverses;
}

// Calls f(i) for each place i of its memory, counted in elements, that the tensor has.
template <class F>
void for_each_place(const Tensor& t, F&& f) {
  if (t.numel() == 0) return;
  DimVector index(t.sizes().size(), 0);
  int64_t place = t.storage_offset();
  for (int64_t left = t.numel(); left > 0; --left) {
    f(place);
    for (size_t d = index.size(); d-- > 0;) {
      place += t.strides()[d];
      if (++index[d] < t.sizes()[d]) break;
      place -= index[d] * t.strides()[d];
      index[d] = 0;
    }
  }
}

}  // namespace

RegistrationHandle register_view_inverse(const OperatorHandle& op, ViewInverse inverse) {
  SB_CHECK_VALUE(op.schema().is_view(), "register_view_inverse: ", op.name().to_string(),
                 " gives no views, as its schema says");
  SB_CHECK_VALUE(inverse != nullptr, "register_view_inverse: ", op.name().to_string(),
                 ": expected a function, got an empty one");
  inverses().add_new(op, std::move(inverse));
  return RegistrationHandle([op] { inverses().remove(op); });
}

namespace internal {

bool is_part(const Tensor& part, const Tensor& of) {
  if (part.is_symbolic() || of.is_symbolic()) {
    if (part.itemsize() != of.itemsize()) return false;
    const SymInt end = reach_of(part.sym_sizes(), part.sym_strides(), part.sym_storage_offset());
    return lie_alike(part, of) || (is_whole_storage(of) && known(end <= of.sym_numel()));
  }
  std::vector<bool> has(of.storage()->nbytes());
  const auto for_each_byte = [](const Tensor& t, const auto& f) {
    const size_t size = t.itemsize();
    for_each_place(t, [&](int64_t i) {
      for (size_t b = 0; b < size; ++b) f(static_cast<size_t>(i) * size + b);
    });
  };
  for_each_byte(of, [&](size_t b) { has[b] = true; });
  bool all = true;
  for_each_byte(part, [&](size_t b) { all = all && has[b]; });
  return all;
}

bool reaches_beyond(const OperatorHandle& op, const Tensor& viewed, const Tensor& view) {
  if (inverses().find(op) || op.name().name.starts_with("aten::")) return false;
  return !view.is_symbolic() && !viewed.is_symbolic() && view.itemsize() == viewed.itemsize() &&
         !is_part(view, viewed);
}

Tensor invert_view(const ViewStep& step, const Tensor& base, const Tensor& view) {
  const auto inverse = inverses().find(step.op);
  if (!inverse) return by_layout(step, base, view);
  const Tensor result = (*inverse)(step, base, view);
  const auto check = [&](const auto& fits) {
    SB_CHECK(fits, "functionalize: the inverse of ", step.op.name().to_string(), " gave ",
             result.defined() ? result.describe() : "an undefined tensor", ", expected ",
             base.describe(), " with the view in it");
  };
  check(result.defined() && result.dtype() == base.dtype());
  by_size(any_symbolic(result, base), [&]<class Int>() {
    check(equal_sizes<Int>(sizes_of<Int>(result), sizes_of<Int>(base)));
  });
  return result;
}

}  // namespace internal
}  // namespace sb
