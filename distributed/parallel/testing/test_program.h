// For tests: a small exported program, made call by call, and what it gives on one rank.

#ifndef SWITCHBOARD_DISTRIBUTED_PARALLEL_TESTING_TEST_PROGRAM_H_
#define SWITCHBOARD_DISTRIBUTED_PARALLEL_TESTING_TEST_PROGRAM_H_

#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/io/exported/model_archive.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/views/views.h"

namespace sb::test {

// Numbers that differ from element to element.
inline Tensor waves(const std::vector<int64_t>& sizes, double shift = 0) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  const Tensor line = add_Scalar(mul_Scalar(arange(count, DType::Float32), 0.37), shift);
  return view(sin(line), sizes);
}

class TestProgram {
 public:
  using Arguments = std::vector<io::NamedArgument>;

  TestProgram() {
    archive_.path = archive_.program.origin = archive_.program.graph.place = "test.pt2";
  }

  void input(const std::string& name, const Tensor& value) {
    add_input(name, value, {io::InputKind::User, name, "", false, io::TensorRef{name}});
  }
  void weight(const std::string& name, const Tensor& value) {
    add_input(name, value, {io::InputKind::Parameter, name, name, true, {}});
    io::StoredTensor stored{name, true, meta_of(value), value};
    archive_.weight_index[name] = archive_.weights.size();
    archive_.weights.push_back(std::move(stored));
  }

  // Calls "aten::linear" now, and in the program; `results` are names for what it gives.
  void call(const std::string& target, const Arguments& arguments,
            const std::vector<std::string>& results) {
    const OperatorHandle op = default_dispatcher().find_op_or_throw(target);
    std::vector<std::pair<std::string, IValue>> named;
    for (const io::NamedArgument& argument : arguments)
      named.emplace_back(argument.name, value_of(argument.value));
    const auto given = op.call({}, std::move(named));
    io::Node node;
    const size_t dot = target.find('.');
    node.op = target.substr(0, dot);
    if (dot != target.npos) node.overload = target.substr(dot + 1);
    node.inputs = arguments;
    if (!results.empty()) node.name = results[0];
    if (given.size() == 1 && given[0].is_TensorList()) {
      io::TensorRefs refs;
      for (size_t i = 0; i < results.size(); ++i) {
        define(results[i], given[0].to_tensor_list()[i]);
        refs.push_back({results[i]});
      }
      node.outputs = {refs};
    } else {
      for (size_t i = 0; i < results.size(); ++i) {
        define(results[i], given[i].to_tensor());
        node.outputs.push_back(io::TensorRef{results[i]});
      }
    }
    archive_.program.graph.nodes.push_back(std::move(node));
  }

  void output(const std::string& name) {
    archive_.program.graph.outputs.push_back(io::TensorRef{name});
    archive_.program.outputs.push_back({io::OutputKind::User, io::TensorRef{name}, ""});
  }

  const io::ModelArchive& archive() const { return archive_; }
  io::ModelArchive& archive() { return archive_; }
  const std::vector<IValue>& inputs() const { return inputs_; }
  const Tensor& value(const std::string& name) const { return values_.at(name); }

 private:
  static io::TensorMeta meta_of(const Tensor& t) {
    io::TensorMeta meta;
    meta.dtype = t.dtype();
    meta.sizes.assign(t.sizes().begin(), t.sizes().end());
    meta.strides.assign(t.strides().begin(), t.strides().end());
    return meta;
  }

  void define(const std::string& name, const Tensor& value) {
    values_[name] = value;
    io::ValueMeta meta;
    meta.dtype = value.dtype();
    meta.sizes.assign(value.sizes().begin(), value.sizes().end());
    meta.strides.assign(value.strides().begin(), value.strides().end());
    archive_.program.graph.tensor_values[name] = std::move(meta);
  }
  void add_input(const std::string& name, const Tensor& value, io::InputSpec spec) {
    define(name, value);
    archive_.program.graph.inputs.push_back(io::TensorRef{name});
    archive_.program.inputs.push_back(std::move(spec));
    inputs_.push_back(value);
  }

  IValue value_of(const io::Argument& argument) const {
    return std::visit(
        [&]<class T>(const T& value) -> IValue {
          if constexpr (std::is_same_v<T, io::TensorRef>) {
            return values_.at(value.name);
          } else if constexpr (std::is_same_v<T, io::TensorRefs>) {
            std::vector<Tensor> tensors;
            for (const io::TensorRef& ref : value) tensors.push_back(values_.at(ref.name));
            return tensors;
          } else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double> ||
                               std::is_same_v<T, bool> || std::is_same_v<T, DType> ||
                               std::is_same_v<T, std::vector<int64_t>>) {
            return value;
          } else {
            return {};
          }
        },
        argument);
  }

  io::ModelArchive archive_;
  std::vector<IValue> inputs_;
  std::map<std::string, Tensor> values_;
};

// An argument that is a tensor of the program.
inline io::NamedArgument tensor(const std::string& argument, const std::string& name) {
  return {argument, io::TensorRef{name}};
}

}  // namespace sb::test

#endif  // SWITCHBOARD_DISTRIBUTED_PARALLEL_TESTING_TEST_PROGRAM_H_
