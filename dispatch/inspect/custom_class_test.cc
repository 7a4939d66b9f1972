#include "switchboard/dispatch/inspect/custom_class.h"

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/inspect/call_text.h"

namespace sb {
namespace {

using Catch::Contains;

constexpr char kMode[] = "__torch__.torch.classes.demo.Mode";

struct Mode final : ConstantObject {
  explicit Mode(bool f) : fast(f) {}
  std::string_view class_name() const override { return kMode; }
  bool equals(const ConstantObject& other) const override {
    return static_cast<const Mode&>(other).fast == fast;
  }
  std::string to_string() const override { return fast ? "Mode.fast" : "Mode.exact"; }
  bool fast;
};

// Of another C++ class, which has the name of Mode.
struct Impostor final : OpaqueObject {
  std::string_view class_name() const override { return kMode; }
};

template <class T>
IValue object(T* made) {
  return IntrusivePtr<OpaqueObject>(IntrusivePtr<T>::adopt(made));
}
std::string text(const IValue& v) {
  return value_text(v, [](const Tensor&) { return std::string(); });
}

TEST_CASE("a constant object is compared and printed as its class says, while that is registered") {
  const IValue fast = object(new Mode(true)), also = object(new Mode(true)),
               exact = object(new Mode(false));
  CHECK(!is_constant_class(kMode));
  CHECK(!is_same_constant(fast, also));
  CHECK(text(fast) == "object of __torch__.torch.classes.demo.Mode");
  {
    const RegistrationHandle registration = register_custom_class<Mode>(kMode);
    CHECK(is_constant_class(kMode));
    CHECK(constant_object(fast));
    CHECK(is_same_constant(fast, also));
    CHECK(!is_same_constant(fast, exact));
    CHECK(text(IValue(std::vector<IValue>{fast, exact})) == "[Mode.fast, Mode.exact]");
  }
  CHECK(!is_constant_class(kMode));
  CHECK(!constant_object(fast));
}

TEST_CASE("an object of another class that has the name is no constant") {
  const RegistrationHandle registration = register_custom_class<Mode>(kMode);
  const IValue impostor = object(new Impostor);
  CHECK(!constant_object(impostor));
  CHECK(!is_same_constant(impostor, impostor));
  CHECK(!is_same_constant(object(new Mode(true)), impostor));
  CHECK(!constant_object(3));
}

TEST_CASE(
    "a class is registered once, by a name that schemas know, and constants guard no values") {
  const RegistrationHandle registration = register_custom_class<Mode>(kMode);
  CHECK_THROWS_AS(register_custom_class<Mode>(kMode).release(), RuntimeError);
  CHECK_THROWS_WITH(register_custom_class<Mode>(kMode).release(),
                    Contains("Mode is registered already, at ") &&
                        Contains("custom_class_test.cc") && Contains("; got another at "));
  for (const char* const name : {"int", "demo.Mode", "__torch__.torch.classes.Mode", ""})
    CHECK_THROWS_AS(register_custom_class<Impostor>(name).release(), ValueError);
  CHECK_THROWS_WITH(register_custom_class<Impostor>("int").release(),
                    "register_custom_class: expected a name as schemas spell it, '__torch__.torch."
                    "classes.NAMESPACE.NAME', got 'int'");
  const auto guard = [](const Mode& m) { return std::vector<IValue>{m.fast}; };
  CHECK_THROWS_AS(
      register_custom_class<Mode>("__torch__.torch.classes.demo.Other", guard).release(),
      TypeError);
}

}  // namespace
}  // namespace sb
