#include "switchboard/tests/conformance/compositions_cases.h"

#include <algorithm>
#include <utility>

#include "switchboard/core/str_cat.h"
#include "switchboard/tests/conformance/call_check.h"
#include "switchboard/tests/conformance/ways.h"

namespace sb::conformance {
namespace {

struct Way {
  std::string_view name;
  Difference (*run)(Composition& c);
  // Words of which an error has one that says that the layer is at fault.
  std::vector<std::string_view> layer = {};
};

const std::vector<Way>& ways() {
  static const auto* const all = new std::vector<Way>{
      {"eager", run_eager},
      {"grads", run_gradients, {"gradient", "derivative", "autograd", "backward"}},
      {"functionalized", run_functionalized, {"functional"}},
      {"functionalized_grads",
       run_functionalized_gradients,
       {"functional", "gradient", "derivative", "autograd", "backward"}},
      {"traced", run_traced, {"trac", "graph", "functional"}},
      {"fake", run_fake, {"fake", "data-dependent"}},
      {"symbolic", run_symbolic, {"fake", "symbol", "data-dependent"}},
      {"jvp", run_jvp, {"gradient", "derivative", "autograd", "backward"}},
      {"vmap", run_vmap, {"vmap"}},
      {"hvp", run_hvp, {"gradient", "derivative", "autograd", "backward"}},
  };
  return *all;
}

bool is_refusal(const Way& way, const Error& error) {
  if (dynamic_cast<const NotImplementedError*>(&error)) return true;
  const std::string_view text = error.what();
  const auto says = [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  };
  return says("::") && std::ranges::any_of(way.layer, says);
}

}  // namespace

std::vector<std::string> way_names() {
  std::vector<std::string> names;
  for (const Way& way : ways()) names.emplace_back(way.name);
  return names;
}

Outcome run_composition_case(const Json& json, const std::string& name, Place& place,
                             const Dispatcher& dispatcher) {
  return outcome_of([&] {
    const auto way = std::ranges::find(ways(), name, &Way::name);
    if (way == ways().end()) throw Unsupported("no such way", name);
    if (!place.has_data()) throw Unsupported("programs run where there is data");
    Composition composition(json, name, place, dispatcher);
    try {
      return Outcome::of(way->run(composition));
    } catch (const Error& error) {
      if (composition.may_refuse()) return Outcome::passed();
      std::string text = str_cat(composition.doing(), " raised ", error.kind(), ": ", error.what());
      return is_refusal(*way, error) ? Outcome::refused(std::move(text))
                                     : Outcome::failed(std::move(text));
    }
  });
}

}  // namespace sb::conformance
