#include "switchboard/distributed/parallel/op_call.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace sb {

std::optional<OpCall> OpCall::read(
    const io::Node& node, absl::FunctionRef<const io::TensorMeta*(const std::string&)> meta_of) {
  OpCall call(node);
  bool known = true;
  const auto add = [&](const std::string& argument, size_t element, const std::string& name) {
    const io::TensorMeta* const meta = meta_of(name);
    known &= meta != nullptr;
    if (meta) call.uses_.push_back({argument, element, name, meta->sizes, meta->dtype});
  };
  for (const io::NamedArgument& input : node.inputs) {
    if (const auto* ref = std::get_if<io::TensorRef>(&input.value)) {
      add(input.name, 0, ref->name);
    } else if (const auto* refs = std::get_if<io::TensorRefs>(&input.value)) {
      for (size_t i = 0; i < refs->size(); ++i) add(input.name, i, (*refs)[i].name);
    } else if (const auto* some = std::get_if<io::OptionalTensorRefs>(&input.value)) {
      for (size_t i = 0; i < some->size(); ++i)
        if ((*some)[i]) add(input.name, i, (*some)[i]->name);
    }
  }
  for (const io::Argument& output : node.outputs) {
    io::for_each_name(output, [&](const std::string& name) {
      const io::TensorMeta* const meta = meta_of(name);
      known &= meta != nullptr;
      if (meta) call.results_.push_back({name, meta->sizes, meta->dtype});
    });
  }
  if (!known) return std::nullopt;
  return call;
}

std::optional<size_t> OpCall::use(std::string_view argument) const {
  for (size_t i = 0; i < uses_.size(); ++i)
    if (uses_[i].argument == argument) return i;
  return std::nullopt;
}

const io::Argument* OpCall::find(std::string_view argument) const {
  const auto found = std::ranges::find(node_->inputs, argument, &io::NamedArgument::name);
  return found == node_->inputs.end() ? nullptr : &found->value;
}

std::optional<int64_t> OpCall::integer(std::string_view argument) const {
  const io::Argument* const value = find(argument);
  const auto* number = value ? std::get_if<int64_t>(value) : nullptr;
  return number ? std::optional(*number) : std::nullopt;
}

std::optional<double> OpCall::number(std::string_view argument) const {
  const io::Argument* const value = find(argument);
  if (const auto* number = value ? std::get_if<double>(value) : nullptr) return *number;
  const auto whole = integer(argument);
  return whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
}

std::optional<bool> OpCall::boolean(std::string_view argument) const {
  const io::Argument* const value = find(argument);
  const auto* truth = value ? std::get_if<bool>(value) : nullptr;
  return truth ? std::optional(*truth) : std::nullopt;
}

std::optional<SizeList> OpCall::integers(std::string_view argument) const {
  const io::Argument* const value = find(argument);
  const auto* list = value ? std::get_if<std::vector<int64_t>>(value) : nullptr;
  if (list) return *list;
  const auto one = integer(argument);
  return one ? std::optional(SizeList{*one}) : std::nullopt;
}

bool OpCall::is_none(std::string_view argument) const {
  const io::Argument* const value = find(argument);
  return !value || std::holds_alternative<io::None>(*value);
}

int64_t wrap_dim(int64_t dim, int64_t dims) {
  return dim < 0 ? dim + std::max<int64_t>(dims, 1) : dim;
}

}  // namespace sb
