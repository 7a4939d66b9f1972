// The arguments of a call as a plan: what they would have to be made of, so that they can be
// varied, made smaller, and written down.

#ifndef SWITCHBOARD_CUSTOM_OPS_OPCHECK_ARGUMENT_PLAN_H_
#define SWITCHBOARD_CUSTOM_OPS_OPCHECK_ARGUMENT_PLAN_H_

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/dispatch/schema/function_schema.h"
#include "switchboard/dispatch/schema/ivalue.h"

namespace sb::internal {

struct MemoryPlan {
  DType dtype = DType::Float32;
  Device device;
  std::vector<std::complex<double>> elements;
};

// A view of one of the memories.
struct TensorPlan {
  size_t memory = 0;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = 0;
  bool requires_grad = false;
  bool wrapped_number = false;

  int64_t numel() const;
  bool is_contiguous() const;
  // The same with the strides of a new tensor, in dimensions without a second element, too.
  bool lies_as_new() const;
};

// An argument: a value without tensors, or one or several of the plan's tensors.
struct ValuePlan {
  enum class Kind : uint8_t { Plain, Tensor, Tensors, OptionalTensors };
  Kind kind = Kind::Plain;
  IValue plain;
  std::vector<std::optional<size_t>> tensors;  // nullopt: none, or an undefined one
};

struct ArgumentPlan {
  std::vector<MemoryPlan> memories;
  std::vector<TensorPlan> tensors;  // one that two values name is one tensor
  std::vector<ValuePlan> values;    // one for each argument of the schema

  // The plan of arguments that are there. Lazy bits are resolved. Tensors of one storage and
  // different dtypes come apart.
  static ArgumentPlan of(const Stack& arguments);
  // Fresh arguments.
  Stack build() const;

  const MemoryPlan& memory_of(const TensorPlan& t) const { return memories[t.memory]; }
  // The tensor's elements in the order of its indices.
  std::vector<std::complex<double>> elements_of(const TensorPlan& t) const;
  // Gives the tensor memory of its own, with these sizes, contiguous; elements are repeated, or
  // left out, as need be.
  void lay_out(size_t tensor, std::vector<int64_t> sizes);
  // The same with its sizes and these strides and offset; gaps hold 99.
  void lay_out_strided(size_t tensor, const std::vector<int64_t>& strides, int64_t offset);
  // Returns whether another tensor has the same memory.
  bool shares_memory(size_t tensor) const;
  // Takes away tensors and memories that nothing names.
  void drop_unused();
};

// A plan as C++: declarations of its tensors, each "  const Tensor x = ...;\n" by functions of
// test_arguments.h, and an expression for each of its values.
struct PlanCode {
  std::string declarations;
  std::vector<std::string> values;
};
PlanCode code_of(const FunctionSchema& schema, const ArgumentPlan& plan);
// An expression of a value without tensors: "std::vector<int64_t>{1, 2}".
std::string code_of(const IValue& value);
// The text as a string literal.
std::string string_code(std::string_view text);

// The call in a line: "demo::f(float32[2, 3] strides [1, 2], 2, alpha=0.5)".
std::string call_text(const FunctionSchema& schema, const ArgumentPlan& plan);
// A file with a test case that makes the call under opcheck. `check` names the check that failed,
// `message` says how.
std::string test_text(const FunctionSchema& schema, const ArgumentPlan& plan,
                      const std::string& check, const std::string& message);

}  // namespace sb::internal

#endif  // SWITCHBOARD_CUSTOM_OPS_OPCHECK_ARGUMENT_PLAN_H_
