#include "switchboard/fake/fake_class.h"

#include <memory>
#include <string>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/inspect/custom_class.h"
#include "switchboard/dispatch/objects/simple_registry.h"

namespace sb {
namespace {

// No object holds so many, one in another.
constexpr int kDeepest = 100;

struct FakeClass {
  internal::FromReal from_real;
  SourceLocation where;
};

// By the names of the classes, as qualified() gives them. Never destroyed: handles of static
// objects may outlive it otherwise.
SimpleRegistry& classes() {
  static auto* const classes = new SimpleRegistry;
  return *classes;
}

// "demo::Queue" for "__torch__.torch.classes.demo.Queue"; any other name as it is.
std::string qualified(std::string_view class_name) {
  constexpr std::string_view kPrefix = "__torch__.torch.classes.";
  const size_t dot = class_name.find('.', kPrefix.size());
  if (!class_name.starts_with(kPrefix) || dot == class_name.npos) return std::string(class_name);
  return str_cat(class_name.substr(kPrefix.size(), dot - kPrefix.size()),
                 "::", class_name.substr(dot + 1));
}

}  // namespace

RegistrationHandle internal::register_fake_class(std::string_view name, FromReal from_real,
                                                 SourceLocation where) {
  SB_CHECK_VALUE(from_real, "register_fake_class: ", name,
                 ": expected a function that makes a stand-in, got an empty one");
  try {
    return classes().add(qualified(name), FakeClass{std::move(from_real), where}, where);
  } catch (const Error& error) {
    rethrow_with_context(error, "register_fake_class: ");
  }
}

bool has_fake_class(std::string_view name) {
  return classes().find<FakeClass>(qualified(name)) != nullptr;
}

IntrusivePtr<OpaqueObject> to_fake_object(FakeTensorMode& mode,
                                          const IntrusivePtr<OpaqueObject>& object) {
  SB_CHECK_VALUE(object, "to_fake_object: expected an object, got null");
  if (dynamic_cast<const FakeObject*>(object.get()) || constant_object(IValue(object)))
    return object;
  const std::string_view name = object->class_name();
  const std::shared_ptr<const FakeClass> fake_class = classes().find<FakeClass>(qualified(name));
  SB_CHECK(fake_class, "to_fake_object: ", name,
           ": nobody said what stands for its objects; register_fake_class() it");
  static constinit thread_local int depth = 0;
  struct Deeper {
    Deeper() { ++depth; }
    ~Deeper() { --depth; }
  } const deeper;
  SB_CHECK(depth <= kDeepest, "to_fake_object: ", name, ": stand-ins are made of each other ",
           kDeepest, " deep; an object must not hold itself");
  const IntrusivePtr<FakeObject> fake = fake_class->from_real(mode, *object);
  SB_CHECK(fake, "to_fake_object: ", name, ": expected a stand-in, got null, or an object of ",
           "another class of that name; registered at ", to_string(fake_class->where));
  SB_CHECK(fake->class_name() == name, "to_fake_object: ", name,
           ": expected a stand-in of that class, got one of ", fake->class_name(),
           "; registered at ", to_string(fake_class->where));
  return fake;
}

}  // namespace sb
