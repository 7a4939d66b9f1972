// The way that runs a program on sizes that are symbols.

#include <algorithm>

#include "switchboard/core/str_cat.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/tests/conformance/symbolic_inputs.h"
#include "switchboard/tests/conformance/ways.h"

namespace sb::conformance {
namespace {

// Fake tensors of the CPU. What a step names as a literal has sizes that are numbers.
class SymbolicPlace final : public Place {
 public:
  std::string_view name() const override { return "symbolic"; }
  Device device() const override { return Device(DeviceType::CPU); }
  bool owns(const Tensor& tensor) const override { return is_fake(tensor); }
  bool has_data() const override { return false; }

  Tensor make_storage(const Elements& elements) override {
    return mode_.from_tensor(make_place("cpu")->make_storage(elements), {.static_shapes = true});
  }
  std::vector<std::byte> read_storage(const Tensor&) override { return {}; }

  void run(absl::FunctionRef<void()> part) override {
    const FakeTensorModeGuard guard(mode_);
    part();
  }

  ShapeEnv& env() { return *mode_.shape_env(); }
  // An input: a number in `symbols` is a size that never changes.
  Tensor input(const Json& json, const Json& symbols, const std::string& path) {
    const Tensor real = build_tensor(json, *make_place("cpu"));
    std::vector<SymbolicDim> dims;
    for (const Json& symbol : symbols)
      dims.push_back({.kind = symbol.is_string() ? DimDynamic::Dynamic : DimDynamic::Static});
    const Tensor fake = mode_.from_tensor(real, {.source = path, .dims = dims});
    const SymIntArrayRef sizes = fake.sym_sizes(), strides = fake.sym_strides();
    inputs_.add({path,
                 {real.sizes().begin(), real.sizes().end()},
                 {real.strides().begin(), real.strides().end()},
                 {sizes.begin(), sizes.end()},
                 {strides.begin(), strides.end()}});
    return fake;
  }
  const SymbolicInputs& inputs() const { return inputs_; }

 private:
  FakeTensorMode mode_{{.shape_env = ShapeEnv::create()}};
  SymbolicInputs inputs_;
};

Difference check_binding(SymbolicPlace& place, const Json& shapes, const Json& binding,
                         const std::vector<Tensor>& outputs) {
  const Json& sizes = binding.at("sizes");
  const SymbolicInputs::At known = place.inputs().at([&](const SymbolicInput& in, size_t d) {
    const size_t number = std::stoul(in.path.substr(in.path.find('.') + 1));
    const Json& symbol = shapes.at(number).at(d);
    return (symbol.is_string() ? sizes.at(symbol.get<std::string>()) : symbol).get<int64_t>();
  });
  const GuardsResult guards = place.env().evaluate_guards(known.sources);
  if (!guards) {
    if (!binding.value("guards_hold", false)) return std::nullopt;
    return str_cat("refused: ", guards.failed, " by ", sb::to_string(guards.origin));
  }
  if (binding.contains("raises")) return std::nullopt;  // it would run into the error there
  const Json& returns = binding.at("returns");
  if (returns.size() != outputs.size())
    return str_cat("expected ", returns.size(), " outputs, got ", outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    if (auto d = compare_at(returns[i], outputs[i], known.values))
      return str_cat("outputs.", i, ": ", *d);
  return std::nullopt;
}

}  // namespace

Difference run_symbolic(Composition& c) {
  SymbolicPlace place;
  Composition on_symbols(c.json(), c.way(), place, c.dispatcher());
  const Json& expected = c.expected();
  const Json& shapes = expected.at("shapes");
  std::vector<Tensor> inputs, outputs;
  for (const Json& json : c.json().at("inputs")) {
    const size_t i = inputs.size();
    inputs.push_back(place.input(json, shapes.at(i), str_cat("inputs.", i)));
  }
  try {
    place.run([&] { outputs = on_symbols.program()(inputs); });
  } catch (const Error&) {
    c.begin(on_symbols.doing());
    throw;
  }
  for (const Json& binding : expected.at("bindings"))
    if (auto d = check_binding(place, shapes, binding, outputs))
      return str_cat("at ", binding.at("sizes").dump(), ": ", *d, guards_text(place.env()));
  return std::nullopt;
}

}  // namespace sb::conformance
