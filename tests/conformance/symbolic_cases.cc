#include "switchboard/tests/conformance/symbolic_cases.h"

#include <algorithm>
#include <map>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/tests/conformance/call_check.h"
#include "switchboard/tests/conformance/symbolic_inputs.h"
#include "switchboard/tests/conformance/symbolic_traced.h"

namespace sb::conformance {
namespace {

using Ints = std::vector<int64_t>;

// Which sizes only data will tell.
enum class Unbacked : uint8_t { None, First, All };

struct Way {
  std::string_view name;
  Unbacked unbacked = Unbacked::None;
  std::string_view recorded_as = {};  // of unbacked ones
  bool checked = false;               // stated to be at least 2
  bool backward = false;
};
constexpr Way kWays[] = {
    {.name = "symbolic"},
    {.name = "backward", .backward = true},
    {.name = "unbacked", .unbacked = Unbacked::All, .recorded_as = "all checked", .checked = true},
    {.name = "unbacked_bare", .unbacked = Unbacked::All, .recorded_as = "all"},
    {.name = "unbacked_first",
     .unbacked = Unbacked::First,
     .recorded_as = "first checked",
     .checked = true},
    {.name = "unbacked_first_bare", .unbacked = Unbacked::First, .recorded_as = "first"},
};

constexpr std::string_view kTraced = "symbolic_traced", kTracedBackward = "backward_traced";

class SymbolicCall {
 public:
  SymbolicCall(const Json& json, const OperatorHandle& op, const Way& way,
               const Dispatcher& dispatcher)
      : json_(json),
        op_(op),
        way_(way),
        dispatcher_(dispatcher),
        env_(ShapeEnv::create({.duck_shape = false})),
        mode_({.shape_env = env_}) {
    // Integers may be made of the sizes of tensors that come after them.
    for_each_argument(json_, [&](const Json& value, const std::string& path) {
      if (is_tensor_value(value)) tensors_[path] = build_tensors(value, path);
    });
    for_each_argument(json_, [&](const Json& value, const std::string& path) {
      IValue argument = tensors_.contains(path) ? tensors_[path] : number(value);
      if (path.starts_with("args."))
        positional_.push_back(std::move(argument));
      else
        keyword_.emplace_back(path.substr(path.find('.') + 1), std::move(argument));
    });
  }

  Outcome check() {
    // Where PyTorch was not asked, it is to work all the same: but what PyTorch refuses with more
    // symbols at hand, or without gradients, may be refused.
    const std::optional<std::string> asked = verdict_of(way_);
    if (asked == "no input") return Outcome::skipped("no such input");
    const std::string verdict =
        asked ? *asked : verdict_of(way_.backward ? kWays[0] : kWays[2]).value_or("not recorded");
    const bool torch_refuses = verdict == "raised" || verdict == "data dependent";
    try {
      FakeTensorModeGuard active(mode_);
      if (way_.backward) {
        make_leaves();
        if (op_.schema().is_mutable()) write_to_copies();
      }
      for (const IValue& result : op_.call(positional_, keyword_)) flatten(result);
      if (way_.backward) go_backward();
    } catch (const Error& error) {
      if (torch_refuses) return Outcome::skipped("refused, as by PyTorch", error.what());
      if (way_.backward && !asked) return Outcome::skipped("no gradient, nor one of PyTorch");
      return Outcome::failed(
          str_cat("raised ", error.kind(), ": ", error.what(), guards_text(*env_)));
    }
    if (std::optional<Outcome> pinned = pinned_size(verdict)) return *pinned;
    for (const Json& binding : json_.at("bindings")) {
      if (Difference d = at(binding.at("sizes").get<Ints>(), binding.at("returns"))) {
        return Outcome::failed(
            str_cat("at ", binding.at("sizes").dump(), ": ", *d, guards_text(*env_)));
      }
    }
    return Outcome::passed();
  }

 private:
  // "kept", "works", ...; nullopt where PyTorch was not asked.
  std::optional<std::string> verdict_of(const Way& way) const {
    const Json* torch = &json_.at("torch");
    const auto enter = [&](std::string_view name) {
      const auto found = torch->find(name);
      torch = found == torch->end() ? nullptr : &*found;
      return torch != nullptr;
    };
    if (way.unbacked == Unbacked::None) {
      if (!enter(way.backward ? "backward" : "symbolic")) return std::nullopt;
    } else if (!enter("unbacked") || !enter(way.recorded_as)) {
      return std::nullopt;
    }
    return torch->at("verdict").get<std::string>();
  }

  std::optional<Outcome> pinned_size(const std::string& verdict) const {
    for (const Json& c : json_.at("varies")) {
      for (const Json& place : json_.at("classes").at(c.get<size_t>())) {
        if (!size_at(place).maybe_int()) continue;
        if (verdict == "specialised" || verdict == "works, pinned" || verdict == "raised")
          return Outcome::skipped("pinned, as by PyTorch");
        return Outcome::failed(str_cat("pinned ", place.dump(), guards_text(*env_)));
      }
    }
    return std::nullopt;
  }

  // Floating-point arguments get gradients.
  void make_leaves() {
    for (const auto& [path, value] : tensors_) {
      const auto make_leaf = [&](const Tensor& t) {
        if (!t.defined() || !(is_floating_point(t.dtype()) || is_complex(t.dtype()))) return;
        set_requires_grad(t);
        leaves_.push_back(t);
      };
      if (value.is_Tensor()) make_leaf(value.to_tensor());
      if (value.is_TensorList())
        for (const Tensor& t : value.to_tensor_list()) make_leaf(t);
    }
  }

  // What the operator writes to is no leaf, but a copy of one.
  void write_to_copies() {
    const OperatorHandle clone = op_named("aten::clone");
    const auto copied = [&](const Tensor& t) {
      return requires_grad(t) ? clone.call({t}, {})[0].to_tensor() : t;
    };
    const auto copy = [&](IValue& value) {
      if (value.is_Tensor() && value.to_tensor().defined()) value = copied(value.to_tensor());
      if (!value.is_TensorList()) return;
      std::vector<Tensor> list;
      for (const Tensor& t : value.to_tensor_list()) list.push_back(copied(t));
      value = IValue(std::move(list));
    };
    const std::vector<Argument>& declared = op_.schema().arguments;
    for (size_t i = 0; i < positional_.size(); ++i)
      if (declared[i].is_write()) copy(positional_[i]);
    for (auto& [name, value] : keyword_)
      if (const auto i = op_.schema().find_argument(name); i && declared[*i].is_write())
        copy(value);
  }

  // As from the sum of all results: a gradient of ones, expanded.
  void go_backward() {
    const OperatorHandle new_ones = op_named("aten::new_ones"), expand = op_named("aten::expand");
    std::vector<Tensor> roots, grads;
    for (const IValue& result : results_) {
      if (!result.is_Tensor() || !result.to_tensor().defined()) continue;
      const Tensor& t = result.to_tensor();
      if (!requires_grad(t)) continue;
      const SymIntArrayRef sizes = t.sym_sizes();
      const Tensor one = new_ones.call({t, std::vector<SymInt>()}, {})[0].to_tensor();
      roots.push_back(t);
      grads.push_back(
          expand.call({one, std::vector<SymInt>(sizes.begin(), sizes.end())}, {})[0].to_tensor());
    }
    if (!roots.empty()) backward(roots, grads, {.inputs = leaves_});
  }
  OperatorHandle op_named(std::string_view name) const {
    const std::optional<OperatorHandle> op = dispatcher_.find_op(name);
    if (!op) throw Unsupported("the operator is not registered", std::string(name));
    return *op;
  }

  IValue build_tensors(const Json& value, const std::string& path) {
    if (value.contains("tensor"))
      return value["tensor"].is_null() ? IValue() : IValue(build(value["tensor"], path));
    std::vector<std::optional<Tensor>> list;
    bool all = true;
    for (const Json& item : value.at("tensors")) {
      const std::string item_path = str_cat(path, ".", list.size());
      all &= !item.is_null();
      list.push_back(item.is_null() ? std::nullopt : std::optional(build(item, item_path)));
    }
    if (!all) return list;
    std::vector<Tensor> plain;
    for (const std::optional<Tensor>& t : list) plain.push_back(*t);
    return plain;
  }

  Tensor build(const Json& json, const std::string& path) {
    Json with_offset = json;
    with_offset["offset"] = 0;
    const TensorSpec spec = read_tensor_spec(with_offset);
    if (way_.unbacked != Unbacked::None) return build_unbacked(spec, path);
    const Tensor real = empty_strided_on(DeviceType::CPU, spec.shape, spec.stride, spec.dtype);
    // The one number that a fake run may know.
    if (spec.shape.empty() && spec.dtype == DType::Int64) {
      const int64_t number = json.contains("cycle") ? json["cycle"].at(0).get<int64_t>() : 1;
      *real.data<int64_t>() = number;
      inputs_.add_number(path + ".item()", number);
    }
    const Tensor fake = mode_.from_tensor(
        real, {.source = path,
               .dims = std::vector<SymbolicDim>(spec.shape.size(), {.kind = DimDynamic::Dynamic})});
    const SymIntArrayRef sizes = fake.sym_sizes(), strides = fake.sym_strides();
    inputs_.add({path,
                 spec.shape,
                 spec.stride,
                 {sizes.begin(), sizes.end()},
                 {strides.begin(), strides.end()}});
    return fake;
  }

  Tensor build_unbacked(const TensorSpec& spec, const std::string& path) {
    std::vector<SymInt> sizes;
    for (size_t d = 0; d < spec.shape.size(); ++d) {
      const std::optional<size_t> c = class_of(path, d);
      if (c && (*c == 0 || way_.unbacked == Unbacked::All)) {
        sizes.push_back(symbol_of_class(*c));
      } else {
        sizes.push_back(
            env_->create_symint(spec.shape[d], source_of(path, d), DimDynamic::Dynamic));
      }
    }
    const std::vector<SymInt> strides = strides_at(spec.stride, sizes);
    inputs_.add({path, spec.shape, spec.stride, sizes, strides});
    const Tensor meta =
        empty_with_symbols(SymIntArrayRef(absl::MakeConstSpan(sizes)),
                           SymIntArrayRef(absl::MakeConstSpan(strides)), spec.dtype);
    return mode_.from_meta(meta, Device(DeviceType::CPU));
  }
  static std::string source_of(const std::string& path, size_t d) {
    return str_cat(path, ".size(", d, ")");
  }
  std::optional<size_t> class_of(const std::string& path, size_t d) const {
    const Json& classes = json_.at("classes");
    for (size_t c = 0; c < classes.size(); ++c)
      for (const Json& place : classes[c])
        if (place.at(0) == path && place.at(1) == d) return c;
    return std::nullopt;
  }
  SymInt symbol_of_class(size_t c) {
    const auto [it, is_new] = of_class_.try_emplace(c);
    if (is_new) {
      it->second = env_->create_unbacked_symint();
      constrain_range_for_size(it->second, way_.checked ? 2 : 0);
    }
    return it->second;
  }

  SymInt size_at(const Json& place) const {
    return inputs_.find(place.at(0).get<std::string>()).sizes.at(place.at(1).get<size_t>());
  }
  IValue number(const Json& value) const {
    return read_number(value, [&](const std::string& path, size_t dim) {
      return inputs_.find(path).sizes.at(dim);
    });
  }

  void flatten(const IValue& value) {
    if (value.is_TensorList()) {
      for (const Tensor& t : value.to_tensor_list()) results_.push_back(t);
    } else if (value.is_OptionalTensorList()) {
      for (const std::optional<Tensor>& t : value.to_optional_tensor_list())
        results_.push_back(t.value_or(Tensor()));
    } else if (value.is_List()) {
      for (const IValue& element : value.to_list()) flatten(element);
    } else {
      results_.push_back(value);
    }
  }

  // What symbols are when the classes have these sizes.
  Difference at(const Ints& classes, const Json& returns) {
    std::map<std::pair<std::string, size_t>, int64_t> of_class;
    for (size_t c = 0; c < classes.size(); ++c)
      for (const Json& place : json_.at("classes").at(c))
        of_class[{place.at(0).get<std::string>(), place.at(1).get<size_t>()}] = classes[c];
    const SymbolicInputs::At known = inputs_.at([&](const SymbolicInput& in, size_t d) {
      const auto found = of_class.find({in.path, d});
      return found == of_class.end() ? in.shape[d] : found->second;
    });
    const symbolic::SymbolValues& values = known.values;
    // Symbols that the operator made have no values here.
    if (env_->symbols().size() == values.size() || way_.unbacked == Unbacked::None) {
      const GuardsResult guards = env_->evaluate_guards(known.sources);
      if (!guards) return str_cat("refused: ", guards.failed, " by ", sb::to_string(guards.origin));
    }
    if (way_.backward) return gradients(values);
    if (op_.schema().returns.empty()) return std::nullopt;  // what it wrote to keeps its shape
    if (returns.size() != results_.size())
      return str_cat("expected ", returns.size(), " results, got ", results_.size());
    for (size_t i = 0; i < returns.size(); ++i) {
      if (Difference d = compare_at(returns[i], results_[i], values))
        return str_cat("result ", i, ": ", *d);
    }
    return std::nullopt;
  }

  // A gradient has the sizes of what it is of.
  Difference gradients(const symbolic::SymbolValues& values) const {
    for (const Tensor& leaf : leaves_) {
      const Tensor grad = grad_of(leaf);
      if (!grad.defined()) continue;
      const SymIntArrayRef expected = leaf.sym_sizes(), actual = grad.sym_sizes();
      bool same = expected.size() == actual.size();
      for (size_t d = 0; same && d < expected.size(); ++d)
        same = evaluated(expected[d], values) == evaluated(actual[d], values);
      if (!same || grad.dtype() != leaf.dtype())
        return str_cat("a gradient of ", grad.describe(), " for ", leaf.describe());
    }
    return std::nullopt;
  }

  const Json& json_;
  const OperatorHandle op_;
  const Way& way_;
  const Dispatcher& dispatcher_;
  std::map<size_t, SymInt> of_class_;
  const IntrusivePtr<ShapeEnv> env_;
  FakeTensorMode mode_;
  SymbolicInputs inputs_;
  std::map<std::string, IValue> tensors_;
  std::vector<IValue> positional_;
  Place::Keywords keyword_;
  std::vector<IValue> results_;
  std::vector<Tensor> leaves_;
};

}  // namespace

std::vector<std::string> symbolic_way_names() {
  std::vector<std::string> names;
  for (const Way& way : kWays) names.emplace_back(way.name);
  names.emplace_back(kTraced);
  names.emplace_back(kTracedBackward);
  return names;
}

Outcome run_symbolic_case(const Json& json, const std::string& name, const Dispatcher& dispatcher) {
  return outcome_of([&]() -> Outcome {
    const auto way = std::ranges::find(kWays, name, &Way::name);
    const bool is_traced = name == kTraced || name == kTracedBackward;
    if (way == std::end(kWays) && !is_traced) throw Unsupported("no such way", name);
    const std::string op_name = json.at("op").get<std::string>();
    const std::optional<OperatorHandle> op = dispatcher.find_op(op_name);
    if (!op) throw Unsupported("the operator is not registered", op_name);
    if (is_traced) {
      return run_traced_symbolic_case(json, *op, name == kTraced ? Gradients::No : Gradients::Yes,
                                      dispatcher);
    }
    return SymbolicCall(json, *op, *way, dispatcher).check();
  });
}

}  // namespace sb::conformance
