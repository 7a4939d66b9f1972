// Functions that give numbers, where the operators that call them know tensors alone.

#ifndef SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_NUMBERS_H_
#define SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_NUMBERS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/core/dtype.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb::control_flow {

// What a value is: a number has a dtype as a tensor.
enum class ValueKind : uint8_t { Tensor, Int, Float, Bool, None };
// Throws TypeError, naming `who`, for any other value.
ValueKind kind_of(const std::string& who, const IValue& value);
// "an int".
std::string_view name_of(ValueKind kind);

// The tensors among the values; numbers as tensors without dimensions on the CPU, of the mode of
// the tensors among them or beside them; None left out.
std::vector<Tensor> to_tensors(const std::vector<IValue>& values,
                               const std::vector<Tensor>& beside = {});
// The values of these kinds, and then the tensors that are left. A number in a fake tensor is a
// symbol; DataDependentOutputError where the mode has none.
std::vector<IValue> to_values(const std::vector<Tensor>& tensors,
                              const std::vector<ValueKind>& kinds);

// What several functions give, which must agree: known once one of them has run.
class ResultKinds {
 public:
  // f as a function of tensors. RuntimeError, naming `who`, the result and both kinds, where it
  // gives other kinds than a function before it.
  IValue callable(std::string who,
                  std::function<std::vector<IValue>(const std::vector<Tensor>&)> f) const;
  // The values that results of the functions stand for.
  std::vector<IValue> values(const std::vector<Tensor>& results) const;

 private:
  std::shared_ptr<std::optional<std::vector<ValueKind>>> kinds_ =
      std::make_shared<std::optional<std::vector<ValueKind>>>();
};

}  // namespace sb::control_flow

#endif  // SWITCHBOARD_TRANSFORMS_CONTROL_FLOW_NUMBERS_H_
