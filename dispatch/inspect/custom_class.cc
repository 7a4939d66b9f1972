#include "switchboard/dispatch/inspect/custom_class.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "switchboard/core/error.h"

namespace sb {
namespace {

constexpr std::string_view kPrefix = "__torch__.torch.classes.";

struct CustomClass {
  bool constant;
  bool (*is_object)(const OpaqueObject&);
  internal::GuardedValues guarded;
  SourceLocation where;
};

// Never destroyed: handles of static objects may outlive it otherwise.
struct Registry {
  std::mutex mutex;  // not absl::Mutex; see Dispatcher
  std::map<std::string, std::shared_ptr<const CustomClass>, std::less<>> classes;
};
Registry& registry() {
  static Registry* const registry = new Registry;
  return *registry;
}

// nullptr where nobody registered the class.
std::shared_ptr<const CustomClass> find(std::string_view name) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.classes.find(name);
  return found == all.classes.end() ? nullptr : found->second;
}

}  // namespace

RegistrationHandle internal::register_custom_class(std::string_view name, bool constant,
                                                   bool (*is_object)(const OpaqueObject&),
                                                   GuardedValues guarded, SourceLocation where) {
  SB_CHECK_VALUE(name.starts_with(kPrefix) && name.find('.', kPrefix.size()) != name.npos,
                 "register_custom_class: expected a name as schemas spell it, '", kPrefix,
                 "NAMESPACE.NAME', got '", name, "'");
  const auto facts = std::make_shared<const CustomClass>(
      CustomClass{constant, is_object, std::move(guarded), where});
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto [there, is_new] = all.classes.try_emplace(std::string(name), facts);
  SB_CHECK(is_new, "register_custom_class: ", name, " is registered already, at ",
           there->second->where.file_name(), ":", there->second->where.line(), "; got another at ",
           where.file_name(), ":", where.line());
  return RegistrationHandle([name = there->first] {
    Registry& r = registry();
    const std::lock_guard<std::mutex> guard(r.mutex);
    r.classes.erase(name);
  });
}

bool is_constant_class(std::string_view name) {
  const std::shared_ptr<const CustomClass> facts = find(name);
  return facts && facts->constant;
}

const ConstantObject* constant_object(const IValue& value) {
  if (!value.is_Object()) return nullptr;
  const IntrusivePtr<OpaqueObject> object = value.to_object();  // the value keeps it, too
  const std::shared_ptr<const CustomClass> facts = find(object->class_name());
  if (!facts || !facts->constant || !facts->is_object(*object)) return nullptr;
  return static_cast<const ConstantObject*>(object.get());
}

std::vector<IValue> guarded_values(const OpaqueObject& object) {
  const std::shared_ptr<const CustomClass> facts = find(object.class_name());
  return facts && facts->guarded ? facts->guarded(object) : std::vector<IValue>();
}

}  // namespace sb
