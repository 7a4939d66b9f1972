#include "switchboard/transforms/functionalization/functionalize.h"

#include "catch2/catch.hpp"
#include "switchboard/tests/functionalize/programs.h"

namespace sb::test {
namespace {

// The outcome of a program: results, inputs afterwards, and which of these share memory.
std::string run(const TensorFunction& f, const Tensors& inputs) {
  Tensors all = f(inputs);
  all.insert(all.end(), inputs.begin(), inputs.end());
  std::string text = text_of(all);
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (all[i].is_same(all[k]) || all[i].is_alias_of(all[k]))
        text += std::to_string(k) + (all[i].is_same(all[k]) ? " is " : " shares with ") +
                std::to_string(i) + "\n";
  return text;
}

TEST_CASE(
    "a functionalised program has the results, inputs and sharing of the program as written") {
  const Device place = GENERATE(Device(DeviceType::CPU), Device(DeviceType::Meta));
  const Route route = GENERATE(Route::Key, Route::Mode);
  for (const Program& program : programs()) {
    INFO(program.name << ", " << (route == Route::Key ? "by the key" : "by the mode"));
    std::string written;
    CHECK_NOTHROW(written = run(program.run, program.inputs(place)));
    std::string functional;
    CHECK_NOTHROW(functional = run(functionalized(route, program.run), program.inputs(place)));
    CHECK(functional == written);
  }
}

TEST_CASE("nothing that arrives below functionalisation mutates, but for the writes to inputs") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  for (const Program& program : programs()) {
    INFO(program.name << ", " << (route == Route::Key ? "by the key" : "by the mode"));
    const Tensors inputs = program.inputs(DeviceType::CPU);
    Watcher below;
    std::vector<std::string> mutating;
    {
      ModeGuard guard(&below);
      functionalized(route, [&](const Tensors& given) {
        Tensors results = program.run(given);
        for (const Tensor& t : results) sync(t);
        mutating = below.mutating;
        return results;
      })(inputs);
    }
    CHECK(mutating == std::vector<std::string>());
    // What was seen is the program, and the writes at its end are those of copies and shapes.
    if (std::string_view(program.name) != "nothing is written to") CHECK(!below.ops.empty());
    for (const std::string& op : below.mutating) {
      CHECK((op == "aten::copy_" || op == "aten::as_strided_" || op == "aten::resize_"));
    }
  }
}

}  // namespace
}  // namespace sb::test
