#include "switchboard/tests/conformance/symbolic_cases.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "absl/strings/str_join.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/fake/symbolic/expr_sym_node.h"
#include "switchboard/tests/conformance/call_check.h"

namespace sb::conformance {
namespace {

using Ints = std::vector<int64_t>;

// A tensor argument, and what its sizes and strides were when the call was made.
struct Input {
  std::string path;
  Ints shape, stride;  // as recorded
  std::vector<SymInt> sizes, strides;
};

// The strides that the input has at other sizes: dense, in the same order; expanded ones stay 0.
template <class Int>
std::vector<Int> strides_at(const Ints& order_of, const std::vector<Int>& sizes) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return std::pair(order_of[a], b) < std::pair(order_of[b], a);
  });
  std::vector<Int> strides(sizes.size(), Int(0));
  Int stride = 1;
  for (const size_t d : order) {
    if (order_of[d] == 0) continue;
    strides[d] = stride;
    stride *= sym_max(sizes[d], Int(1));
  }
  return strides;
}

class SymbolicCall {
 public:
  SymbolicCall(const Json& json, const OperatorHandle& op, Symbols symbols)
      : json_(json),
        op_(op),
        symbols_(symbols),
        env_(ShapeEnv::create({.duck_shape = false})),
        mode_({.shape_env = env_}) {
    // Integers may be made of the sizes of tensors that come after them.
    for_each_argument([&](const Json& value, const std::string& path) {
      if (is_tensor_value(value)) tensors_[path] = build_tensors(value, path);
    });
    for_each_argument([&](const Json& value, const std::string& path) {
      IValue argument = tensors_.contains(path) ? tensors_[path] : number(value);
      if (path.starts_with("args."))
        positional_.push_back(std::move(argument));
      else
        keyword_.emplace_back(path.substr(path.find('.') + 1), std::move(argument));
    });
  }

  Outcome check() {
    const std::string verdict = recorded_verdict();
    if (symbols_ == Symbols::Unbacked && verdict != "works")
      return Outcome::skipped("data decides, as in PyTorch");
    std::vector<IValue> results;
    try {
      FakeTensorModeGuard active(mode_);
      results = op_.call(positional_, keyword_);
    } catch (const Error& error) {
      if (verdict == "raised") return Outcome::skipped("refused, as by PyTorch");
      return Outcome::failed(str_cat("raised ", error.kind(), ": ", error.what(), guards_text()));
    }
    for (const Json& index : json_.at("varies")) {
      for (const Json& place : json_.at("classes").at(index.get<size_t>())) {
        if (!size_at(place).maybe_int()) continue;
        if (verdict == "specialised") return Outcome::skipped("pinned, as by PyTorch");
        return Outcome::failed(str_cat("pinned ", place.dump(), guards_text()));
      }
    }
    for (const IValue& result : results) flatten(result);
    for (const Json& binding : json_.at("bindings")) {
      if (Difference d = at(binding.at("sizes").get<Ints>(), binding.at("returns"))) {
        return Outcome::failed(str_cat("at ", binding.at("sizes").dump(), ": ", *d, guards_text()));
      }
    }
    return Outcome::passed();
  }

 private:
  std::string recorded_verdict() const {
    const Json& torch = json_.at("torch");
    return symbols_ == Symbols::Backed
               ? torch.at("symbolic").at("verdict").get<std::string>()
               : torch.at("unbacked").at("all checked").at("verdict").get<std::string>();
  }

  template <class F>
  void for_each_argument(F&& f) {
    size_t i = 0;
    for (const Json& value : json_.at("args")) f(value, str_cat("args.", i++));
    for (const auto& [name, value] : json_.at("kwargs").items()) f(value, "kwargs." + name);
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
    if (symbols_ == Symbols::Unbacked) return build_unbacked(spec, path);
    const Tensor real = empty_strided_on(DeviceType::CPU, spec.shape, spec.stride, spec.dtype);
    const Tensor fake = mode_.from_tensor(
        real, {.source = path,
               .dims = std::vector<SymbolicDim>(spec.shape.size(), {.kind = DimDynamic::Dynamic})});
    const SymIntArrayRef sizes = fake.sym_sizes(), strides = fake.sym_strides();
    inputs_.push_back({path,
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
      sizes.push_back(c ? symbol_of_class(*c) : SymInt(spec.shape[d]));
    }
    const std::vector<SymInt> strides = strides_at(spec.stride, sizes);
    inputs_.push_back({path, spec.shape, spec.stride, sizes, strides});
    const Tensor meta =
        empty_with_symbols(SymIntArrayRef(absl::MakeConstSpan(sizes)),
                           SymIntArrayRef(absl::MakeConstSpan(strides)), spec.dtype);
    return mode_.from_meta(meta, Device(DeviceType::CPU));
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
      constrain_range_for_size(it->second, 2);
    }
    return it->second;
  }

  const Input& input(const std::string& path) const {
    for (const Input& in : inputs_)
      if (in.path == path) return in;
    throw MalformedCase(str_cat("no tensor ", path));
  }
  SymInt size_at(const Json& place) const {
    return input(place.at(0).get<std::string>()).sizes.at(place.at(1).get<size_t>());
  }
  SymInt product(const Json& places) const {
    SymInt n = 1;
    for (const Json& place : places) n *= size_at(place);
    return n;
  }

  IValue number(const Json& value) const {
    if (value.is_object() && value.contains("sym")) return product(value["sym"]);
    if (!value.is_object() || !value.contains("syms")) return read_value(value);
    std::vector<SymInt> list;
    for (const Json& item : value["syms"])
      list.push_back(item.is_number() ? SymInt(item.get<int64_t>()) : product(item));
    return list;
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
    std::vector<std::pair<std::string, int64_t>> sources;
    symbolic::SymbolValues values;
    const auto bind = [&](const SymInt& symbol, std::string source, int64_t value) {
      if (!symbol.is_symbolic()) return;
      const symbolic::Expr e = static_cast<const ExprSymNode*>(symbol.node())->expr();
      if (!e->is_symbol() || values.contains(e)) return;
      values[e] = {.i = value};
      sources.emplace_back(symbols_ == Symbols::Backed ? std::move(source) : *e->name, value);
    };
    for (const Input& in : inputs_) {
      Ints sizes = in.shape;
      for (size_t d = 0; d < sizes.size(); ++d) {
        const auto found = of_class.find({in.path, d});
        if (found != of_class.end()) sizes[d] = found->second;
        bind(in.sizes[d], str_cat(in.path, ".size(", d, ")"), sizes[d]);
      }
      const Ints strides = strides_at(in.stride, sizes);
      for (size_t d = 0; d < sizes.size(); ++d)
        bind(in.strides[d], str_cat(in.path, ".stride(", d, ")"), strides[d]);
    }
    // Symbols that the operator made have no values here.
    if (env_->symbols().size() == values.size() || symbols_ == Symbols::Backed) {
      const GuardsResult guards = env_->evaluate_guards(sources);
      if (!guards) return str_cat("refused: ", guards.failed, " by ", sb::to_string(guards.origin));
    }
    if (op_.schema().returns.empty()) return std::nullopt;  // what it wrote to keeps its shape
    if (returns.size() != results_.size())
      return str_cat("expected ", returns.size(), " results, got ", results_.size());
    for (size_t i = 0; i < returns.size(); ++i) {
      if (Difference d = result(returns[i], results_[i], values))
        return str_cat("result ", i, ": ", *d);
    }
    return std::nullopt;
  }

  static int64_t evaluated(const SymInt& n, const symbolic::SymbolValues& values) {
    if (!n.is_symbolic()) return n.expect_int();
    const auto found =
        symbolic::evaluate(static_cast<const ExprSymNode*>(n.node())->expr(), values);
    return found ? found->i : -1;  // a symbol that data decides
  }

  static Difference result(const Json& expected, const IValue& actual,
                           const symbolic::SymbolValues& values) {
    if (!expected.is_object() || !expected.contains("dtype")) return std::nullopt;
    if (!actual.is_Tensor()) return str_cat("expected a tensor, got ", actual.to_string());
    const Tensor& t = actual.to_tensor();
    if (!t.defined()) return "expected a tensor, got an undefined one";
    const std::string dtype = expected["dtype"].get<std::string>();
    if (sb::to_string(t.dtype()) != dtype)
      return str_cat("expected ", dtype, ", got ", sb::to_string(t.dtype()));
    Ints sizes, strides;
    for (const SymInt& s : t.sym_sizes()) sizes.push_back(evaluated(s, values));
    for (const SymInt& s : t.sym_strides()) strides.push_back(evaluated(s, values));
    const Ints shape = expected["shape"].get<Ints>(), stride = expected["stride"].get<Ints>();
    const bool unknown = std::ranges::find(sizes, -1) != sizes.end();
    if (unknown && sizes.size() == shape.size()) return std::nullopt;
    bool same = sizes == shape;
    if (same && std::ranges::find(shape, 0) == shape.end()) {
      for (size_t d = 0; d < shape.size(); ++d) same &= shape[d] == 1 || strides[d] == stride[d];
    }
    if (same) return std::nullopt;
    const auto text = [](const SymIntArrayRef list) {
      return absl::StrJoin(list, ", ",
                           [](std::string* out, const SymInt& s) { *out += s.to_string(); });
    };
    return str_cat("expected [", absl::StrJoin(shape, ", "), "] with strides [",
                   absl::StrJoin(stride, ", "), "], got [", absl::StrJoin(sizes, ", "), "] with [",
                   absl::StrJoin(strides, ", "), "] from [", text(t.sym_sizes()), "] with [",
                   text(t.sym_strides()), "]");
  }

  std::string guards_text() const {
    std::string text;
    for (const Guard& guard : env_->guards())
      text += str_cat("\n", guard.text, " by ", sb::to_string(guard.origin));
    return text;
  }

  const Json& json_;
  const OperatorHandle op_;
  const Symbols symbols_;
  std::map<size_t, SymInt> of_class_;
  const IntrusivePtr<ShapeEnv> env_;
  FakeTensorMode mode_;
  std::vector<Input> inputs_;
  std::map<std::string, IValue> tensors_;
  std::vector<IValue> positional_;
  Place::Keywords keyword_;
  std::vector<IValue> results_;
};

}  // namespace

Outcome run_symbolic_case(const Json& json, Symbols symbols, const Dispatcher& dispatcher) {
  return outcome_of([&]() -> Outcome {
    const std::string name = json.at("op").get<std::string>();
    const std::optional<OperatorHandle> op = dispatcher.find_op(name);
    if (!op) throw Unsupported("the operator is not registered", name);
    return SymbolicCall(json, *op, symbols).check();
  });
}

}  // namespace sb::conformance
