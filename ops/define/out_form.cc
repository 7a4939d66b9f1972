#include "switchboard/ops/define/out_form.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "switchboard/core/memory_overlap.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/define/out_by_copy.h"
#include "switchboard/ops/shape/resize.h"

namespace sb {
namespace {

bool is_creation_option(const Argument& a) {
  return a.kwarg_only &&
         (a.name == "dtype" || a.name == "layout" || a.name == "device" || a.name == "pin_memory");
}

// A functional operator whose creation options come from out, as empty's do.
bool takes_options(const FunctionSchema& schema) {
  return std::ranges::any_of(schema.arguments, [](const Argument& a) {
    return a.name == "pin_memory" && is_creation_option(a);
  });
}

FunctionSchema out_schema_of(const FunctionSchema& functional, std::string_view overload,
                             std::vector<std::string> outs) {
  const std::string name = functional.name.to_string();
  SB_CHECK(!functional.is_mutable(), name,
           ": an operator that writes to an argument has no out= form");
  FunctionSchema schema = functional;
  schema.name.overload = overload;
  if (takes_options(functional)) std::erase_if(schema.arguments, is_creation_option);
  const size_t n = functional.returns.size();
  for (size_t i = 0; outs.size() < n; ++i)
    outs.push_back(n == 1 ? "out" : "out" + std::to_string(i));
  bool lists = false;
  for (size_t i = 0; i < n; ++i) {
    const Type& type = functional.returns[i].type;
    SB_CHECK(base_of(type.code()) == BaseType::Tensor, name, ": its result ", i, " is no tensor");
    const std::string set(1, static_cast<char>('a' + i));
    const AliasInfo alias{{set}, {set}, true, 0};
    schema.arguments.push_back({outs[i], type, alias, std::nullopt, /*kwarg_only=*/true});
    schema.returns[i].alias = alias;
    lists |= type.code() != type_code(BaseType::Tensor);
  }
  if (lists) schema.returns.clear();
  return schema;
}

class OutForm {
 public:
  OutForm(OperatorHandle functional, std::vector<bool> from_out, OutFormOptions options)
      : functional_(functional), from_out_(std::move(from_out)), options_(options) {}

  void operator()(const OperatorHandle& op, DispatchKeySet, Stack* stack) const {
    const FunctionSchema& schema = op.schema();
    const size_t first = stack->size() - schema.arguments.size();
    const size_t inputs = static_cast<size_t>(std::ranges::count(from_out_, false));
    const auto begin = stack->begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<IValue> outs(begin + static_cast<std::ptrdiff_t>(inputs), stack->end());
    Stack call;
    for (size_t i = 0, from = first; i < from_out_.size(); ++i) {
      if (from_out_[i]) {
        call.push_back(option(functional_.schema().arguments[i].name, outs[0]));
      } else {
        call.push_back((*stack)[from++]);
      }
    }
    functional_.call_boxed(&call);
    write(op, call, outs);
    stack->resize(first);
    if (!schema.returns.empty()) stack->insert(stack->end(), outs.begin(), outs.end());
  }

 private:
  static IValue option(std::string_view name, const IValue& out) {
    if (!out.is_Tensor() || !out.to_tensor().defined()) return {};
    const Tensor& t = out.to_tensor();
    if (name == "dtype") return t.dtype();
    if (name == "device") return t.device();
    return {};
  }
  void check_fits(std::string_view name, const Tensor& result, const Tensor& out) const {
    check_result_fits_out(name, result, out);
    SB_CHECK(!options_.structured || out.dtype() == result.dtype(), name,
             ": expected out tensor to have dtype ", to_string(result.dtype()), ", but got ",
             to_string(out.dtype()));
    if (!options_.keep_shape) return;
    SB_CHECK(IntArrayRef(broadcast_shapes(out.sizes(), result.sizes())) == out.sizes(), name,
             ": out ", out.describe(), " does not match the broadcast shape of ",
             result.describe());
    check_no_internal_overlap(out);
  }
  void write(const OperatorHandle& op, const Stack& results,
             const std::vector<IValue>& outs) const {
    const std::string name = op.schema().name.to_string();
    std::vector<ResultAndOut> pairs;
    const auto add = [&](const Tensor& result, const Tensor& out) {
      if (!result.defined()) return;
      check_fits(name, result, out);
      pairs.emplace_back(result, out);
    };
    for (size_t i = 0; i < outs.size(); ++i) {
      if (!outs[i].is_TensorList()) {
        add(results[i].to_tensor(), outs[i].to_tensor());
        continue;
      }
      const TensorList from = results[i].to_tensor_list(), to = outs[i].to_tensor_list();
      SB_CHECK(from.size() == to.size(), name, ": expected ", from.size(), " outs, got ",
               to.size());
      for (size_t k = 0; k < from.size(); ++k) add(from[k], to[k]);
    }
    if (!options_.keep_shape) return copy_results_to_outs(name, pairs, options_.structured);
    for (const auto& [result, out] : pairs) copy_(out, result);
  }

  OperatorHandle functional_;
  // Of each argument of the functional form, whether it is taken from out.
  std::vector<bool> from_out_;
  OutFormOptions options_;
};

}  // namespace

OperatorHandle define_out_form(Library& m, const OperatorHandle& functional,
                               std::string_view overload, std::vector<std::string> outs,
                               SourceLocation where) {
  return define_out_form(m, functional, overload, std::move(outs), OutFormOptions(), where);
}
OperatorHandle define_out_form(Library& m, const OperatorHandle& functional,
                               std::string_view overload, std::vector<std::string> outs,
                               OutFormOptions options, SourceLocation where) {
  const FunctionSchema& from = functional.schema();
  const bool creates = takes_options(from);
  std::vector<bool> from_out;
  for (const Argument& a : from.arguments) from_out.push_back(creates && is_creation_option(a));
  const OperatorHandle out = m.define(out_schema_of(from, overload, std::move(outs)).to_string(),
                                      functional.entry().tags(), where);
  m.impl(out, options.key, OutForm(functional, std::move(from_out), options), where);
  return out;
}

}  // namespace sb
