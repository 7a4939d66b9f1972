// An operator of your own as one object: schema, kernels, fake rule and gradient.
//
//   CustomOp twice = custom_op("mylib::twice", [](const Tensor& x) { return add(x, x); },
//                              {.arguments = {"x"}})
//                        .register_kernel("cuda", twice_cuda)
//                        .register_fake([](const Tensor& x) { return empty_like(x); })
//                        .register_autograd([](FunctionContext&, const Tensor& grad) {
//                          return add(grad, grad);
//                        });
//   Tensor y = twice(x);

#ifndef SWITCHBOARD_CUSTOM_OPS_CUSTOM_OP_H_
#define SWITCHBOARD_CUSTOM_OPS_CUSTOM_OP_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "switchboard/autograd/register_autograd.h"
#include "switchboard/custom_ops/fresh_results.h"
#include "switchboard/custom_ops/register_autocast.h"
#include "switchboard/custom_ops/register_vmap.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/dispatch/objects/op_overload.h"
#include "switchboard/dispatch/objects/register_torch_dispatch.h"
#include "switchboard/dispatch/objects/registration.h"
#include "switchboard/dispatch/values/bind_arguments.h"
#include "switchboard/fake/register_fake.h"

namespace sb {

struct CustomOpOptions {
  // Names of the arguments, for a schema that is made from a function: see infer_schema().
  std::vector<std::string> arguments = {};
  // The tensors that the function writes to. With a schema: the same that the schema says, or none.
  std::vector<std::string> mutates_args = {};
  // It may write to any tensor. As `mutates_args="unknown"`; not beside a schema.
  bool mutates_unknown = false;
  // The devices that the function is for: all of them, unless some are named.
  std::optional<KernelTypes> device_types = std::nullopt;
  // pt2_compliant_tag is always among them. What inplace and out ask of the schema is in
  // dispatch/values/check_tags.h; such an operator has a fake rule by itself, and its kernels
  // return the very arguments that they write to.
  TagSet tags = {};
};

// As `torch._library.custom_ops.CustomOpDef`. An operator of the default dispatcher that lives as
// long as this object, with everything that was registered through it; keep() leaves all of it
// until the process ends. custom_op() makes one together with its function.
//
// Its kernels are opaque: nobody looks at the operators that they call. So they never run for fake
// tensors or for those on the meta device, where a call throws UnsupportedOperatorError until there
// is a fake rule, unless the operator returns nothing; and backward through a call throws
// RuntimeError until there is a gradient. Results are new tensors: a call throws RuntimeError where
// one shares memory with an argument or another result, unless the schema says so.
//
// One object is used by one thread at a time; calls and registrations of other threads go on
// meanwhile. Each of the functions that register is called on the object itself or in a chain after
// custom_op(); it throws what the free function of its name throws, and leaves the operator as it
// was then.
class CustomOp {
 public:
  // Defines the operator, without a kernel. Throws as custom_op().
  CustomOp(std::string_view name, std::string_view schema, const CustomOpOptions& options = {},
           SourceLocation where = SourceLocation::current());
  // The same with its function: what custom_op() makes.
  template <class F>
  requires(!std::is_same_v<F, CustomOpOptions>)
      CustomOp(std::string_view name, std::string_view schema, F function,
               const CustomOpOptions& options, SourceLocation where)
      : CustomOp(name, schema, options, where) {
    add_function(options, checked(std::move(function)), where);
  }
  CustomOp(CustomOp&&) = default;
  CustomOp& operator=(CustomOp&&) = default;

  // "mylib::twice". The free functions that take an operator take this object, too: what they
  // register is then part of it (below).
  std::string qualified_name() const { return op_.name(); }
  const OpOverload& op() const { return op_; }
  operator const OpOverload&() const { return op_; }  // NOLINT: the same thing
  const FunctionSchema& schema() const { return op_.schema(); }

  // Calls the operator, with arguments as bind_arguments() takes them. Throws TypeError where its
  // results are not an R. For calls that cost less: op().typed<Tensor(const Tensor&)>().
  template <class R, class... A>
  R call(A&&... args) const {
    Arguments results = op_(std::forward<A>(args)...);
    check_results(results.size(), internal::ReturnCodes<R>::span().size());
    return internal::take_results<R>(&results);
  }
  template <class... A>
  Tensor operator()(A&&... args) const {
    return call<Tensor>(std::forward<A>(args)...);
  }

  // A kernel for these device types, "cuda" or {"cpu", "cuda"}, or keys; without any, for all
  // devices. The newest of a device runs. An operator without tensor arguments takes the device
  // from its argument `Device device`: ValueError if it has none and device types are named; a call
  // throws RuntimeError for a device without a kernel.
  template <class F>
  CustomOp& register_kernel(const KernelTypes& types, F kernel,
                            SourceLocation where = SourceLocation::current()) & {
    return impl(types, std::move(kernel), where);
  }
  template <class F>
  CustomOp& register_kernel(F kernel, SourceLocation where = SourceLocation::current()) & {
    return impl(DispatchKey::CompositeExplicitAutograd, std::move(kernel), where);
  }
  // The same for any keys but Meta, which register_fake() is for; `fallthrough` is a kernel, too.
  template <class F>
  CustomOp& impl(const KernelTypes& types, F kernel,
                 SourceLocation where = SourceLocation::current()) & {
    add_kernel(types, checked(std::move(kernel)), where);
    return *this;
  }
  // Adds the fake rule: the results on tensors without data. The newest runs. Warns where the
  // operator is tagged inplace or out, and needs none.
  template <class F>
  CustomOp& register_fake(F rule, SourceLocation where = SourceLocation::current()) & {
    warn_of_needless_fake_rule();
    library().own(internal::register_fake_kernel(op_.handle().name(), checked(std::move(rule)),
                                                 library().dispatcher(), /*allow_override=*/true,
                                                 where));
    return *this;
  }
  CustomOp& register_autograd(BackwardFunction backward, SetupContext setup_context = {},
                              SourceLocation where = SourceLocation::current()) & {
    sb::register_autograd(op_, std::move(backward), std::move(setup_context), library(), where);
    return *this;
  }
  // What it does under autocast: register_autocast.h.
  CustomOp& register_autocast(std::string_view device_type, DType cast_inputs,
                              SourceLocation where = SourceLocation::current()) & {
    sb::register_autocast(op_, device_type, cast_inputs, library(), where);
    return *this;
  }
  // What it does inside of vmap: register_vmap.h.
  CustomOp& register_vmap(VmapRule rule, SourceLocation where = SourceLocation::current()) & {
    sb::register_vmap(op_, std::move(rule), library(), where);
    return *this;
  }
  // A rule for a type of mode: dispatch/objects/register_torch_dispatch.h.
  template <class Mode, class F>
  CustomOp& register_torch_dispatch(F rule, SourceLocation where = SourceLocation::current()) & {
    sb::register_torch_dispatch<Mode>(op_, std::move(rule), library(), where);
    return *this;
  }
  // Says that calls must neither be left out nor change places, or that they may although the
  // schema tells otherwise: dispatch/modes/effects.h.
  CustomOp& register_effect(Effect effect, SourceLocation where = SourceLocation::current()) & {
    library().own(sb::register_effect(op_.handle(), effect, where));
    return *this;
  }

  template <class F>
  CustomOp&& register_kernel(const KernelTypes& types, F kernel,
                             SourceLocation where = SourceLocation::current()) && {
    return std::move(register_kernel(types, std::move(kernel), where));
  }
  template <class F>
  CustomOp&& register_kernel(F kernel, SourceLocation where = SourceLocation::current()) && {
    return std::move(register_kernel(std::move(kernel), where));
  }
  template <class F>
  CustomOp&& impl(const KernelTypes& types, F kernel,
                  SourceLocation where = SourceLocation::current()) && {
    return std::move(impl(types, std::move(kernel), where));
  }
  template <class F>
  CustomOp&& register_fake(F rule, SourceLocation where = SourceLocation::current()) && {
    return std::move(register_fake(std::move(rule), where));
  }
  CustomOp&& register_autograd(BackwardFunction backward, SetupContext setup_context = {},
                               SourceLocation where = SourceLocation::current()) && {
    return std::move(register_autograd(std::move(backward), std::move(setup_context), where));
  }
  CustomOp&& register_autocast(std::string_view device_type, DType cast_inputs,
                               SourceLocation where = SourceLocation::current()) && {
    return std::move(register_autocast(device_type, cast_inputs, where));
  }
  CustomOp&& register_vmap(VmapRule rule, SourceLocation where = SourceLocation::current()) && {
    return std::move(register_vmap(std::move(rule), where));
  }
  template <class Mode, class F>
  CustomOp&& register_torch_dispatch(F rule, SourceLocation where = SourceLocation::current()) && {
    return std::move(register_torch_dispatch<Mode>(std::move(rule), where));
  }
  CustomOp&& register_effect(Effect effect, SourceLocation where = SourceLocation::current()) && {
    return std::move(register_effect(effect, where));
  }

  // As long as the handle lives, the kernels of these device types do not run (or, with `enabled`,
  // run again), those that are registered meanwhile neither: the function that the operator was
  // made with runs in their place. Then each is as it was before, so that scopes nest. Warns where
  // nothing changes, or a type has no kernel. Throws RuntimeError for an operator that was made
  // without a function.
  RegistrationHandle set_kernel_enabled(const KernelTypes& types, bool enabled = true,
                                        SourceLocation where = SourceLocation::current());

  // Leaves the operator and its registrations until the process ends. Registering through this
  // object throws RuntimeError afterwards.
  OpOverload keep() &&;

 private:
  struct State;

  template <class F>
  KernelFunction checked(F function) const {
    return internal::make_checked_kernel(std::move(function), op_.handle(), promise_);
  }
  void add_kernel(const KernelTypes& types, const KernelFunction& kernel, SourceLocation where);
  // The kernel that the operator is made with.
  void add_function(const CustomOpOptions& options, KernelFunction function, SourceLocation where);
  State& state() const;
  Library& library() const;
  void check_results(size_t got, size_t expected) const;
  void warn_of_needless_fake_rule() const;

  std::shared_ptr<State> state_;  // null: moved from
  OpOverload op_;
  internal::ResultPromise promise_;
};

// An operator by its qualified name, "mylib::twice", with the function that computes it. As
// `torch.library.custom_op`. The schema is the one that is given, "(Tensor x, int n=1) -> Tensor",
// or that of the function's C++ types. To name the kernels later there is CustomOp(name, schema).
//
// Throws ValueError for a name without a namespace, a schema with a name, options that do not fit
// (infer_schema(), CustomOpOptions); RuntimeError where the operator exists already, the schema
// does not parse, or the function does not fit it.
template <class F>
CustomOp custom_op(std::string_view name, std::string_view schema, F function,
                   const CustomOpOptions& options = {},
                   SourceLocation where = SourceLocation::current());
template <class F>
requires(!std::is_convertible_v<F, std::string_view>) CustomOp
    custom_op(std::string_view name, F function, const CustomOpOptions& options = {},
              SourceLocation where = SourceLocation::current());

// The free functions of registration.h, register_fake.h and register_autograd.h, for such an
// object.
template <class F>
void impl(CustomOp& op, const KernelTypes& types, F kernel,
          SourceLocation where = SourceLocation::current()) {
  op.impl(types, std::move(kernel), where);
}
template <class F>
void register_kernel(CustomOp& op, const KernelTypes& types, F kernel,
                     SourceLocation where = SourceLocation::current()) {
  op.register_kernel(types, std::move(kernel), where);
}
template <class F>
void register_kernel(CustomOp& op, F kernel, SourceLocation where = SourceLocation::current()) {
  op.register_kernel(std::move(kernel), where);
}
template <class F>
void register_fake(CustomOp& op, F rule, SourceLocation where = SourceLocation::current()) {
  op.register_fake(std::move(rule), where);
}
inline void register_autograd(CustomOp& op, BackwardFunction backward,
                              SetupContext setup_context = {},
                              SourceLocation where = SourceLocation::current()) {
  op.register_autograd(std::move(backward), std::move(setup_context), where);
}
inline void register_autocast(CustomOp& op, std::string_view device_type, DType cast_inputs,
                              SourceLocation where = SourceLocation::current()) {
  op.register_autocast(device_type, cast_inputs, where);
}
inline void register_vmap(CustomOp& op, VmapRule rule,
                          SourceLocation where = SourceLocation::current()) {
  op.register_vmap(std::move(rule), where);
}
template <class Mode, class F>
void register_torch_dispatch(CustomOp& op, F rule,
                             SourceLocation where = SourceLocation::current()) {
  op.register_torch_dispatch<Mode>(std::move(rule), where);
}
inline void register_effect(CustomOp& op, Effect effect,
                            SourceLocation where = SourceLocation::current()) {
  op.register_effect(effect, where);
}

namespace internal {
// The schema of a kernel by its C++ types. Throws ValueError for a boxed one, which has none.
std::string schema_of_kernel(std::string_view op, const KernelFunction& kernel,
                             const CustomOpOptions& options);
}  // namespace internal

template <class F>
CustomOp custom_op(std::string_view name, std::string_view schema, F function,
                   const CustomOpOptions& options, SourceLocation where) {
  return {name, schema, std::move(function), options, where};
}

template <class F>
requires(!std::is_convertible_v<F, std::string_view>) CustomOp
    custom_op(std::string_view name, F function, const CustomOpOptions& options,
              SourceLocation where) {
  const std::string schema = internal::schema_of_kernel(name, make_kernel(function), options);
  CustomOpOptions others = options;
  others.arguments = {};
  others.mutates_unknown = false;
  return custom_op(name, schema, std::move(function), others, where);
}

}  // namespace sb

#endif  // SWITCHBOARD_CUSTOM_OPS_CUSTOM_OP_H_
