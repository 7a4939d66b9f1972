// Calls with an effect that pass a token on.

#include <iostream>

#include "switchboard/dispatch/graph/tracing_mode.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/transforms/higher_order/with_effects.h"

using sb::Tensor;

int main() {
  // doc: begin
  using Tensors = std::vector<Tensor>;
  sb::Library m(sb::Library::Kind::Def, "mylib");
  m.define("say(str what) -> ()");
  m.impl("say", sb::DispatchKey::CompositeExplicitAutograd,
         [](std::string_view what) { std::cout << what << "\n"; });
  const auto program = [](const Tensors& in) {
    const Tensor begun = sb::with_effects(in[0], "mylib::say", {"begin"}).first;
    const Tensor ended = sb::with_effects(begun, "mylib::say", {"end"}).first;
    return Tensors{ended, in[1] * 2};
  };
  sb::Graph graph = sb::trace(program, {sb::empty({0}), sb::ones({2})});
  std::cout << graph.to_string();
  graph.run({sb::empty({0}), sb::ones({2})});
  // doc: end
}
