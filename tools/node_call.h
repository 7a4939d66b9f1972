// From a program's node to calls of its operator.

#ifndef SWITCHBOARD_TOOLS_NODE_CALL_H_
#define SWITCHBOARD_TOOLS_NODE_CALL_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "switchboard/core/device.h"
#include "switchboard/core/scalar.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/function_schema.h"
#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/tools/io/program.h"

namespace sb::tools {

// Where the tensors of a run lie, by the names that the program gives them.
using Places = absl::flat_hash_map<std::string, size_t>;

// A node whose arguments are bound, all but the tensors of the run. The operator must outlive it.
class NodeCall {
 public:
  // Binds the arguments by name and fills in the defaults. Throws TypeError unless every argument
  // of `node` is one of the schema's and of its type, every argument without a default is given,
  // and the node names one output for each return.
  NodeCall(const io::Node& node, OperatorHandle op, const Places& places);

  // The arguments as the operator takes them, with tensors from `values`. A number given for a
  // Tensor becomes a wrapped number. The program was exported from the CPU and runs on `device`:
  // devices that it names become that one, and so does the default of an operator that makes a
  // tensor from none.
  Stack arguments(absl::Span<const Tensor> values, Device device) const;
  const OperatorHandle& op() const { return op_; }

 private:
  using Elements = std::vector<std::optional<size_t>>;
  struct TensorArgument {
    size_t argument;
    size_t place;
  };
  struct NumberArgument {
    size_t argument;
    Scalar value;
  };
  struct ListArgument {
    size_t argument;
    Elements places;
  };

  IValue value_of(const io::Argument& given, size_t argument, const Places& places);
  void remember_list(size_t argument, Elements elements);
  void default_to_device();

  OperatorHandle op_;
  Stack bound_;  // with undefined tensors where those of a run belong
  std::vector<TensorArgument> tensors_;
  std::vector<NumberArgument> numbers_;
  std::vector<ListArgument> lists_;
  std::vector<size_t> devices_;  // arguments that are the run's device
};

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_NODE_CALL_H_
