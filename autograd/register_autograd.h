// A gradient for an operator that is known by name, as `torch.library.register_autograd` gives it.
//
//   register_autograd(
//       "mylib::scale",  // (Tensor x, float factor) -> Tensor
//       [](FunctionContext& ctx, const Tensor& grad) {
//         return std::vector<Tensor>{mul(grad, ctx.get("factor").to_scalar()), Tensor()};
//       },
//       [](FunctionContext& ctx, const CallValues& inputs, const CallValues&) {
//         ctx.set("factor", inputs["factor"]);
//       });

#ifndef SWITCHBOARD_AUTOGRAD_REGISTER_AUTOGRAD_H_
#define SWITCHBOARD_AUTOGRAD_REGISTER_AUTOGRAD_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/autograd/backward_function.h"
#include "switchboard/autograd/function_context.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/registration.h"
#include "switchboard/dispatch/registration_handle.h"

namespace sb {

// The arguments or the results of a call, by their place or their name in the schema. Results often
// have no name there. Valid as long as setup_context runs.
class CallValues {
 public:
  CallValues(std::string_view op, absl::Span<const IValue> values,
             absl::Span<const std::string_view> names)
      : op_(op), values_(values), names_(names) {}

  size_t size() const { return values_.size(); }
  absl::Span<const IValue> values() const { return values_; }
  // Throw IndexError, ValueError naming the operator where there is none.
  const IValue& operator[](size_t index) const;
  const IValue& operator[](std::string_view name) const;
  // Throw TypeError also, for a value that is no tensor.
  const Tensor& tensor(size_t index) const { return (*this)[index].to_tensor(); }
  const Tensor& tensor(std::string_view name) const { return (*this)[name].to_tensor(); }

 private:
  std::string_view op_;
  absl::Span<const IValue> values_;
  absl::Span<const std::string_view> names_;
};

// Runs when a call is recorded, after the operator: it puts into the context what backward reads. A
// function, lambda or functor that takes (ctx, inputs, output), and for an operator with
// keyword-only arguments (ctx, inputs, keyword_only_inputs, output), the last three as `const
// CallValues&`. What it computes is not recorded.
class SetupContext {
 public:
  SetupContext() = default;
  template <class F>
  requires(!std::is_same_v<std::decay_t<F>, SetupContext>) SetupContext(F f) {  // NOLINT
    using Values = const CallValues&;
    internal::check_not_empty(f);
    if constexpr (std::is_invocable_v<F, FunctionContext&, Values, Values, Values>) {
      takes_keywords_ = true;
      call_ = std::move(f);
    } else {
      static_assert(std::is_invocable_v<F, FunctionContext&, Values, Values>,
                    "setup_context: expected (FunctionContext&, const CallValues& inputs, [const "
                    "CallValues& keyword_only_inputs,] const CallValues& output)");
      call_ = [f = std::move(f)](FunctionContext& ctx, Values inputs, Values, Values output) {
        f(ctx, inputs, output);
      };
    }
  }

  explicit operator bool() const { return call_ != nullptr; }
  bool takes_keywords() const { return takes_keywords_; }
  void operator()(FunctionContext& ctx, const CallValues& inputs, const CallValues& keyword_only,
                  const CallValues& output) const {
    call_(ctx, inputs, keyword_only, output);
  }

 private:
  bool takes_keywords_ = false;
  std::function<void(FunctionContext&, const CallValues&, const CallValues&, const CallValues&)>
      call_;
};

// Gives an operator a gradient: a kernel at Autograd that records a node where recording is on and
// an input requires a gradient, and calls the operator below autograd. The operator exists already.
// `backward` gives a gradient for each input, that is for each positional argument; it may leave
// out those behind the last that is not its default. Both functions may run on several threads at
// once. The newest gradient counts, and when it goes, the one before.
//
// Throws RuntimeError with the schema for an operator that writes to its arguments or is an out=
// form, returns views of them (except one view of its only tensor), or returns nothing, and for one
// that is composed of others (CompositeImplicitAutograd), which have gradients;
// NotImplementedError with the schema for one with keyword-only tensors; RuntimeError for a
// `backward` or `setup_context` whose parameters do not fit the schema; what lookup_op() throws. A
// call throws what the functions throw, backward RuntimeError that names the operator for the wrong
// number of gradients.
//
// The gradient goes with the handle, or, in the second form, with the library.
RegistrationHandle register_autograd(const OpIdentifier& op, BackwardFunction backward,
                                     SetupContext setup_context = {},
                                     SourceLocation where = SourceLocation::current());
void register_autograd(const OpIdentifier& op, BackwardFunction backward,
                       SetupContext setup_context, Library& lib,
                       SourceLocation where = SourceLocation::current());

}  // namespace sb

#endif  // SWITCHBOARD_AUTOGRAD_REGISTER_AUTOGRAD_H_
