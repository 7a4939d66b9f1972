#include "switchboard/io/exported_program.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/exported/device_copies.h"
#include "switchboard/io/exported/graph_runner.h"
#include "switchboard/io/exported/missing.h"
#include "switchboard/io/exported/model_archive.h"
#include "switchboard/io/exported/model_files.h"
#include "switchboard/io/exported/symbol_rules.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb {
namespace {

using io::InputKind, io::InputSpec, io::Program;

bool is_stored(const InputSpec& input) {
  return io::is_tensor(input) && input.kind != InputKind::User;
}

ExportedValue tensor_value(const std::string& name, const io::ValueMeta& meta) {
  ExportedValue value{name, meta.describe(), meta.dtype, {}};
  for (const io::Expression& size : meta.sizes)
    value.sizes.push_back(size.is_constant() ? std::optional(size.constant()) : std::nullopt);
  return value;
}

// Of an argument that a user gives or gets. `name` is for those that have none of their own.
ExportedValue value_of(const io::Graph& graph, const io::Argument& argument, std::string name) {
  if (const auto* tensor = std::get_if<io::TensorRef>(&argument))
    return tensor_value(tensor->name, graph.meta_of(tensor->name));
  if (const auto* number = std::get_if<io::SymRef>(&argument)) return {number->name, "number"};
  return {std::move(name), "constant"};
}

void check_number(const std::string& where, const IValue& value, const io::Expression& number) {
  SB_CHECK_TYPE(value.is_scalar() && !value.is_Complex(), where, "expected a number, got ",
                value.tag_name());
  SB_CHECK_VALUE(!number.is_constant() || !value.is_Int() || value.to_int() == number.constant(),
                 where, "expected ", number.to_string(), ", got ", value.to_string());
}

// Whether it is a number, or has sizes, that only a ShapeEnv knows.
bool has_symbols(const IValue& value) {
  return value.is_symbolic() ||
         (value.is_Tensor() && value.to_tensor().defined() && value.to_tensor().is_symbolic());
}

}  // namespace

struct ExportedProgram::Impl {
  explicit Impl(io::ModelArchive archive)
      : path(std::move(archive.path)), program(std::move(archive.program)), rules(program) {
    for (const InputSpec& input : program.inputs) {
      const io::StoredTensor* const stored = archive.stored(input);
      tensors.push_back(stored ? stored->data : Tensor());
      if (input.kind == InputKind::User)
        inputs.push_back(value_of(program.graph, input.value, input.name));
    }
    for (const io::OutputSpec& output : program.outputs)
      if (is_result(output.kind)) outputs.push_back(value_of(program.graph, output.arg, ""));
    warnings = program.warnings;
    for (const std::string& guard : rules.unread())
      warnings.push_back(str_cat("not checked: ", guard));
  }

  // One value for each of the program's inputs, checked.
  std::vector<IValue> bind(std::vector<IValue> given) const {
    SB_CHECK_TYPE(given.size() == inputs.size(), path, ": expected ", input_names(), ", got ",
                  given.size(), given.size() == 1 ? " value" : " values");
    std::vector<IValue> values;
    size_t next = 0;
    for (size_t i = 0; i < program.inputs.size(); ++i) {
      const InputSpec& input = program.inputs[i];
      if (input.kind == InputKind::User) {
        check_input(input, given[next]);
        values.push_back(std::move(given[next++]));
      } else if (is_stored(input)) {
        SB_CHECK_VALUE(tensors[i].defined(), path, ": no data for ", io::quote(input.target), " (",
                       program.graph.meta_of(input.name).describe(), "); assign() gives it");
        values.emplace_back(tensors[i]);
      } else {
        values.emplace_back();  // constants and tokens
      }
    }
    if (!rules.places().empty() && std::ranges::none_of(values, has_symbols))
      rules.numbers_of(values);
    return values;
  }

  // For messages: "the inputs (x float32[2, 3], n number)".
  std::string input_names() const {
    std::string names;
    for (const ExportedValue& input : inputs)
      names += str_cat(names.empty() ? "" : ", ", input.name, " ", input.type);
    return names.empty() ? "no inputs" : str_cat("the inputs (", names, ")");
  }

  void check_input(const InputSpec& input, const IValue& value) const {
    const std::string where = str_cat(path, ": input ", io::quote(input.name), ": ");
    if (const auto* number = std::get_if<io::SymRef>(&input.value)) {
      check_number(where, value, program.graph.sym_values.at(number->name));
      return;
    }
    SB_CHECK_NOT_IMPLEMENTED(io::is_tensor(input), where, "a ", io::kind_of(input.value),
                             " is not supported");
    const io::ValueMeta& meta = program.graph.meta_of(input.name);
    SB_CHECK_TYPE(value.is_Tensor() && value.to_tensor().defined(), where, "expected ",
                  meta.describe(), ", got ",
                  value.is_Tensor() ? "an undefined tensor" : value.tag_name());
    SB_CHECK_VALUE(meta.admits(value.to_tensor()), where, "expected ", meta.describe(), ", got ",
                   value.to_tensor().describe());
  }

  Device device_of(const std::vector<IValue>& values) const {
    for (const Tensor& tensor : tensors)
      if (tensor.defined()) return tensor.device();
    for (const IValue& value : values)
      if (value.is_Tensor()) return value.to_tensor().device();
    return DeviceType::CPU;
  }

  TensorMap named(InputKind kind) const {
    TensorMap map;
    for (size_t i = 0; i < tensors.size(); ++i)
      if (program.inputs[i].kind == kind && tensors[i].defined())
        map[program.inputs[i].target] = tensors[i];
    return map;
  }

  std::string path;  // for messages
  Program program;
  io::SymbolRules rules;
  std::vector<Tensor> tensors;  // one for each of the program's inputs; undefined but for stored
  std::vector<ExportedValue> inputs, outputs;
  std::vector<std::string> warnings;
  std::optional<io::GraphRunner> runner;  // from the first run on
};

ExportedProgram::ExportedProgram(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ExportedProgram::ExportedProgram(ExportedProgram&& other) noexcept = default;
ExportedProgram& ExportedProgram::operator=(ExportedProgram&& other) noexcept = default;
ExportedProgram::~ExportedProgram() = default;

std::vector<IValue> ExportedProgram::operator()(std::vector<IValue> inputs) {
  if (!impl_->runner) impl_->runner.emplace(impl_->program);
  std::vector<IValue> values = impl_->bind(std::move(inputs));
  const Device device = impl_->device_of(values);
  std::vector<IValue> results = impl_->runner->run(std::move(values), device);
  std::vector<IValue> outputs;
  for (size_t i = 0; i < results.size(); ++i)
    if (is_result(impl_->program.outputs[i].kind)) outputs.push_back(std::move(results[i]));
  return outputs;
}

const std::vector<ExportedValue>& ExportedProgram::inputs() const { return impl_->inputs; }
const std::vector<ExportedValue>& ExportedProgram::outputs() const { return impl_->outputs; }
const std::vector<std::string>& ExportedProgram::warnings() const { return impl_->warnings; }

TensorMap ExportedProgram::parameters() const { return impl_->named(InputKind::Parameter); }
TensorMap ExportedProgram::buffers() const { return impl_->named(InputKind::Buffer); }

void ExportedProgram::assign(std::string_view name, const Tensor& tensor) {
  const Program& program = impl_->program;
  std::vector<size_t> found;
  for (size_t i = 0; i < program.inputs.size(); ++i)
    if (is_stored(program.inputs[i]) && program.inputs[i].target == name) found.push_back(i);
  SB_CHECK_VALUE(!found.empty(), impl_->path, ": no parameter, buffer or constant ",
                 io::quote(name));
  for (const size_t i : found) {
    const io::ValueMeta& meta = program.graph.meta_of(program.inputs[i].name);
    SB_CHECK_VALUE(tensor.defined() && meta.admits(tensor), impl_->path, ": ", io::quote(name),
                   ": expected ", meta.describe(), ", got ", tensor.describe());
  }
  for (const size_t i : found) impl_->tensors[i] = tensor;
}

void ExportedProgram::apply(absl::FunctionRef<Tensor(const Tensor&)> f) {
  std::vector<Tensor> mapped = impl_->tensors;
  for (Tensor& tensor : mapped)
    if (tensor.defined()) tensor = f(tensor);
  impl_->tensors = std::move(mapped);
}

void ExportedProgram::to(Device device) {
  io::DeviceCopies copies(device);
  apply([&](const Tensor& tensor) {
    if (tensor.device() == device) return tensor;
    const Tensor copy = copies.copy(tensor);
    if (requires_grad(tensor)) set_requires_grad(copy);
    return copy;
  });
}

std::vector<std::string> ExportedProgram::missing_operators() const {
  std::vector<std::string> names;
  for (const io::Missing& missing : io::find_missing(impl_->program)) names.push_back(missing.name);
  return names;
}

ExportedProgram load_exported_program(const std::string& path) {
  const io::ModelFiles files = io::find_model_files(path);
  return ExportedProgram(
      std::make_unique<ExportedProgram::Impl>(io::read_model_archive(files.archive)));
}

ExportedProgram load_exported_program(absl::Span<const char> bytes, const std::string& name) {
  return ExportedProgram(
      std::make_unique<ExportedProgram::Impl>(io::read_model_archive(bytes, name)));
}

}  // namespace sb
