// The out= form of any operator, derived from its schema when the program starts: a boxed kernel
// that calls the functional form and copies its results. As the out= kernels that PyTorch
// generates.
//
//   define_out_form(m, m.define(native_dropout), "out");   // native_dropout.out(..., out0, out1)
//
// For operators whose functional form has a kernel or is composed of others, and that have nothing
// to gain from writing to `out` themselves. Where the C++ handle of the out= form is wanted,
// declare it and use define_out_by_copy or define_structured.

#ifndef SWITCHBOARD_OPS_DEFINE_OUT_FORM_H_
#define SWITCHBOARD_OPS_DEFINE_OUT_FORM_H_

#include <string>
#include <string_view>
#include <vector>

#include "switchboard/dispatch/library.h"

namespace sb {

// Defines "<name>.<overload>" with `functional`'s arguments and, behind them, the keyword-only
// outs, and registers it at CompositeExplicitAutograd. Arguments that say how a new tensor is to be
// made (dtype, layout, device, pin_memory) are left out: out says it. Without names, one out is
// called "out" and several "out0", "out1", ... A result that is a list of tensors has a list of
// outs, and the form then returns nothing, as PyTorch's. Calls throw RuntimeError, changing
// nothing, where an out cannot take its result (see copy_result_to_out). RuntimeError where
// `functional` writes to an argument or returns other things than tensors.
OperatorHandle define_out_form(Library& m, const OperatorHandle& functional,
                               std::string_view overload, std::vector<std::string> outs = {},
                               SourceLocation where = SourceLocation::current());

// Out= forms that PyTorch does not generate differ in what they ask of an out.
struct OutFormOptions {
  // As a structured operator's: RuntimeError for another dtype than the result's, and an out of
  // another shape gets the strides of the result, too.
  bool structured = false;
  // The result is broadcast to out: RuntimeError where it does not fit.
  bool keep_shape = false;
  // CompositeImplicitAutograd for the out= form of such an operator.
  DispatchKey key = DispatchKey::CompositeExplicitAutograd;
};
OperatorHandle define_out_form(Library& m, const OperatorHandle& functional,
                               std::string_view overload, std::vector<std::string> outs,
                               OutFormOptions options,
                               SourceLocation where = SourceLocation::current());

}  // namespace sb

#endif  // SWITCHBOARD_OPS_DEFINE_OUT_FORM_H_
