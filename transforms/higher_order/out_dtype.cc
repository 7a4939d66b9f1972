#include "switchboard/transforms/higher_order/out_dtype.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/objects/registration.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/elementwise.h"
#include "switchboard/ops/cpu/tensor_iterator.h"

namespace sb {
namespace {

constexpr std::string_view kName = "higher_order::out_dtype";
constexpr const char* kAllowed[] = {"aten::conv2d",     "aten::convolution", "aten::div.Scalar",
                                    "aten::div.Tensor", "aten::linear",      "aten::mm",
                                    "aten::mul.Scalar", "aten::mul.Tensor"};

std::vector<IValue> compose(const std::vector<IValue>& arguments) {
  SB_CHECK_TYPE(arguments[0].is_String(), kName, ": op: expected the name of an operator, got ",
                arguments[0].tag_name());
  SB_CHECK_TYPE(arguments[1].is_DType(), kName, ": output_dtype: expected a dtype, got ",
                arguments[1].tag_name());
  SB_CHECK_TYPE(arguments[2].is_List() || arguments[2].is_TensorList(), kName,
                ": args: expected a list, got ", arguments[2].tag_name());
  const std::string name(arguments[0].to_string_view());
  SB_CHECK_VALUE(std::ranges::find(kAllowed, name) != std::end(kAllowed), kName,
                 ": op: expected one of ", absl::StrJoin(kAllowed, ", "), "; got ", name);
  const DType dtype = arguments[1].to_dtype();
  std::vector<IValue> args;
  if (arguments[2].is_List())
    args.assign(arguments[2].to_list().begin(), arguments[2].to_list().end());
  else
    args.assign(arguments[2].to_tensor_list().begin(), arguments[2].to_tensor_list().end());
  std::vector<Tensor> tensors;
  for (const IValue& arg : args) {
    if (arg.is_scalar() && !arg.is_symbolic())
      tensors.push_back(wrapped_scalar_tensor(arg.to_scalar()));
    arg.for_each_tensor([&](const Tensor& t) {
      if (t.defined()) tensors.push_back(t);
    });
  }
  std::vector<const Tensor*> all;
  for (const Tensor& t : tensors) all.push_back(&t);
  // The dtype outranks tensors without dimensions.
  const DType common = promote_types(all.empty() ? dtype : result_type(all), dtype);
  for (IValue& arg : args)
    if (arg.is_Tensor() && arg.to_tensor().defined())
      arg = to_dtype(arg.to_tensor(), common, false, false, std::nullopt);
  const std::vector<IValue> results = lookup_op(name).call(std::move(args));
  return {to_dtype(results.at(0).to_tensor(), dtype, false, false, std::nullopt)};
}

const higher_order::ComposedHop& hop() {
  // Never destroyed: calls may come while the program ends.
  static const auto* const hop = new higher_order::ComposedHop(
      {.name = "out_dtype", .parameters = {"op", "output_dtype", "args"}, .compose = compose});
  return *hop;
}

// So that it is found by its name from the start.
[[maybe_unused]] const auto& out_dtype_at_start = hop();

}  // namespace

HigherOrderOperator& out_dtype_op() { return hop().op(); }

Tensor out_dtype(const std::string& op, DType output_dtype, std::vector<IValue> args) {
  return out_dtype_op()({op, output_dtype, std::move(args)}).at(0).to_tensor();
}

}  // namespace sb
