#include "switchboard/transforms/higher_order/auto_functionalized.h"

#include <algorithm>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/control_flow/control_flow.h"
#include "switchboard/transforms/higher_order/composed_hop.h"
#include "switchboard/transforms/higher_order/functional_op.h"

namespace sb {
namespace {

using higher_order::NamedValue;
using higher_order::NamedValues;
using Tensors = std::vector<Tensor>;

constexpr std::string_view kName = "higher_order::auto_functionalized";
constexpr std::string_view kNameV2 = "higher_order::auto_functionalized_v2";

// Whether what the operator does to clones is all that it does to its arguments.
bool can_be_functional(const OpOverload& op) {
  const FunctionSchema& schema = op.schema();
  if (!schema.is_mutable() || op.tags().has(Tag::inplace_view)) return false;
  const auto written_tensors = [](const Argument& a) {
    return !a.is_write() || a.type.has_tensor();
  };
  if (!std::ranges::all_of(schema.arguments, written_tensors)) return false;
  const bool gives_what_it_writes = op.tags().has(Tag::inplace) || op.tags().has(Tag::out);
  return std::ranges::all_of(schema.returns, [&](const Return& r) {
    return r.type.has_tensor() && (!r.alias || gives_what_it_writes);
  });
}

OpOverload operator_of(std::string_view who, const IValue& name) {
  OpOverload op = higher_order::named_op(who, name);
  SB_CHECK(can_be_functional(op), who,
           ": op: expected an operator that writes to tensors, not to their shapes, and gives new "
           "ones or is tagged inplace or out, got ",
           op.schema().to_string());
  return op;
}

void append(const IValue& value, std::vector<IValue>* tensors) {
  value.for_each_tensor([&](const Tensor& t) { tensors->emplace_back(t); });
}

// What the operator gives, its tensors one by one.
std::vector<IValue> call(const OpOverload& op, std::vector<NamedValue> arguments) {
  std::vector<IValue> tensors;
  for (const IValue& result : op.call({}, std::move(arguments))) append(result, &tensors);
  return tensors;
}

// A copy of a tensor and of the memory before it: views lie in it as in the tensor's own.
Tensor clone_memory(const Tensor& t) {
  const SymInt offset = t.sym_storage_offset();
  if (t.is_contiguous() && offset == 0) return clone(t);
  SymInt length = offset;
  if (t.sym_numel() != 0) {
    length = length + 1;
    for (int64_t d = 0; d < t.dim(); ++d) length = length + (t.sym_size(d) - 1) * t.sym_stride(d);
  }
  const Tensor memory = as_strided(t, std::vector<SymInt>{length}, {1}, SymInt(0));
  return as_strided(clone(memory), t.sym_sizes(), t.sym_strides(), offset);
}

// Clones do not share memory: what is written to one of two tensors that do would be missing in the
// other.
void check_apart(std::string_view who, const std::vector<std::pair<std::string, Tensor>>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      SB_CHECK(!tensors[i].second.is_alias_of(tensors[k].second), who, ": ", tensors[k].first,
               " and ", tensors[i].first,
               " share memory, which clones of them would not; expected views of one base "
               "(auto_functionalized_v2)");
}

IValue clone_each(const IValue& value) {
  if (value.is_Tensor()) return clone_memory(value.to_tensor());
  if (value.is_TensorList()) {
    Tensors clones;
    for (const Tensor& t : value.to_tensor_list()) clones.push_back(clone_memory(t));
    return clones;
  }
  if (!value.is_List()) return value;  // None
  std::vector<IValue> clones;
  for (const IValue& item : value.to_list()) clones.push_back(clone_each(item));
  return clones;
}

std::vector<IValue> compose(const std::vector<IValue>& arguments) {
  const OpOverload op = operator_of(kName, arguments[0]);
  NamedValues kwargs(kName, "kwargs", arguments[1]);
  std::vector<NamedValue> written;
  std::vector<IValue> clones;
  std::vector<std::pair<std::string, Tensor>> given;
  for (const Argument& argument : op.schema().arguments) {
    if (!argument.is_write()) continue;
    const IValue value = kwargs.expect(argument.name);
    value.for_each_tensor(
        [&](const Tensor& t) { given.emplace_back(str_cat("'", argument.name, "'"), t); });
    written.emplace_back(argument.name, clone_each(value));
    append(written.back().second, &clones);
  }
  check_apart(kName, given);
  std::vector<NamedValue> all = std::move(kwargs).rest();
  all.insert(all.end(), written.begin(), written.end());
  std::vector<IValue> results = call(op, std::move(all));
  results.insert(results.end(), clones.begin(), clones.end());
  return results;
}

// f of a value. Errors name it.
template <class F>
auto read(std::string_view name, const IValue& value, F f) {
  try {
    return f(value);
  } catch (const Error& error) {
    rethrow_with_context(error, str_cat(kNameV2, ": kwargs: '", name, "': "));
  }
}
int64_t int_in(std::string_view name, const IValue& value) {
  return read(name, value, [](const IValue& v) { return v.to_int(); });
}
SymInt sym_int_in(std::string_view name, const IValue& value) {
  return read(name, value, [](const IValue& v) { return v.to_sym_int(); });
}

std::vector<SymInt> numbers_of(const IValue& list) {
  if (!list.is_List()) {
    const SymIntArrayRef numbers = list.to_sym_int_list();
    return {numbers.begin(), numbers.end()};
  }
  std::vector<SymInt> numbers;
  for (const IValue& item : list.to_list()) numbers.push_back(item.to_sym_int());
  return numbers;
}

std::vector<SymInt> sym_ints_in(std::string_view name, const IValue& value) {
  return read(name, value, numbers_of);
}

// The views of bases that arguments are.
class Views {
 public:
  Views(NamedValues* kwargs, const Tensors& bases) : kwargs_(*kwargs), bases_(bases) {}

  IValue of(const Argument& argument) {
    const std::string prefix = str_cat("_", argument.name);
    if (!argument.type.is_list()) return one(prefix);
    const std::string name = prefix + "_length";
    const IValue value = kwargs_.expect(name);
    if (value.is_None()) return value;
    const int64_t length = int_in(name, value);
    SB_CHECK_VALUE(length >= 0, kNameV2, ": kwargs: '", name,
                   "': expected a number that is not negative, got ", length);
    std::vector<IValue> views;
    for (int64_t i = 0; i < length; ++i) views.push_back(one(str_cat(prefix, "_", i)));
    return views;
  }

 private:
  IValue one(const std::string& prefix) {
    const IValue index = kwargs_.expect(prefix + "_base_index");
    if (index.is_None()) return index;
    const int64_t i = int_in(prefix + "_base_index", index),
                  count = static_cast<int64_t>(bases_.size());
    SB_CHECK_INDEX(0 <= i && i < count, kNameV2, ": kwargs: '", prefix,
                   "_base_index': expected the place of one of ", count, " bases, got ", i);
    const Tensor& base = bases_[static_cast<size_t>(i)];
    if (kwargs_.take(prefix + "_alias")) return alias(base);
    if (const std::optional<IValue> offset = kwargs_.take(prefix + "_storage_offset")) {
      const std::vector<SymInt> size = take_numbers(prefix + "_size");
      const std::vector<SymInt> stride = take_numbers(prefix + "_stride");
      const SymInt start = sym_int_in(prefix + "_storage_offset", *offset);
      return read(prefix, base,
                  [&](const IValue&) { return as_strided(base, size, stride, start); });
    }
    if (const std::optional<IValue> dim = kwargs_.take(prefix + "_slice_dim")) {
      const SymInt start = take_number(prefix + "_slice_start");
      const SymInt end = take_number(prefix + "_slice_end");
      const int64_t d = int_in(prefix + "_slice_dim", *dim);
      return read(prefix + "_slice_dim", base,
                  [&](const IValue&) { return slice(base, d, start, end); });
    }
    return base;
  }

  SymInt take_number(const std::string& name) { return sym_int_in(name, kwargs_.expect(name)); }
  std::vector<SymInt> take_numbers(const std::string& name) {
    return sym_ints_in(name, kwargs_.expect(name));
  }

  NamedValues& kwargs_;
  const Tensors& bases_;
};

// What an operator that is tagged out is given to write to.
Tensor empty_out(NamedValues* kwargs, const std::string& name) {
  const std::string prefix = str_cat("_", name);
  const auto take = [&](std::string_view what, auto f) {
    const std::string full = str_cat(prefix, what);
    return read(full, kwargs->expect(full), f);
  };
  const std::vector<SymInt> size = take("_size", numbers_of);
  const std::vector<SymInt> stride = take("_stride", numbers_of);
  const DType dtype = take("_dtype", [](const IValue& v) { return v.to_dtype(); });
  const Device device = take("_device", [](const IValue& v) { return v.to_device(); });
  return empty_strided(size, stride, dtype, std::nullopt, device);
}

std::vector<IValue> compose_v2(const std::vector<IValue>& arguments) {
  const OpOverload op = operator_of(kNameV2, arguments[0]);
  NamedValues kwargs(kNameV2, "kwargs", arguments[1]);
  const Tensors given = control_flow::tensors_of(kNameV2, "_all_bases", arguments[2]);
  const bool is_out = op.tags().has(Tag::out);
  SB_CHECK(!is_out || given.empty(), kNameV2, ": _all_bases: expected none for ", op.name(),
           ", which is tagged out, got ", given.size());
  Tensors bases;
  std::vector<std::pair<std::string, Tensor>> named;
  for (const Tensor& base : given) {
    named.emplace_back(str_cat("base ", bases.size()), base);
    bases.push_back(clone_memory(base));
  }
  check_apart(kNameV2, named);
  Views views(&kwargs, bases);
  std::vector<NamedValue> written;
  for (const Argument& argument : op.schema().arguments)
    if (argument.is_write())
      written.emplace_back(argument.name,
                           is_out ? empty_out(&kwargs, argument.name) : views.of(argument));
  std::vector<NamedValue> all = std::move(kwargs).rest();
  all.insert(all.end(), written.begin(), written.end());
  std::vector<IValue> results = call(op, std::move(all));
  results.insert(results.end(), bases.begin(), bases.end());
  return results;
}

const higher_order::ComposedHop& hop() {
  // Never destroyed: calls may come while the program ends.
  static const auto* const hop = new higher_order::ComposedHop(
      {.name = "auto_functionalized", .parameters = {"op", "kwargs"}, .compose = compose});
  return *hop;
}
const higher_order::ComposedHop& hop_v2() {
  static const auto* const hop =
      new higher_order::ComposedHop({.name = "auto_functionalized_v2",
                                     .parameters = {"op", "kwargs", "_all_bases"},
                                     .compose = compose_v2});
  return *hop;
}

// So that they are found by their names from the start.
[[maybe_unused]] const auto& at_start = hop();
[[maybe_unused]] const auto& v2_at_start = hop_v2();

}  // namespace

HigherOrderOperator& auto_functionalized_op() { return hop().op(); }
HigherOrderOperator& auto_functionalized_v2_op() { return hop_v2().op(); }

std::vector<Tensor> auto_functionalized(const std::string& op,
                                        const std::vector<NamedValue>& kwargs) {
  return control_flow::tensors_of(kName, "results",
                                  auto_functionalized_op()({op, higher_order::pairs_of(kwargs)}));
}

std::vector<Tensor> auto_functionalized_v2(const std::string& op,
                                           const std::vector<NamedValue>& kwargs,
                                           std::vector<Tensor> all_bases) {
  return control_flow::tensors_of(
      kNameV2, "results",
      auto_functionalized_v2_op()({op, higher_order::pairs_of(kwargs), std::move(all_bases)}));
}

}  // namespace sb
