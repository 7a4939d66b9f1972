// Derivatives of operators, as formulas beside them.
//
//   SB_LIBRARY_IMPL(aten, Autograd, m) {
//     derive(m, sin, SB_GRAD(self, (grad, self), mul(grad, conj(cos(self)))));
//     derive(m, mul, SB_GRAD(self, (grad, other), mul(grad, conj(other))),
//            SB_GRAD(other, (grad, self), mul(grad, conj(self))));
//     not_differentiable(m, argmax);
//   }
//
// formula.h lists the names that formulas may use. One formula serves the operator and its in-place
// form; it is made of operators that have derivatives themselves, and so it can be derived again.

#ifndef SWITCHBOARD_AUTOGRAD_DERIVATIVES_H_
#define SWITCHBOARD_AUTOGRAD_DERIVATIVES_H_

#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "switchboard/autograd/formula.h"
#include "switchboard/autograd/formula_node.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/node.h"
#include "switchboard/autograd/recording.h"
#include "switchboard/autograd/stored.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/dispatch/library.h"

namespace sb {
namespace internal {

template <class Tag, class F>
struct FormulaOf {
  static constexpr auto inputs = find_inputs<Tag, F::inputs>();
  static constexpr auto sources = find_sources<Tag, F::reads>();
  static consteval uint32_t mask(SourceKind kind) {
    uint32_t bits = 0;
    for (const Source& s : sources)
      if (s.kind == kind) bits |= uint32_t{1} << s.index;
    return bits;
  }
  static constexpr uint32_t arguments = mask(SourceKind::Argument);
  static constexpr uint32_t metas = mask(SourceKind::Meta);
  static constexpr uint32_t results = mask(SourceKind::Result);
  // The results whose gradients the formula reads.
  static constexpr uint32_t grads = mask(SourceKind::Grads) ? ~uint32_t{0} : mask(SourceKind::Grad);
};

// The backward of the operator of `Tag`, by formulas F.
template <class Tag, class... F>
class DerivedNode final : public FormulaNode {
  using Traits = OpTraits<Tag>;
  static constexpr size_t kArguments = Traits::schema.num_arguments;
  static constexpr size_t kReturns = Traits::schema.num_returns;
  static constexpr uint32_t kUsed = (0u | ... | FormulaOf<Tag, F>::arguments);
  static constexpr uint32_t kMetas = (0u | ... | FormulaOf<Tag, F>::metas);
  static constexpr uint32_t kResults = (0u | ... | FormulaOf<Tag, F>::results);
  static constexpr uint32_t kGrads = (0u | ... | FormulaOf<Tag, F>::grads);

  template <size_t I>
  using Argument = std::decay_t<typename Traits::template Argument<I>>;
  template <size_t I>
  using Result = std::decay_t<return_type<Traits::schema.returns[I].type>>;

  template <class>
  struct Tuples;
  template <size_t... I>
  struct Tuples<std::index_sequence<I...>> {
    using Arguments = std::tuple<StoredIf<(kUsed >> I & 1) != 0, I, Stored<Argument<I>>>...>;
    using Metas = std::tuple<StoredIf<(kMetas >> I & 1) != 0, I, StoredMeta<Argument<I>>>...>;
  };
  template <class>
  struct ResultTuples;
  template <size_t... I>
  struct ResultTuples<std::index_sequence<I...>> {
    using Type = std::tuple<StoredIf<(kResults >> I & 1) != 0, I, StoredResult<Result<I>>>...>;
  };

 public:
  DerivedNode() : FormulaNode(kReturns) {}

  std::string name() const override { return backward_name(Traits::schema.name); }

  // Returns whether some input that has a formula requires a gradient.
  template <class... A>
  static bool wanted(const A&... args) {
    const auto refs = std::tie(args...);
    return (false || ... || wanted_by<F>(refs));
  }

  // Makes a node with its edges and the values that its formulas read, before the operator runs.
  // With `overwrites_self`, it will write to its first argument. One function for an operator and
  // its in-place form.
  template <class... A>
  [[gnu::noinline]] static IntrusivePtr<DerivedNode> make(bool overwrites_self, const A&... args) {
    IntrusivePtr<DerivedNode> node = make_intrusive<DerivedNode>();
    const auto refs = std::tie(args...);
    uint32_t used = 0, metas = 0;
    (node->template save_for<F>(refs, &used, &metas), ...);
    node->save_each(overwrites_self, used, metas, refs, std::make_index_sequence<kArguments>());
    return node;
  }
  // Makes this node the origin of the operator's results. Of several results, one whose gradient no
  // formula reads has none.
  template <class R>
  void set_history_of(const R& results) {
    set_histories(results, NodePtr::share(this), kReturns == 1 ? ~uint32_t{0} : kGrads);
  }
  // After it ran and has its history.
  template <class R>
  void save_results(const R& results) {
    if constexpr (kResults != 0) {
      if constexpr (kReturns == 1) {
        std::get<0>(results_).save(results, *this);
      } else {
        save_each_result(results, std::make_index_sequence<kReturns>());
      }
    }
  }
  // The edge for the first argument; the number of edges if no formula is for it.
  size_t self_edge() const {
    constexpr size_t at = inputs_before_self();
    return at == kNone ? edges().size() : at;
  }

 private:
  static constexpr size_t kNone = ~size_t{0};
  static consteval size_t inputs_before_self() {
    size_t at = 0;
    bool found = false;
    const auto look = [&](const auto& inputs) {
      for (size_t i = 0; i < inputs.size() && !found; ++i) {
        found = inputs[i] == 0;
        at += found ? 0 : 1;
      }
    };
    (look(FormulaOf<Tag, F>::inputs), ...);
    return found ? at : kNone;
  }

  void apply_formulas(const TensorVector& grads, TensorVector* out) override {
    // As PyTorch, which looks at every result that it saved, whichever formulas are wanted.
    if constexpr (kResults != 0 && sizeof...(F) > 1)
      load_results(std::make_index_sequence<kReturns>());
    size_t edge = 0, formula = 0;
    (apply_formula<F>(grads, out, &edge, &formula), ...);
  }
  void release_stored() override {
    std::apply([](auto&... stored) { (stored.release(), ...); }, arguments_);
    std::apply([](auto&... stored) { (stored.release(), ...); }, results_);
  }

  template <class G, class Refs>
  static bool wanted_by(const Refs& refs) {
    constexpr auto& inputs = FormulaOf<Tag, G>::inputs;
    return [&]<size_t... K>(std::index_sequence<K...>) {
      return (false || ... || needs_grad_in(std::get<inputs[K]>(refs)));
    }
    (std::make_index_sequence<inputs.size()>());
  }
  // Adds the edges of a formula's inputs; what it reads is saved if one of them wants a gradient.
  template <class G, class Refs>
  void save_for(const Refs& refs, uint32_t* used, uint32_t* metas) {
    constexpr auto& inputs = FormulaOf<Tag, G>::inputs;
    const size_t first = edges().size();
    [&]<size_t... K>(std::index_sequence<K...>) {
      (add_edges_of(std::get<inputs[K]>(refs), this), ...);
      if constexpr (sizeof...(F) > 1 || has_lists())
        counts_[formula_index<G>()] = count_from(first);
    }
    (std::make_index_sequence<inputs.size()>());
    if (wants_any_from(first)) {
      *used |= FormulaOf<Tag, G>::arguments;
      *metas |= FormulaOf<Tag, G>::metas;
    }
  }
  static consteval bool has_lists() {
    bool lists = false;
    for (size_t i = 0; i < kArguments; ++i)
      lists = lists || outer_modifier(Traits::schema.arguments[i].type) == TypeModifier::List;
    return lists;
  }
  uint32_t count_from(size_t first) const { return static_cast<uint32_t>(edges().size() - first); }
  template <class G>
  static consteval size_t formula_index() {
    size_t i = 0;
    bool found = false;
    ((found = found || std::is_same_v<G, F>, i += found ? 0 : 1), ...);
    return i;
  }

  template <class Refs, size_t... I>
  void save_each(bool overwrites_self, uint32_t used, uint32_t metas, const Refs& refs,
                 std::index_sequence<I...>) {
    (
        [&] {
          if constexpr ((kUsed >> I & 1) != 0)
            if (used >> I & 1)
              std::get<I>(arguments_).save(std::get<I>(refs), I == 0 && overwrites_self);
          if constexpr ((kMetas >> I & 1) != 0)
            if (metas >> I & 1) std::get<I>(metas_).save(std::get<I>(refs));
        }(),
        ...);
  }
  template <class R, size_t... I>
  void save_each_result(const R& results, std::index_sequence<I...>) {
    (
        [&] {
          if constexpr ((kResults >> I & 1) != 0)
            std::get<I>(results_).save(std::get<I>(results), *this);
        }(),
        ...);
  }

  template <size_t... I>
  void load_results(std::index_sequence<I...>) {
    (
        [&] {
          if constexpr ((kResults >> I & 1) != 0) (void)std::get<I>(results_).load(*this);
        }(),
        ...);
  }

  // One value that a formula reads.
  template <Source s, size_t kInputs>
  decltype(auto) read(const TensorVector& grads, const std::array<bool, kInputs>& needs) {
    if constexpr (s.kind == SourceKind::Grad) {
      return (grads[s.index]);
    } else if constexpr (s.kind == SourceKind::Grads) {
      return absl::Span<const Tensor>(grads);
    } else if constexpr (s.kind == SourceKind::Needs) {
      return (needs);
    } else if constexpr (s.kind == SourceKind::Argument) {
      return std::get<s.index>(arguments_).load(*this);
    } else if constexpr (s.kind == SourceKind::Meta) {
      return std::get<s.index>(metas_).load();
    } else {
      return std::get<s.index>(results_).load(*this);
    }
  }

  template <class G>
  void apply_formula(const TensorVector& grads, TensorVector* out, size_t* edge, size_t* formula) {
    using Of = FormulaOf<Tag, G>;
    constexpr size_t kInputs = Of::inputs.size();
    size_t count = kInputs;
    if constexpr (sizeof...(F) > 1 || has_lists()) count = counts_[*formula];
    const size_t first = *edge;
    *edge += count;
    ++*formula;
    std::array<bool, kInputs> needs{};
    if (!wants_any_of(first, count, count == kInputs ? needs.data() : nullptr)) return;
    [&]<size_t... S>(std::index_sequence<S...>) {
      // Held here while the formula looks at them.
      auto values = std::tuple<decltype(read<Of::sources[S], kInputs>(grads, needs))...>(
          read<Of::sources[S], kInputs>(grads, needs)...);
      take_gradients(typename G::Function()(as_argument(std::get<S>(values))...), out, first,
                     count);
    }
    (std::make_index_sequence<Of::sources.size()>());
  }

  using AllArguments = Tuples<std::make_index_sequence<kArguments>>;
  [[no_unique_address]] typename AllArguments::Arguments arguments_;
  [[no_unique_address]] typename AllArguments::Metas metas_;
  [[no_unique_address]] typename ResultTuples<std::make_index_sequence<kReturns>>::Type results_;
  [[no_unique_address]] std::conditional_t<(sizeof...(F) > 1 || has_lists()),
                                           std::array<uint32_t, sizeof...(F)>, NothingStored<99>>
      counts_{};
};

// The kernel at Autograd: records a node where it must, and runs the operator below.
template <class Tag, class NodeType>
struct RecordingKernel {
  template <class R, class... A>
  struct Of {
    R operator()(DispatchKeySet keys, A... args) const {
      constexpr bool kWrites = OpTraits<Tag>::schema.arguments[0].is_written;
      constexpr bool kViews = OpTraits<Tag>::schema.arguments[0].is_aliased && !kWrites;
      IntrusivePtr<NodeType> node;
      if (is_grad_enabled() && NodeType::wanted(args...)) {
        if constexpr (kWrites) check_may_write(Op<Tag>::name(), first(args...));
        node = NodeType::make(kWrites, args...);
      }
      R result = [&] {
        const BelowRecordingGuard below;
        return op_.redispatch(keys_below_recording(keys), args...);
      }();
      if constexpr (kWrites) count_write(op_.entry(), first(args...));
      if constexpr (kViews) note_views<Tag>(first(args...), result, args...);
      if (node) {
        if constexpr (kWrites)
          rebase_history(first(args...), node, node->self_edge());
        else
          node->set_history_of(result);
        node->save_results(result);
      }
      return result;
    }
  };

  static constinit const Op<Tag> op_;

  template <class First, class... Rest>
  static const First& first(const First& first, const Rest&...) {
    return first;
  }
};
template <class Tag, class NodeType>
constinit const Op<Tag> RecordingKernel<Tag, NodeType>::op_{};

template <class Tag, class NodeType>
void add_recording_kernel(Library& m, const Op<Tag>& op, SourceLocation where) {
  using Kernel =
      typename OpTraits<Tag>::template Apply<RecordingKernel<Tag, NodeType>::template Of>;
  note_derivatives(where);
  m.impl(op, DispatchKey::Autograd, Kernel(), where);
}

}  // namespace internal

// A library with the place of the call that names it.
struct LibraryHere {
  LibraryHere(Library& m, SourceLocation where = SourceLocation::current())  // NOLINT
      : library(m), where(where) {}
  Library& library;
  SourceLocation where;
};

// Gives an operator a derivative, and its in-place form if it was declared with one
// (inplace_of). An argument that no formula is for has none. `m` holds kernels of the operator's
// namespace.
template <class Tag, class... F>
void derive(LibraryHere m, const Op<Tag>& op, F... /*formulas*/) {
  using Recorded = internal::DerivedNode<Tag, F...>;
  internal::add_recording_kernel<Tag, Recorded>(m.library, op, m.where);
  if constexpr (HasForm<InplaceForm, Tag>)
    internal::add_recording_kernel<form_of<InplaceForm, Tag>, Recorded>(
        m.library, Op<form_of<InplaceForm, Tag>>(), m.where);
}

// Says that no result of the operator has a gradient: integers, indices, results that do not depend
// on elements. Its calls pass by autograd.
template <class Tag>
void not_differentiable(Library& m, const Op<Tag>& op,
                        SourceLocation where = SourceLocation::current()) {
  m.impl(op, DispatchKey::Autograd, fallthrough, where);
}

}  // namespace sb

#endif  // SWITCHBOARD_AUTOGRAD_DERIVATIVES_H_
