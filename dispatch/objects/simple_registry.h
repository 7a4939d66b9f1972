// Facts about operators that the dispatcher does not keep: fake rules, mode rules, ...

#ifndef SWITCHBOARD_DISPATCH_OBJECTS_SIMPLE_REGISTRY_H_
#define SWITCHBOARD_DISPATCH_OBJECTS_SIMPLE_REGISTRY_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "switchboard/dispatch/kernel.h"
#include "switchboard/dispatch/registration_handle.h"

namespace sb {

// As `torch._library.simple_registry`: one entry for each qualified name ("aten::add.Tensor"),
// which holds at most one value of each C++ type. Whoever has facts to keep brings the type; to
// keep one for each type of mode, say, let the type be a template. An operator need not exist.
// Thread-safe.
class SimpleRegistry {
 public:
  SimpleRegistry() : facts_(std::make_shared<Facts>()) {}
  SimpleRegistry(const SimpleRegistry&) = delete;
  SimpleRegistry& operator=(const SimpleRegistry&) = delete;

  // Keeps a value until the handle is destroyed. Throws RuntimeError naming both places if there is
  // one of the type already, ValueError if the name is not "ns::name" or "ns::name.overload". The
  // handle may outlive the registry.
  template <class T>
  RegistrationHandle add(std::string_view qualname, T value,
                         SourceLocation where = SourceLocation::current()) {
    return add_erased(qualname, typeid(T), std::make_shared<const T>(std::move(value)), where);
  }

  // The value of that type, or nullptr. It lives on while it is held, even if it is taken out.
  template <class T>
  std::shared_ptr<const T> find(std::string_view qualname) const {
    return std::static_pointer_cast<const T>(find_erased(qualname, typeid(T)));
  }

  // The names that have an entry, sorted.
  std::vector<std::string> names() const;

 private:
  struct Fact {
    std::shared_ptr<const void> value;
    SourceLocation where;
  };
  struct Facts {
    mutable std::mutex mutex;
    std::map<std::string, std::map<std::type_index, Fact>, std::less<>> entries;
  };

  RegistrationHandle add_erased(std::string_view qualname, std::type_index type,
                                std::shared_ptr<const void> value, SourceLocation where);
  std::shared_ptr<const void> find_erased(std::string_view qualname, std::type_index type) const;

  std::shared_ptr<Facts> facts_;
};

// The registry that goes with default_dispatcher(). Never destroyed.
SimpleRegistry& default_simple_registry();

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OBJECTS_SIMPLE_REGISTRY_H_
