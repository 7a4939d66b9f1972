// A program that PyTorch exported, loaded and run in a few lines.
//
//   ExportedProgram program = load_exported_program("net.pt2");
//   const std::vector<IValue> outputs = program({x});
//
// It runs node by node: each node calls its operator through the dispatcher, so that whatever modes
// stand on the thread see every call, and gradients flow where an input or a parameter requires
// one. The counterpart of `torch.export.load("net.pt2").module()`.
//
// A process has the operators that it links: //ops gives those of aten, //ops:derivatives their
// gradients; the SDK has both. load_library() adds those of a plugin.

// ..._IO_EXPORTED_PROGRAM_H_ is the guard of io/exported/program.h.
#ifndef SWITCHBOARD_IO_EXPORTEDPROGRAM_H_
#define SWITCHBOARD_IO_EXPORTEDPROGRAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "switchboard/core/device.h"
#include "switchboard/core/dtype.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/io/safetensors/saving.h"

namespace sb {

// What a caller gives to a program, or gets from it.
struct ExportedValue {
  std::string name;  // as the program calls it: for an input the parameter of forward(), "x"
  std::string type;  // "float32[s0, 64]" of a tensor, else "number" or "constant"
  // Of a tensor. A size that the program leaves open is nullopt.
  std::optional<DType> dtype = std::nullopt;
  std::vector<std::optional<int64_t>> sizes = {};
};

// A program with its parameters and buffers, which start on the CPU. It can be moved, not copied.
// Not thread-safe: one thread at a time, and nobody else may write to its tensors while it runs.
class ExportedProgram {
 public:
  ExportedProgram(ExportedProgram&& other) noexcept;
  ExportedProgram& operator=(ExportedProgram&& other) noexcept;
  ~ExportedProgram();

  // Runs it on one value for each of inputs(), in order, and gives one for each of outputs().
  // It runs where its parameters and buffers are; if it has none, where the first tensor that it is
  // given is. Devices that the program names become that one.
  //
  // After a run, each buffer and input that the program mutates holds its new values; the next run
  // goes on from there. If an operator throws, none has changed, unless the program itself has
  // in-place operators (one before run_decompositions() may).
  //
  // Throws, before anything runs, NotImplementedError that lists every operator that is missing;
  // TypeError for a node that does not fit its operator's schema, and for inputs of another number
  // or kind; ValueError for inputs of another dtype, of
  // sizes that the program does not take or its guards exclude, and for a parameter without data.
  // Sizes that are symbols are not checked. Errors of operators come with the place of their node
  // before them: "net.pt2: models/model.json: graph_module/graph/nodes[3] (addmm_1): ".
  //
  // Unlike a module of PyTorch it takes the flat list of inputs, without those that were constants
  // when the program was exported, and checks their dtypes.
  std::vector<IValue> operator()(std::vector<IValue> inputs);

  const std::vector<ExportedValue>& inputs() const;
  const std::vector<ExportedValue>& outputs() const;

  // The tensors that the program uses, by their dotted names: "fc1.weight". Whoever writes to one
  // changes the program. Parameters do not require gradients until set_requires_grad() says so.
  TensorMap parameters() const;
  TensorMap buffers() const;

  // Uses another tensor as the parameter, buffer or constant of that name. Throws ValueError for an
  // unknown name, and for a tensor of another dtype or other sizes.
  void assign(std::string_view name, const Tensor& tensor);
  // Uses f(t) in place of each parameter, buffer and constant t. As `Module._apply`. The way into
  // fake mode:
  //   program.apply([&](const Tensor& t) { return fake.from_tensor(t, Device("cuda:0")); });
  // Throws what f throws, which leaves the program as it was.
  void apply(absl::FunctionRef<Tensor(const Tensor&)> f);
  // Moves every parameter, buffer and constant to a device. Those that share memory still do, and
  // those that require a gradient still do; what parameters() gave before is no longer the
  // program's. As `Module.to`. Throws what copying throws, which leaves the program as it was.
  void to(Device device);

  // The names of what the program needs and this process does not have: "torchvision::nms". It can
  // be run once this is empty; a library may be loaded in between.
  std::vector<std::string> missing_operators() const;
  // What the file says and is passed over: fields of later versions of the format, and guards that
  // could not be read, which are not checked.
  const std::vector<std::string>& warnings() const;

 private:
  struct Impl;
  explicit ExportedProgram(std::unique_ptr<Impl> impl);
  friend ExportedProgram load_exported_program(const std::string& path);
  friend ExportedProgram load_exported_program(absl::Span<const char> bytes,
                                               const std::string& name);

  std::unique_ptr<Impl> impl_;
};

// Reads what `torch.export.save` wrote (PyTorch 2.9 and later). `path` is a `.pt2` file, the folder
// that one unpacks to (parameters may be absent, and given by assign()), or a folder with one model
// NAME.pt2, or with several of which one has the folder's name.
//
// The file is taken to be hostile: a wrong byte gives an error, never a crash, a wrong tensor or
// more memory than the file's size accounts for. Throws, naming the file and the record, ValueError
// for what is missing, malformed or damaged; NotImplementedError for what is well-formed but not
// supported (archives of earlier versions, pickled weights, compressed records); RuntimeError for
// what the system refuses. An operator that is missing is no error yet: see missing_operators().
ExportedProgram load_exported_program(const std::string& path);
// The same for the bytes of a `.pt2` file. `name` is for messages.
ExportedProgram load_exported_program(absl::Span<const char> bytes, const std::string& name);

}  // namespace sb

#endif  // SWITCHBOARD_IO_EXPORTEDPROGRAM_H_
