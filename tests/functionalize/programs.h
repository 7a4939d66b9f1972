// Programs that mutate, and what to compare when they are run in two ways.

#ifndef SWITCHBOARD_TESTS_FUNCTIONALIZE_PROGRAMS_H_
#define SWITCHBOARD_TESTS_FUNCTIONALIZE_PROGRAMS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/transforms/functionalization/functionalization.h"

namespace sb::test {

using Tensors = std::vector<Tensor>;

struct Program {
  const char* name;
  // Fresh inputs on a device; they may share memory.
  std::function<Tensors(Device place)> inputs;
  TensorFunction run;
};

// One for each way to mutate that there is.
const std::vector<Program>& programs();

// 1, 2, 3, ... in this shape.
Tensor counting(std::vector<int64_t> sizes, Device place, DType dtype = DType::Float32);

// The two routes to functionalisation.
enum class Route { Key, Mode };
TensorFunction functionalized(Route route, const TensorFunction& f);

// dtype, shape, strides, offset and, where there are any, elements; a line for each tensor.
std::string text_of(const Tensors& tensors);

// Stands below functionalisation, or above if it is a user's mode, and notes what arrives there.
class Watcher : public DispatchMode {
 public:
  explicit Watcher(std::optional<ModeKey> key = ModeKey::Proxy) : key_(key) {}
  void call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) override;
  std::string name() const override { return "Watcher"; }
  std::optional<ModeKey> mode_key() const override { return key_; }

  bool saw(const std::string& op) const;

  std::vector<std::string> ops;
  std::vector<std::string> mutating;  // of these, the ones that mutate

 private:
  std::optional<ModeKey> key_;
};

}  // namespace sb::test

#endif  // SWITCHBOARD_TESTS_FUNCTIONALIZE_PROGRAMS_H_
