// Exported programs that tests make by hand, and operators on numbers for them.

#ifndef SWITCHBOARD_IO_EXPORTED_PROGRAM_BY_HAND_H_
#define SWITCHBOARD_IO_EXPORTED_PROGRAM_BY_HAND_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "switchboard/autograd/grad_mode.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/io/exported/graph_runner.h"

namespace sb::io::by_hand {

inline Tensor number(float value) {
  const Tensor tensor = empty_on(DeviceType::CPU, {}, DType::Float32);
  *tensor.data<float>() = value;
  return tensor;
}
inline Tensor truth(bool value) {
  const Tensor tensor = empty_on(DeviceType::CPU, {}, DType::Bool);
  *tensor.data<bool>() = value;
  return tensor;
}
inline float value_of(const IValue& value) { return *value.to_tensor().data<float>(); }
inline Tensor row(const std::vector<float>& values) {
  const Tensor tensor = empty_on(DeviceType::CPU, {std::ssize(values)}, DType::Float32);
  std::ranges::copy(values, tensor.data<float>());
  return tensor;
}
inline std::vector<float> values_of(const IValue& value) {
  const Tensor& tensor = value.to_tensor();
  return {tensor.data<float>(), tensor.data<float>() + tensor.numel()};
}

// Operators on 0-dim tensors, in a dispatcher of their own.
class Demo {
 public:
  Demo() : library_(dispatcher, LibraryKind::Def, "demo") {
    library_.define("plus(Tensor self, int n) -> Tensor");
    library_.impl("plus", DispatchKey::CPU, [](const Tensor& self, int64_t n) {
      return number(*self.data<float>() + static_cast<float>(n));
    });
    library_.define("sum(Tensor self, Tensor other) -> Tensor");
    library_.impl("sum", DispatchKey::CPU, [](const Tensor& self, const Tensor& other) {
      return number(*self.data<float>() + *other.data<float>());
    });
    library_.define("under(Tensor self, int n) -> Tensor");
    library_.impl("under", DispatchKey::CPU, [](const Tensor& self, int64_t n) {
      return truth(*self.data<float>() < static_cast<float>(n));
    });
    library_.define("note(int n) -> ()");
    library_.impl("note", DispatchKey::CompositeExplicitAutograd,
                  [this](int64_t n) { notes.push_back(n); });
    library_.define("records(Tensor self) -> Tensor");
    library_.impl("records", DispatchKey::CPU,
                  [](const Tensor&) { return number(is_grad_enabled() ? 1 : 0); });
  }
  Dispatcher dispatcher;
  std::vector<int64_t> notes;

 private:
  Library library_;
};

inline Node call(const char* op, std::vector<NamedArgument> inputs, const char* output) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.outputs = {TensorRef{output}};
  node.name = output;
  return node;
}
inline Node plus(const char* input, Argument n, const char* output) {
  return call("demo::plus", {{"self", TensorRef{input}}, {"n", std::move(n)}}, output);
}
inline GraphRef graph(const char* name, std::vector<Argument> inputs, std::vector<Node> nodes,
                      Argument output) {
  auto graph = std::make_shared<Graph>();
  graph->place = std::string("net.pt2: ") + name;
  graph->inputs = std::move(inputs);
  graph->nodes = std::move(nodes);
  graph->outputs = {std::move(output)};
  return {name, graph};
}
inline Node higher_order(const char* op, std::vector<Argument> arguments) {
  Node node;
  node.kind = TargetKind::HigherOrder;
  node.op = op;
  for (Argument& argument : arguments) node.inputs.push_back({"", std::move(argument)});
  node.outputs = {TensorRef{"y"}};
  node.name = "hop";
  return node;
}
inline Program program(Node node, std::vector<Argument> inputs) {
  Program program;
  program.origin = "net.pt2";
  program.graph.place = "net.pt2: graph_module/graph";
  program.graph.inputs = inputs;
  program.graph.nodes = {std::move(node)};
  program.graph.outputs = {TensorRef{"y"}};
  for (const Argument& input : inputs) {
    InputSpec spec;
    spec.value = input;
    for_each_name(input, [&](const std::string& name) { spec.name = name; });
    program.inputs.push_back(std::move(spec));
  }
  program.outputs = {{OutputKind::User, TensorRef{"y"}, ""}};
  return program;
}
inline float run(const Program& program, const Demo& demo, std::vector<IValue> inputs) {
  return value_of(GraphRunner(program, demo.dispatcher).run(std::move(inputs), DeviceType::CPU)[0]);
}

inline NamedArgument named(const char* name, Argument value) { return {name, std::move(value)}; }

}  // namespace sb::io::by_hand

#endif  // SWITCHBOARD_IO_EXPORTED_PROGRAM_BY_HAND_H_
