// Lets one rule serve all routes on which calls are functionalised.

#ifndef SWITCHBOARD_DISPATCH_OBJECTS_FUNCTIONALIZE_API_H_
#define SWITCHBOARD_DISPATCH_OBJECTS_FUNCTIONALIZE_API_H_

#include <functional>
#include <memory>
#include <optional>
#include <typeindex>

#include "switchboard/dispatch/modes/function_transform.h"
#include "switchboard/dispatch/objects/callable.h"

namespace sb {

class DispatchMode;

// The services that a rule needs of its route. As `BaseFunctionalizeAPI`.
class FunctionalizeApi {
 public:
  virtual ~FunctionalizeApi() = default;
  // Every tensor in the value as its plain value, and as a functional tensor.
  virtual IValue unwrap(const IValue& value) const = 0;
  virtual IValue wrap(const IValue& value) const = 0;
  // Runs what is called below this level of functionalisation.
  virtual void redispatch(const std::function<void()>& call) const = 0;
  // f as a function of plain tensors that mutates nothing.
  virtual Callable::Function functionalize(Callable::Function f) const = 0;
};

using FunctionalizeApiRule =
    std::function<void(const FunctionalizeApi& api, DispatchKeySet keys, Stack* stack)>;

// A function for each route, which makes the services that its rules need; null where there is no
// such route. The package that has functionalisation supplies them.
struct FunctionalizeRoutes {
  std::function<std::unique_ptr<FunctionalizeApi>()> key = nullptr;
  std::optional<std::type_index> mode_type = std::nullopt;  // goes with `mode`
  std::function<std::unique_ptr<FunctionalizeApi>(DispatchMode&)> mode = nullptr;
  std::function<std::unique_ptr<FunctionalizeApi>(FunctionTransform&)> transform = nullptr;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OBJECTS_FUNCTIONALIZE_API_H_
