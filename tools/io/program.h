// An exported program, as plain data: what models/NAME.json of a `.pt2` archive says, checked.
//
// A program runs as an environment from names to tensors: its inputs are bound, its nodes run in
// order, its outputs are read. program_parser.h makes one from JSON; it guarantees what the
// comments here say, so that a reader of these structs checks nothing again. Whether an operator
// exists, and whether a node's arguments fit its schema, is for who runs it.

#ifndef SWITCHBOARD_TOOLS_IO_PROGRAM_H_
#define SWITCHBOARD_TOOLS_IO_PROGRAM_H_

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "switchboard/core/device.h"
#include "switchboard/core/dtype.h"
#include "switchboard/core/layout.h"

namespace sb::io {

// What a tensor is, without its data. Sizes, strides and offset are in elements and not negative;
// there are as many strides as sizes; the number of elements fits int64. The layout is strided and
// the device is the CPU, as everything else is refused.
struct TensorMeta {
  DType dtype = DType::Float32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t storage_offset = 0;
  bool requires_grad = false;

  // "float32[2, 3]": for messages.
  std::string describe() const;
  bool operator==(const TensorMeta&) const = default;
};

struct None {
  bool operator==(const None&) const = default;
};

// A use or a definition of a tensor of the environment.
struct TensorRef {
  std::string name;
  bool operator==(const TensorRef&) const = default;
};

using TensorRefs = std::vector<TensorRef>;
using OptionalTensorRefs = std::vector<std::optional<TensorRef>>;

// A value of a node's argument. Its alternative follows the Python value that was traced, not the
// operator's schema: a `Scalar` or `float` parameter may be given an int64_t, a `Tensor` one a
// number, any list one an empty list of another kind, an `int[2]` one an int64_t. Who runs the
// program coerces against the schema.
using Argument = std::variant<None,                      // as_none, as_optional_tensor
                              TensorRef,                 // as_tensor, as_optional_tensor
                              TensorRefs,                // as_tensors
                              OptionalTensorRefs,        // as_optional_tensors
                              int64_t,                   // as_int
                              std::vector<int64_t>,      // as_ints
                              double,                    // as_float
                              std::vector<double>,       // as_floats
                              bool,                      // as_bool
                              std::vector<bool>,         // as_bools
                              std::string,               // as_string
                              std::vector<std::string>,  // as_strings
                              std::complex<double>,      // as_complex
                              DType,                     // as_scalar_type
                              Layout,                    // as_layout
                              MemoryFormat,              // as_memory_format
                              Device>;                   // as_device, always the CPU

// "ints", "tensor", "none": the tag of an argument without "as_", for messages.
std::string_view kind_of(const Argument& argument);

// An argument that was passed. Those that were not are absent: bind by name, and take the schema's
// default for the rest.
struct NamedArgument {
  std::string name;  // of the schema's parameter; each at most once in a node
  Argument value;
};

// What one return of a node's operator is called: nothing, one tensor, or one for each element of a
// Tensor[].
using NodeOutput = std::variant<None, TensorRef, TensorRefs>;

// One call.
struct Node {
  std::string op;        // "aten::add"
  std::string overload;  // "Tensor"; empty for the default overload
  std::vector<NamedArgument>
      inputs;                       // in schema order, with gaps; uses only what is defined before
  std::vector<NodeOutput> outputs;  // one for each return; each name is new
  std::string name;                 // the node's own; empty in archives that have none
  std::string stack_trace;          // where in the Python source it was traced; may be empty
  std::string nn_module_stack;      // "key,path,type;..": the modules around it; may be empty

  // "aten::add.Tensor", "aten::mm".
  std::string target() const;
};

// As `torch.export.graph_signature.InputKind`; Constant is a user input that is not a tensor.
enum class InputKind { Parameter, Buffer, TensorConstant, User, Constant };

struct InputSpec {
  InputKind kind = InputKind::User;
  std::string name;         // what the graph calls it; for User inputs, what a caller binds
  std::string target;       // Parameter, Buffer, TensorConstant: its dotted name in the module
  bool persistent = false;  // Buffer: whether it is among the weights, or else the constants
  // Constant: the fixed Python value, None, bool, int64_t, double or std::string. The graph does
  // not use it by name.
  Argument value;
};

// As `torch.export.graph_signature.OutputKind`. The three mutations are to be written back to what
// `target` names after the run.
enum class OutputKind { User, BufferMutation, ParameterMutation, UserInputMutation };

struct OutputSpec {
  OutputKind kind = OutputKind::User;
  // A TensorRef; for User also a constant (None, bool, int64_t, double, std::string).
  Argument arg;
  // Mutations: the dotted name of the buffer or parameter, or the name of the user input.
  std::string target;
};

// As the `verifiers` of the archive: what `torch.export.export` gives (composite and in-place
// operators appear), or what `run_decompositions()` makes of it (functional operators only).
enum class Dialect { Training, Aten };
std::string_view to_string(Dialect dialect);  // "TRAINING", "ATEN"

struct Program {
  // Where it came from, for messages: "net.pt2: models/model.json".
  std::string origin;
  std::vector<InputSpec> inputs;    // in graph order: parameters, buffers, constants, user inputs
  std::vector<OutputSpec> outputs;  // in graph order: mutations, then user outputs
  std::vector<Node> nodes;          // in execution order
  // What the exporter saw: metadata of every tensor input and of every node output, at least. The
  // storage offsets are not to be relied on.
  absl::flat_hash_map<std::string, TensorMeta> tensor_values;
  Dialect dialect = Dialect::Aten;
  int64_t schema_minor = 0;
  std::string torch_version;  // may be empty

  // The metadata of a value. Throws ValueError naming it if there is none.
  const TensorMeta& meta_of(std::string_view name) const;
  // "net.pt2: models/model.json: graph_module/graph/nodes[3] (addmm_1)". `node` counts from 0.
  std::string place_of(size_t node) const;
};

}  // namespace sb::io

#endif  // SWITCHBOARD_TOOLS_IO_PROGRAM_H_
