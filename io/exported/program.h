// An exported program, as plain data: what models/NAME.json of a `.pt2` archive says, checked.
//
// A graph runs as an environment from names to values: its inputs are bound, its nodes run in
// order, its outputs are read. program_parser.h makes a program from JSON; it guarantees what the
// comments here say, so that a reader of these structs checks nothing again. Whether an operator
// exists, and whether a node's arguments fit its schema, is for who runs it.

#ifndef SWITCHBOARD_IO_EXPORTED_PROGRAM_H_
#define SWITCHBOARD_IO_EXPORTED_PROGRAM_H_

#include <complex>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "switchboard/core/device.h"
#include "switchboard/core/dtype.h"
#include "switchboard/core/layout.h"
#include "switchboard/core/tensor.h"
#include "switchboard/io/exported/expression.h"

namespace sb::io {

// What a tensor is, without its data. Sizes, strides and offset are in elements and not negative;
// there are as many strides as sizes; the number of elements fits int64. The layout is strided.
struct TensorMeta {
  DType dtype = DType::Float32;
  std::vector<int64_t> sizes = {};
  std::vector<int64_t> strides = {};
  int64_t storage_offset = 0;
  bool requires_grad = false;

  // "float32[2, 3]": for messages.
  std::string describe() const;
  bool operator==(const TensorMeta&) const = default;
};

// The same of a value of a graph, where sizes may be expressions. The storage offset that files
// have is not to be relied on, and so not here.
struct ValueMeta {
  DType dtype = DType::Float32;
  std::vector<Expression> sizes = {};
  std::vector<Expression> strides = {};
  bool requires_grad = false;

  // Whether no size or stride has a symbol.
  bool is_static() const;
  // With these numbers for the symbols, all of them plain. Throws ValueError for a symbol without a
  // number, RuntimeError for sizes that no tensor has.
  TensorMeta at(const SymbolValues& symbols = {}) const;
  // Whether the tensor has this dtype and these sizes. A size that is an expression here, or a
  // symbol there, may be any.
  bool admits(const Tensor& tensor) const;
  std::string describe() const;  // "float32[s0, 3]"
  bool operator==(const ValueMeta&) const = default;
};

struct Graph;
struct NamedArgument;

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

// A use or a definition of a number of the environment: an int, a float or a bool that may depend
// on symbols.
struct SymRef {
  std::string name;
  bool operator==(const SymRef&) const = default;
};

// Lists of numbers of which some are of the environment.
using SymInts = std::vector<std::variant<int64_t, SymRef>>;
using SymFloats = std::vector<std::variant<double, SymRef>>;
using SymBools = std::vector<std::variant<bool, SymRef>>;

// A function that a higher-order operator takes.
struct GraphRef {
  std::string name;  // "true_graph_0"
  std::shared_ptr<const Graph> graph;
  bool operator==(const GraphRef&) const = default;
};

// An object of a class that the program was exported with.
struct ObjectRef {
  std::string name;
  std::string class_name;  // as Python qualifies it
  bool operator==(const ObjectRef&) const = default;
};

// An effect token, which orders calls; the order of nodes does so here.
struct TokenRef {
  std::string name;
  bool operator==(const TokenRef&) const = default;
};

// An operator as a value: "torch.ops.aten.add.Tensor".
struct OperatorRef {
  std::string target;
  bool operator==(const OperatorRef&) const = default;
};

// Arguments by name, in order: a dict.
using ArgumentMap = std::shared_ptr<const std::vector<NamedArgument>>;

// What this reader does not know, as files of later versions may have it. Who runs the program
// refuses it.
struct UnknownArgument {
  std::string tag;
  bool operator==(const UnknownArgument&) const = default;
};

// A value of a node's argument. Its alternative follows the Python value that was traced, not the
// operator's schema: a `Scalar` or `float` parameter may be given an int64_t, a `Tensor` one a
// number, any list one an empty list of another kind, an `int[2]` one an int64_t. Who runs the
// program coerces against the schema.
using Argument = std::variant<None,                               // as_none, as_optional_tensor
                              TensorRef,                          // as_tensor, as_optional_tensor
                              TensorRefs,                         // as_tensors
                              OptionalTensorRefs,                 // as_optional_tensors
                              int64_t,                            // as_int, as_sym_int
                              std::vector<int64_t>,               // as_ints, as_sym_ints
                              double,                             // as_float, as_sym_float
                              std::vector<double>,                // as_floats, as_sym_floats
                              bool,                               // as_bool, as_sym_bool
                              std::vector<bool>,                  // as_bools, as_sym_bools
                              std::string,                        // as_string
                              std::vector<std::string>,           // as_strings
                              std::complex<double>,               // as_complex
                              DType,                              // as_scalar_type
                              Layout,                             // as_layout
                              MemoryFormat,                       // as_memory_format
                              Device,                             // as_device
                              SymRef,                             // as_sym_int, _float, _bool
                              SymInts,                            // as_sym_ints
                              SymFloats,                          // as_sym_floats
                              SymBools,                           // as_sym_bools
                              GraphRef,                           // as_graph
                              ObjectRef,                          // as_custom_obj
                              TokenRef,                           // tokens of the signature
                              OperatorRef,                        // as_operator
                              std::vector<TensorRefs>,            // as_nested_tensors
                              std::vector<std::vector<int64_t>>,  // as_int_lists
                              std::vector<std::vector<double>>,   // as_float_lists
                              ArgumentMap,                        // as_string_to_argument
                              UnknownArgument>;

// "ints", "tensor", "none": the tag of an argument without "as_", for messages.
std::string_view kind_of(const Argument& argument);

// Calls f(name) for every value of the environment that an argument uses, or a definition defines.
// The values that a graph argument uses are those of its own environment.
void for_each_name(const Argument& argument, absl::FunctionRef<void(const std::string&)> f);

// An argument that was passed. Those that were not are absent: bind by name, and take the schema's
// default for the rest.
struct NamedArgument {
  std::string name;  // of the parameter; each at most once in a node. Of a higher-order operator's
                     // positional arguments empty
  Argument value;
  bool operator==(const NamedArgument&) const = default;
};

// What a node calls.
enum class TargetKind {
  Operator,     // torch.ops.aten.add.Tensor
  HigherOrder,  // torch.ops.higher_order.cond
  SymFunction,  // _operator.add, math.trunc, torch.sym_max: a function of numbers
  Other,        // anything else: who runs the program refuses it
};

// One call.
struct Node {
  TargetKind kind = TargetKind::Operator;
  std::string op;        // "aten::add"; "higher_order::cond"; of the other kinds, as in the file
  std::string overload;  // "Tensor"; empty for the default overload
  std::vector<NamedArgument>
      inputs;  // in schema order, with gaps; uses only what is defined before
  // One for each return: None, TensorRef, TensorRefs, SymRef or ObjectRef; each name is new.
  std::vector<Argument> outputs;
  std::string name;             // the node's own; empty in archives that have none
  std::string stack_trace;      // where in the Python source it was traced; may be empty
  std::string nn_module_stack;  // "key,path,type;..": the modules around it; may be empty

  // "aten::add.Tensor", "aten::mm", "higher_order::cond", "_operator.mul".
  std::string target() const;
};

// A program's body, or a function in it.
struct Graph {
  // Where it stands, for messages: "net.pt2: models/model.json: graph_module/graph".
  std::string place;
  std::vector<Argument> inputs;   // TensorRef, SymRef, ObjectRef, TokenRef, or a constant
  std::vector<Argument> outputs;  // uses, or constants
  std::vector<Node> nodes;        // in execution order
  // What the exporter saw: metadata of every tensor that is defined, at least.
  absl::flat_hash_map<std::string, ValueMeta> tensor_values;
  // What every number that is defined is, as an expression of the symbols.
  absl::flat_hash_map<std::string, Expression> sym_values;
  bool is_single_tensor_return = false;

  // The metadata of a tensor. Throws ValueError naming it if there is none.
  const ValueMeta& meta_of(std::string_view name) const;
  // "net.pt2: models/model.json: graph_module/graph/nodes[3] (addmm_1)". `node` counts from 0.
  std::string place_of(size_t node) const;
};

// As `torch.export.graph_signature.InputKind`; Constant is a user input whose value is fixed.
enum class InputKind { Parameter, Buffer, TensorConstant, CustomObject, User, Constant, Token };

struct InputSpec {
  InputKind kind = InputKind::User;
  std::string name;         // what the graph calls it; for User inputs, what a caller binds
  std::string target;       // Parameter, Buffer, TensorConstant, CustomObject: its dotted name
  bool persistent = false;  // Buffer: whether it is among the weights, or else the constants
  // Constant: the fixed Python value, None, bool, int64_t, double or std::string. The graph does
  // not use it by name. User: what it is in the graph, a TensorRef or a SymRef.
  Argument value;
};
// Whether it is bound to a tensor.
bool is_tensor(const InputSpec& input);

// As `torch.export.graph_signature.OutputKind`. The three mutations are to be written back to what
// `target` names after the run.
enum class OutputKind {
  User,
  Loss,
  BufferMutation,
  ParameterMutation,
  UserInputMutation,
  GradientToParameter,
  GradientToUserInput,
  Token,
};
// Whether its value is a result that a caller gets: a user output, the loss, a gradient.
bool is_result(OutputKind kind);
bool is_mutation(OutputKind kind);

struct OutputSpec {
  OutputKind kind = OutputKind::User;
  // A TensorRef; for User also a SymRef or a constant (None, bool, int64_t, double, std::string).
  Argument arg;
  // Mutations and gradients: the dotted name of the buffer or parameter, or the name of the user
  // input.
  std::string target;
};

// As the `verifiers` of the archive: what `torch.export.export` gives (composite and in-place
// operators appear), or what `run_decompositions()` makes of it (functional operators only).
enum class Dialect { Training, Aten };
std::string_view to_string(Dialect dialect);  // "TRAINING", "ATEN"

// The values that the file allows for a symbol, inclusive; a bound that is left out is none.
struct SymbolRange {
  std::optional<int64_t> min;
  std::optional<int64_t> max;
  bool operator==(const SymbolRange&) const = default;
};

struct Program {
  // Where it came from, for messages: "net.pt2: models/model.json".
  std::string origin;
  Graph graph;
  std::vector<InputSpec> inputs;    // of each of the graph's: parameters, buffers, constants, user
  std::vector<OutputSpec> outputs;  // of each of the graph's: mutations, then results
  // In the order of their names.
  std::map<std::string, SymbolRange> ranges;
  // The numbers that symbols had when the program was exported, as far as the file tells.
  SymbolValues hints;
  // What else the exporter assumed of its inputs, in Python: "L['x'].size()[0] <= 64".
  std::vector<std::string> guards;
  Dialect dialect = Dialect::Aten;
  int64_t schema_minor = 0;
  std::string torch_version;  // may be empty
  // What the file has and this reader passes over: fields of later versions of the format.
  std::vector<std::string> warnings;

  // Whether a size of an input is an expression.
  bool is_dynamic() const;
};

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_EXPORTED_PROGRAM_H_
