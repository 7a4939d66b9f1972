#include "switchboard/fake/fake_class.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/inspect/custom_class.h"
#include "switchboard/dispatch/kernel.h"

namespace sb {
namespace {

// No object holds so many, one in another.
constexpr int kDeepest = 100;

struct FakeClass {
  internal::FromReal from_real;
  SourceLocation where;
};

// Never destroyed: handles of static objects may outlive it otherwise.
struct Registry {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const FakeClass>, std::less<>> classes;
};
Registry& registry() {
  static Registry* const registry = new Registry;
  return *registry;
}

// nullptr where nobody registered the class.
std::shared_ptr<const FakeClass> find(std::string_view name) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.classes.find(name);
  return found == all.classes.end() ? nullptr : found->second;
}

}  // namespace

RegistrationHandle internal::register_fake_class(std::string_view name, FromReal from_real,
                                                 SourceLocation where) {
  SB_CHECK_VALUE(from_real, "register_fake_class: ", name,
                 ": expected a function that makes a stand-in, got an empty one");
  const auto added = std::make_shared<const FakeClass>(FakeClass{std::move(from_real), where});
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto [there, is_new] = all.classes.try_emplace(std::string(name), added);
  SB_CHECK(is_new, "register_fake_class: ", name, " is registered already, at ",
           sb::to_string(there->second->where), "; got another at ", sb::to_string(where));
  return RegistrationHandle([name = there->first] {
    Registry& r = registry();
    std::shared_ptr<const FakeClass> gone;  // its function may hold handles: not below the lock
    const std::lock_guard<std::mutex> guard(r.mutex);
    const auto found = r.classes.find(name);
    gone = std::move(found->second);
    r.classes.erase(found);
  });
}

bool has_fake_class(std::string_view name) { return find(name) != nullptr; }

IntrusivePtr<OpaqueObject> to_fake_object(FakeTensorMode& mode,
                                          const IntrusivePtr<OpaqueObject>& object) {
  SB_CHECK_VALUE(object, "to_fake_object: expected an object, got null");
  if (dynamic_cast<const FakeObject*>(object.get()) || constant_object(IValue(object)))
    return object;
  const std::string_view name = object->class_name();
  const std::shared_ptr<const FakeClass> fake_class = find(name);
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
