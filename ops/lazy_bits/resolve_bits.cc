// What an operator does with a lazily conjugated or negated argument, at the keys Conjugate and
// Negative. As `at::native::MathOpFallback`:
//
// - A view passes the call on: its result has self's keys.
// - So does an operator that is composed of others: what it calls is resolved. That is so where
//   autograd's keys enter it before, and here where autograd is excluded, too; PyTorch resolves the
//   arguments there.
// - So does what changes a tensor's metadata only (Tag::inplace_view).
// - Every other operator gets copies of such arguments, with the bit resolved. What it writes to a
//   copy is then written back to the argument, as lazily.

#include <algorithm>
#include <typeinfo>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/symbols/known.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/grad_hooks.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/outputs/map_tensors.h"
#include "switchboard/ops/shape/by_size.h"
#include "switchboard/ops/shape/resize.h"

namespace sb {
namespace {

// One call, at the key `bit`.
class ResolvedCall {
 public:
  explicit ResolvedCall(DispatchKey bit) : bit_(bit) {}

  void run(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
    const FunctionSchema& schema = op.schema();
    const size_t first = stack->size() - schema.arguments.size();
    for (size_t i = 0; i < schema.arguments.size(); ++i) {
      const bool is_write = schema.arguments[i].is_write();
      IValue& value = (*stack)[first + i];
      value = map_tensors(value, [&](const Tensor& t) { return resolved(t, is_write); });
    }
    op.redispatch_boxed(keys & DispatchKeySet::below(bit_), stack);
    for (const auto& [argument, copy] : written_) {
      take_shape(argument, copy, keys & DispatchKeySet::below(bit_));
      copy_(argument, copy);
    }
    for (size_t i = first; i < stack->size(); ++i)
      (*stack)[i] = map_tensors((*stack)[i], [&](const Tensor& t) { return original(t); });
  }

 private:
  Tensor resolved(const Tensor& t, bool is_write) {
    if (!t.key_set().has(bit_)) return t;
    Tensor& copy = copies_[t.impl()];
    if (!copy.defined()) {
      // Below autograd it is a part of the call: a trace does not take it for what the program
      // computes without gradients.
      const bool below = dispatch_tls.excluded().has(DispatchKey::AutogradFunctionality);
      const internal::GradScope grad(below || internal::grad_hooks->is_grad_enabled());
      copy = clone(t);
      copy.impl()->set_wrapped_number(t.impl()->is_wrapped_number());
    }
    const auto is_it = [&](const auto& pair) { return pair.first.is_same(t); };
    if (is_write && std::ranges::none_of(written_, is_it)) written_.emplace_back(t, copy);
    return copy;
  }
  // Who stands below, a mode or functionalisation, has a shape of its own for the argument.
  static void take_shape(const Tensor& argument, const Tensor& copy, DispatchKeySet below) {
    constexpr DispatchKeySet kBetween{DispatchKey::Python, DispatchKey::Functionalize};
    if (!below.has_any(kBetween))
      resize_output(argument, copy.sizes());
    else if (!same_sizes(argument, copy))
      resize_.redispatch(below, argument, copy.sym_sizes(), std::nullopt);
  }
  Tensor original(const Tensor& t) const {
    for (const auto& [argument, copy] : written_) {
      if (copy.is_same(t)) return argument;
    }
    return t;
  }

  static bool same_sizes(const Tensor& a, const Tensor& b) {
    bool same = a.dim() == b.dim();
    for (int64_t d = 0; same && d < a.dim(); ++d) same = known(a.sym_size(d) == b.sym_size(d));
    return same;
  }

  DispatchKey bit_;
  absl::flat_hash_map<const TensorImpl*, Tensor> copies_;
  std::vector<std::pair<Tensor, Tensor>> written_;  // arguments and their copies
};

bool passes_on(const OperatorHandle& op, DispatchKeySet keys) {
  return op.schema().is_view() || op.entry().has_tag(Tag::inplace_view) ||
         internal::is_implicit_composite(op, keys);
}

template <DispatchKey bit>
void resolve_bit(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  if (passes_on(op, keys)) {
    op.redispatch_boxed(keys & DispatchKeySet::below(bit), stack);
    return;
  }
  ResolvedCall(bit).run(op, keys, stack);
}

// The tensor as it lies in memory.
template <DispatchKey bit>
Tensor without_bit(const Tensor& t) {
  if (!t.key_set().has(bit)) return t;
  Tensor plain = by_size(any_symbolic(t), [&]<class Int>() {
    return alias_of_shape(t, sizes_of<Int>(t), strides_of<Int>(t), storage_offset_of<Int>(t));
  });
  plain.impl()->set_key_set(t.key_set() - bit);
  return plain;
}

// The one operator that reads and writes such tensors itself: all others resolve by it. A bit that
// only one side has is resolved in what was written.
template <DispatchKey bit>
Tensor copy_kernel(DispatchKeySet keys, const Tensor& self, const Tensor& src, bool non_blocking) {
  if (self.is_same(src)) return self;
  const DispatchKeySet below = keys & DispatchKeySet::below(bit);
  // Who stands between, a mode or functionalisation, sees the call as it was made; what it calls
  // for it comes here again.
  constexpr DispatchKeySet kBetween{DispatchKey::Python, DispatchKey::Functionalize};
  if (below.has_any(kBetween)) return copy_.redispatch(below, self, src, non_blocking);
  const bool differ = self.key_set().has(bit) != src.key_set().has(bit);
  SB_CHECK(!differ || bit == DispatchKey::Conjugate || self.dtype() != DType::Bool,
           "copy_: the negatives of ", src.describe(), " cannot be written to ", self.describe());
  const Tensor to = without_bit<bit>(self);
  copy_.redispatch(below, to, without_bit<bit>(src), non_blocking);
  if (!differ) return self;
  if constexpr (bit == DispatchKey::Conjugate) {
    if (is_complex(self.dtype()) && is_complex(src.dtype())) conj_physical_(to);
  } else {
    neg_(to);
  }
  return self;
}

// A view, and what changes metadata, gets its arguments as they are; whatever else goes on gets
// them without the bit. Tensors that are more than memory stay, and those below see by the keys of
// the call that it is gone.
template <DispatchKey bit>
void explain_at(CallPath& path, const PathCall& c) {
  const DispatchKeySet below = c.keys & DispatchKeySet::below(bit);
  if (passes_on(c.op, c.keys)) return path.enter(c.op, below, c.arguments);
  Stack resolved;
  for (const IValue& value : c.arguments) {
    resolved.push_back(map_tensors(value, [](const Tensor& t) {
      const TensorImpl& impl = *t.impl();
      if (!t.key_set().has(bit) || typeid(impl) != typeid(TensorImpl)) return t;
      Tensor plain(impl.shallow_copy());
      plain.impl()->set_key_set(t.key_set() - bit);
      return plain;
    }));
  }
  path.enter(c.op, below, resolved);
}
const ExplainFallback conjugate(DispatchKey::Conjugate, explain_at<DispatchKey::Conjugate>);
const ExplainFallback negative(DispatchKey::Negative, explain_at<DispatchKey::Negative>);
const ExplainKernels conjugate_copy(DispatchKey::Conjugate, explain_at<DispatchKey::Conjugate>);
const ExplainKernels negative_copy(DispatchKey::Negative, explain_at<DispatchKey::Negative>);

template <DispatchKey bit>
void define_at(Library& m) {
  m.impl(copy_, bit, copy_kernel<bit>);
  // They make a plain tensor of one that is not; the copy in clone resolves.
  m.impl(clone, bit, fallthrough);
  m.impl(empty_like, bit, fallthrough);
  m.impl(_conj_physical, bit, fallthrough);
}

}  // namespace

SB_LIBRARY_IMPL(_, Conjugate, m) { m.fallback(resolve_bit<DispatchKey::Conjugate>); }
SB_LIBRARY_IMPL(_, Negative, m) { m.fallback(resolve_bit<DispatchKey::Negative>); }
SB_LIBRARY_FRAGMENT(aten, m) {
  define_at<DispatchKey::Conjugate>(m);
  define_at<DispatchKey::Negative>(m);
}

}  // namespace sb
