#include "switchboard/ops/define/structured.h"

#include "absl/container/inlined_vector.h"
#include "switchboard/core/memory/memory_overlap.h"

namespace sb::internal {
namespace {

// The arguments of a call that rules and checks look at.
struct CallTensors {
  TensorArguments tensors;
  bool symbolic = false;

  CallTensors(absl::Span<const TypeCode> types, StructuredOp::Arguments args) {
    for (size_t i = 0; i < types.size(); ++i) add(types[i], args[i]);
  }

 private:
  void add(TypeCode type, const void* argument) {
    const auto as = [&]<class T>(std::type_identity<T>) -> const T& {
      return *static_cast<const T*>(argument);
    };
    constexpr TypeCode tensor = type_code(BaseType::Tensor), sym_int = type_code(BaseType::SymInt);
    switch (type) {
      case tensor:
        return add(as(std::type_identity<Tensor>()));
      case optional_of(tensor): {
        const auto& optional = as(std::type_identity<std::optional<Tensor>>());
        if (optional && optional->defined()) add(*optional);
        return;
      }
      case list_of(tensor):
        for (const Tensor& t : as(std::type_identity<TensorList>())) add(t);
        return;
      case sym_int:
        symbolic |= any_symbolic(as(std::type_identity<SymInt>()));
        return;
      case optional_of(sym_int):
        symbolic |= any_symbolic(as(std::type_identity<std::optional<SymInt>>()));
        return;
      case list_of(sym_int):
        symbolic |= any_symbolic(as(std::type_identity<SymIntArrayRef>()));
        return;
      case optional_of(list_of(sym_int)):
        symbolic |= any_symbolic(as(std::type_identity<OptionalSymIntArrayRef>()));
        return;
      default:
        // Lists of optional tensors, which are indices, may be elsewhere than self: the rule looks.
        return;
    }
  }
  void add(const Tensor& t) {
    tensors.push_back(&t);
    symbolic |= t.defined() && t.is_symbolic();
  }
};

// What partial_write() refuses before the kernel's own checks, and these.
void check_partial_write(const StructuredCall& call, StructuredOp::Arguments args,
                         const Tensor* written, DType dtype, const TensorArguments& tensors) {
  if (written) {
    SB_CHECK(written->defined(), call.name,
             ": out: expected a defined tensor, got an undefined one");
    check_no_internal_overlap(*written);
    for (const Tensor* t : absl::MakeConstSpan(tensors).subspan(1)) check_no_overlap(*written, *t);
    SB_CHECK(written->dtype() == dtype, call.name, ": out: expected ", to_string(dtype), ", got ",
             written->describe());
  }
  if (call.with_data) call.op->check(args, nullptr);
}

// What an operator has no arithmetic for is refused last, as by PyTorch: an out of a dtype that
// does not fit even the arguments is the first to be wrong.
void check_out_like_input(std::string_view name, absl::Span<const Tensor* const> outs,
                          const TensorArguments& tensors) {
  if (outs.empty() || tensors.empty()) return;
  SB_CHECK(outs[0]->defined() && outs[0]->dtype() == tensors[0]->dtype(), name, ": out: expected ",
           to_string(tensors[0]->dtype()), ", got ", outs[0]->describe());
}

}  // namespace

void StructuredCall::operator()(StructuredOp::Arguments args, Tensor* results) const {
  const size_t n = op->num_results;
  const size_t inputs = arguments.size() - (form == FormKind::Out ? n : 0);
  const CallTensors call(arguments.first(inputs), args);
  const Device device = check_arguments(name, call.tensors);
  const bool inplace = form == FormKind::Inplace;
  // Empty in the functional form.
  absl::InlinedVector<const Tensor*, 2> outs;
  if (inplace) outs.push_back(static_cast<const Tensor*>(args[0]));
  for (size_t i = inputs; i < arguments.size(); ++i)
    outs.push_back(static_cast<const Tensor*>(args[i]));

  const auto check = [&](DType dtype) {
    if (op->check)
      check_partial_write(*this, args, outs.empty() ? nullptr : outs[0], dtype, call.tensors);
  };
  bool symbolic = call.symbolic;
  for (const Tensor* out : outs) symbolic |= out->defined() && out->is_symbolic();
  if (symbolic && !with_data && op->sym_rule) {
    absl::InlinedVector<SymTensorMeta, 1> metas(n);
    op->sym_rule(args, metas.data());
    check(metas[0].dtype);
    for (size_t i = 0; i < n; ++i) {
      if (outs.empty()) {
        results[i] = make_result(metas[i], device);
      } else {
        set_symbolic_output(name, *outs[i], metas[i], device, options, inplace);
        results[i] = *outs[i];
      }
    }
    return;
  }

  absl::InlinedVector<TensorMeta, 1> metas(n);
  try {
    op->rule(args, metas.data());
  } catch (const NotImplementedError&) {
    check_out_like_input(name, outs, call.tensors);
    throw;
  }
  check(metas[0].dtype);
  const auto run = [&](absl::Span<const Tensor* const> targets) {
    if (!with_data) return;
    if (options.from_self) start_from(*targets[0], *static_cast<const Tensor*>(args[0]));
    op->kernel(args, targets.data());
  };
  if (outs.empty()) {
    absl::InlinedVector<const Tensor*, 2> targets;
    for (size_t i = 0; i < n; ++i) {
      results[i] = make_result(metas[i], device);
      targets.push_back(&results[i]);
    }
    return run(targets);
  }
  if (n > 1) check_outs_apart(name, outs);
  const auto read = absl::MakeConstSpan(call.tensors).subspan(inplace && options.from_self ? 1 : 0);
  absl::InlinedVector<OutputPlan, 1> plans;
  bool must_grow = false;
  for (size_t i = 0; i < n; ++i) {
    plans.emplace_back(name, *outs[i], metas[i], device, read, options, inplace);
    must_grow |= n > 1 && plans.back().must_grow();
  }
  absl::InlinedVector<const Tensor*, 2> targets;
  for (OutputPlan& plan : plans) {
    if (must_grow) plan.keep_apart();
    targets.push_back(&plan.target());
  }
  run(targets);
  if (n > 1)
    for (OutputPlan& plan : plans) plan.reserve();
  for (size_t i = 0; i < n; ++i) {
    plans[i].finish(with_data);
    results[i] = *outs[i];
  }
}

}  // namespace sb::internal
