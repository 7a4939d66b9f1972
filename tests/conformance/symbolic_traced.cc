#include "switchboard/tests/conformance/symbolic_traced.h"

#include <cstring>
#include <map>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/memory/allocator.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/tests/conformance/symbolic_inputs.h"
#include "switchboard/tests/poison/poison.h"

namespace sb::conformance {
namespace {

using Tensors = std::vector<Tensor>;

// The allocator of the CPU is another one for the scope, at most.
class KeepAllocator {
 public:
  KeepAllocator() : before_(get_allocator(DeviceType::CPU)) {}
  ~KeepAllocator() { set_allocator(DeviceType::CPU, before_); }
  KeepAllocator(const KeepAllocator&) = delete;
  KeepAllocator& operator=(const KeepAllocator&) = delete;

 private:
  Allocator* before_;
};

class TracedCall {
 public:
  TracedCall(const Json& json, const OperatorHandle& op, Gradients gradients,
             const Dispatcher& dispatcher)
      : json_(json),
        op_(op),
        gradients_(gradients),
        dispatcher_(dispatcher),
        env_(ShapeEnv::create({.duck_shape = false})),
        mode_({.shape_env = env_}) {
    for_each_argument(json_, [&](const Json& value, const std::string& path) {
      if (!is_tensor_value(value)) return;
      if (value.contains("tensor")) return add(value["tensor"], path);
      size_t i = 0;
      for (const Json& item : value.at("tensors")) add(item, str_cat(path, ".", i++));
    });
  }

  Outcome check() {
    const Ints own;
    const Tensors inputs = fake_inputs();
    std::optional<Graph> graph;
    try {
      const FakeTensorModeGuard active(mode_);
      graph = trace([&](const Tensors& in) { return program(in); }, inputs);
    } catch (const Error& error) {
      return Outcome::skipped("cannot be traced", error.what());
    }
    if (Difference d = run(*graph, own))
      return Outcome::failed(str_cat("at its own sizes: ", *d, "\n", graph->to_string()));
    for (const Json& binding : json_.at("bindings")) {
      const Ints sizes = binding.at("sizes").get<Ints>();
      if (Difference d = run(*graph, sizes)) {
        return Outcome::failed(str_cat("at ", binding.at("sizes").dump(), ": ", *d,
                                       guards_text(*env_), "\n", graph->to_string()));
      }
    }
    return Outcome::passed();
  }

 private:
  struct Input {
    std::string path;
    const Json& json;
    TensorSpec spec;
  };

  void add(const Json& tensor, const std::string& path) {
    if (tensor.is_null()) return;
    Json with_offset = tensor;
    with_offset["offset"] = 0;
    index_[path] = inputs_.size();
    inputs_.push_back({path, tensor, read_tensor_spec(with_offset)});
  }

  // The sizes of an input where the classes have these; its own where there are none.
  Ints sizes_of(const Input& input, const Ints& classes) const {
    Ints sizes = input.spec.shape;
    for (size_t c = 0; c < classes.size(); ++c)
      for (const Json& place : json_.at("classes").at(c))
        if (place.at(0) == input.path) sizes.at(place.at(1).get<size_t>()) = classes[c];
    return sizes;
  }

  Tensor real_input(const Input& input, const Ints& classes) const {
    const Ints sizes = sizes_of(input, classes);
    const Ints strides = strides_at(input.spec.stride, sizes);
    const Tensor t = empty_strided_on(DeviceType::CPU, sizes, strides, input.spec.dtype);
    fill(t, input.json);
    return t;
  }

  // The elements in the order of their indices; ones where the case says nothing of them.
  void fill(const Tensor& t, const Json& json) const {
    if (t.numel() == 0) return;
    const Json one = t.dtype() == DType::Bool ? Json(true) : Json(1);
    const Elements cycle =
        read_elements(t.dtype(), json.contains("cycle") ? json["cycle"] : Json::array({one}));
    const size_t bytes = itemsize(t.dtype());
    auto* const base = static_cast<std::byte*>(t.data_ptr());
    std::vector<int64_t> index(t.sizes().size());
    for (int64_t i = 0; i < t.numel(); ++i) {
      int64_t rest = i, offset = 0;
      for (size_t d = index.size(); d-- > 0; rest /= t.sizes()[d])
        offset += rest % t.sizes()[d] * t.strides()[d];
      std::memcpy(base + static_cast<size_t>(offset) * bytes,
                  cycle.at(static_cast<size_t>(i) % cycle.size()), bytes);
    }
    if (!json.contains("spd")) return;
    op_named("aten::mul_.Scalar").call({t, 0.01}, {});
    const Tensor diagonal = op_named("aten::diagonal")
                                .call({t, int64_t{0}, int64_t{-2}, int64_t{-1}}, {})[0]
                                .to_tensor();
    op_named("aten::add_.Scalar").call({diagonal, int64_t{1}}, {});
  }

  Tensors real_inputs(const Ints& classes) const {
    Tensors tensors;
    for (const Input& input : inputs_) tensors.push_back(real_input(input, classes));
    return tensors;
  }
  Tensors fake_inputs() {
    Tensors tensors;
    for (const Input& input : inputs_) {
      tensors.push_back(mode_.from_tensor(
          real_input(input, {}), {.source = input.path,
                                  .dims = std::vector<SymbolicDim>(
                                      input.spec.shape.size(), {.kind = DimDynamic::Dynamic})}));
    }
    return tensors;
  }

  // What is traced, and run beside the graph.
  Tensors program(const Tensors& inputs) const {
    if (gradients_ == Gradients::No) return call(inputs);
    const GradModeGuard on(true);
    Tensors leaves, given = inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!is_differentiable(inputs[i].dtype())) continue;
      leaves.push_back(op_named("aten::detach").call({inputs[i]}, {})[0].to_tensor());
      set_requires_grad(leaves.back());
      // What the operator writes to is no leaf, but a copy of one.
      given[i] = op_.schema().is_mutable()
                     ? op_named("aten::clone").call({leaves.back()}, {})[0].to_tensor()
                     : leaves.back();
    }
    Tensors results = call(given), roots, ones;
    for (const Tensor& result : results) {
      if (!requires_grad(result)) continue;
      roots.push_back(result);
      ones.push_back(op_named("aten::ones_like").call({result}, {})[0].to_tensor());
    }
    if (roots.empty()) return results;
    for (const Tensor& g : grad(roots, leaves, ones, {.allow_unused = true}))
      if (g.defined()) results.push_back(g);
    for (Tensor& result : results)
      result = op_named("aten::detach").call({result}, {})[0].to_tensor();
    return results;
  }

  // The call on these; its results that are tensors.
  Tensors call(const Tensors& inputs) const {
    std::vector<IValue> positional;
    std::vector<std::pair<std::string, IValue>> keyword;
    for_each_argument(json_, [&](const Json& value, const std::string& path) {
      IValue argument = value_of(value, path, inputs);
      if (path.starts_with("args."))
        positional.push_back(std::move(argument));
      else
        keyword.emplace_back(path.substr(path.find('.') + 1), std::move(argument));
    });
    Tensors results;
    for (const IValue& result : op_.call(std::move(positional), std::move(keyword))) {
      result.for_each_tensor([&](const Tensor& t) {
        if (t.defined()) results.push_back(t);
      });
    }
    return results;
  }

  IValue value_of(const Json& value, const std::string& path, const Tensors& inputs) const {
    if (!is_tensor_value(value)) {
      return read_number(value, [&](const std::string& of, size_t dim) {
        return inputs.at(index_.at(of)).sym_size(static_cast<int64_t>(dim));
      });
    }
    if (value.contains("tensor"))
      return value["tensor"].is_null() ? IValue() : IValue(inputs.at(index_.at(path)));
    std::vector<std::optional<Tensor>> list;
    bool all = true;
    size_t i = 0;
    for (const Json& item : value.at("tensors")) {
      const std::string item_path = str_cat(path, ".", i++);
      all = all && !item.is_null();
      list.push_back(item.is_null() ? std::nullopt
                                    : std::optional(inputs.at(index_.at(item_path))));
    }
    if (!all) return list;
    Tensors plain;
    for (const std::optional<Tensor>& t : list) plain.push_back(*t);
    return plain;
  }

  Difference run(const Graph& graph, const Ints& classes) const {
    const Tensors given = real_inputs(classes), again = real_inputs(classes),
                  to_graph = real_inputs(classes);
    Tensors expected, repeated;
    try {
      const KeepAllocator keep;
      test::poison_fresh_memory(0);
      expected = program(given);
      test::poison_fresh_memory(0x42);
      repeated = program(again);
    } catch (const Error&) {
      return std::nullopt;  // not a call that can be made
    }
    Tensors got;
    try {
      got = graph.run(to_graph);
    } catch (const Error& error) {
      if (error.kind() == "ValueError" && !guards_hold(classes)) return std::nullopt;
      return str_cat(error.kind(), ": ", error.what());
    }
    if (got.size() != expected.size())
      return str_cat("expected ", expected.size(), " results, got ", got.size());
    const bool random = op_.entry().has_tag(Tag::nondeterministic_seeded);
    for (size_t i = 0; i < got.size(); ++i)
      if (Difference d = compare(expected[i], repeated[i], got[i], random))
        return str_cat("result ", i, ": ", *d);
    for (size_t i = 0; i < given.size(); ++i)
      if (Difference d = compare(given[i], again[i], to_graph[i], random))
        return str_cat(inputs_[i].path, " after the call: ", *d);
    return std::nullopt;
  }

  bool guards_hold(const Ints& classes) const {
    std::vector<std::pair<std::string, int64_t>> sizes;
    for (const Input& input : inputs_) {
      const Ints at = sizes_of(input, classes);
      const Ints strides = strides_at(input.spec.stride, at);
      for (size_t d = 0; d < at.size(); ++d)
        sizes.emplace_back(str_cat(input.path, ".size(", d, ")"), at[d]);
    }
    try {
      return static_cast<bool>(env_->evaluate_guards(sizes));
    } catch (const ValueError&) {
      return false;  // they speak of more than sizes
    }
  }

  Difference compare(const Tensor& expected, const Tensor& repeated, const Tensor& got,
                     bool random) const {
    if (expected.describe() != got.describe())
      return str_cat("expected ", expected.describe(), ", got ", got.describe());
    // Memory that nobody wrote to differs from run to run.
    if (random || !same_elements(expected, repeated) || same_elements(expected, got))
      return std::nullopt;
    return str_cat("other elements of ", got.describe());
  }

  bool same_elements(const Tensor& a, const Tensor& b) const {
    constexpr double kTolerance = 1e-5;
    const bool inexact = is_floating_point(a.dtype()) || is_complex(a.dtype());
    const auto is_true = [](const std::vector<IValue>& results) { return results[0].to_bool(); };
    if (!inexact) return is_true(op_named("aten::equal").call({a, b}, {}));
    return is_true(op_named("aten::allclose").call({a, b, kTolerance, kTolerance, true}, {}));
  }

  OperatorHandle op_named(std::string_view name) const {
    const std::optional<OperatorHandle> op = dispatcher_.find_op(name);
    if (!op) throw Unsupported("the operator is not registered", std::string(name));
    return *op;
  }

  const Json& json_;
  const OperatorHandle op_;
  const Gradients gradients_;
  const Dispatcher& dispatcher_;
  const IntrusivePtr<ShapeEnv> env_;
  FakeTensorMode mode_;
  std::vector<Input> inputs_;
  std::map<std::string, size_t> index_;  // by path
};

}  // namespace

Outcome run_traced_symbolic_case(const Json& json, const OperatorHandle& op, Gradients gradients,
                                 const Dispatcher& dispatcher) {
  return TracedCall(json, op, gradients, dispatcher).check();
}

}  // namespace sb::conformance
