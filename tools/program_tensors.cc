#include "switchboard/tools/program_tensors.h"

#include <algorithm>

#include "switchboard/core/error.h"
#include "switchboard/io/exported/node_step.h"
#include "switchboard/io/safetensors/quote.h"
#include "switchboard/tools/comparison.h"
#include "switchboard/tools/random_weights.h"

namespace sb::tools {
namespace {

std::string names_of(const TensorMap& tensors) {
  constexpr size_t kShown = 8;
  std::string names;
  size_t shown = 0;
  for (const auto& [name, tensor] : tensors) {
    if (shown == kShown) return names + ", ...";
    names += (shown++ ? ", " : "") + io::quote(name);
  }
  return names.empty() ? "nothing" : names;
}

// The tensor of that name, which must be as the program says.
Tensor find_checked(const TensorMap& tensors, const std::string& path, const std::string& name,
                    const io::ValueMeta& meta, const char* role) {
  const auto found = tensors.find(name);
  SB_CHECK_VALUE(found != tensors.end(), path, ": no ", role, " ", io::quote(name), " (",
                 meta.describe(), "); the file has ", names_of(tensors));
  const Tensor& tensor = found->second;
  SB_CHECK_VALUE(meta.admits(tensor), path, ": ", role, " ", io::quote(name), ": expected ",
                 meta.describe(), ", got ", tensor.describe());
  return tensor;
}

class Binder {
 public:
  Binder(const io::ModelArchive& archive, const TensorSources& sources)
      : archive_(archive), sources_(sources), sizes_(io::as_values(sources.sizes)) {
    if (!sources.inputs_path.empty())
      inputs_ = load_tensors(sources.inputs_path, {.map_location = Device(DeviceType::CPU)});
  }

  IValue bind(const io::InputSpec& input) const {
    switch (input.kind) {
      case io::InputKind::Constant:
      case io::InputKind::Token:
      case io::InputKind::CustomObject:
        return {};
      case io::InputKind::User:
        return is_tensor(input) ? IValue(user_input(input)) : user_number(input);
      default:
        return stored(input);
    }
  }

 private:
  Tensor stored(const io::InputSpec& input) const {
    const io::StoredTensor& stored = *archive_.stored(input);
    if (stored.data.defined()) return stored.data;
    if (sources_.seed) return random_weight(*sources_.seed, stored.name, stored.meta);
    SB_CHECK_VALUE(sources_.allow_missing, archive_.path, ": no data for weight ",
                   io::quote(stored.name), " (", stored.meta.describe(),
                   "); --random-weights SEED makes it, --device fake does without");
    return {};
  }

  Tensor user_input(const io::InputSpec& input) const {
    const io::ValueMeta& meta = archive_.program.graph.meta_of(input.name);
    if (!sources_.inputs_path.empty())
      return find_checked(inputs_, sources_.inputs_path, input.name, meta, "input");
    if (sources_.seed) return random_input(*sources_.seed, input.name, meta.at(sizes_));
    SB_CHECK_VALUE(
        sources_.allow_missing, archive_.path, ": no data for input ", io::quote(input.name), " (",
        meta.describe(),
        "); give --inputs F.safetensors, --random-weights SEED, which makes it, or --device fake, "
        "which does without");
    return {};
  }

  // An int, which a file of tensors holds as one without dimensions, if at all.
  IValue user_number(const io::InputSpec& input) const {
    const auto* ref = std::get_if<io::SymRef>(&input.value);
    SB_CHECK_NOT_IMPLEMENTED(ref, archive_.path, ": input ", io::quote(input.name), ": a ",
                             io::kind_of(input.value), " is not supported");
    const io::Expression& number = archive_.program.graph.sym_values.at(ref->name);
    if (const auto found = inputs_.find(input.name); found != inputs_.end()) {
      SB_CHECK_VALUE(found->second.dtype() == DType::Int64 && found->second.numel() == 1,
                     sources_.inputs_path, ": input ", io::quote(input.name),
                     ": expected one int64, got ", found->second.describe());
      const int64_t given = *found->second.data<int64_t>();
      SB_CHECK_VALUE(!number.is_constant() || number.constant() == given, sources_.inputs_path,
                     ": input ", io::quote(input.name), ": expected ", number.to_string(), ", got ",
                     given);
      return given;
    }
    const io::SymbolValues& values = sizes_.empty() ? archive_.program.hints : sizes_;
    SB_CHECK_VALUE(number.is_known(values), archive_.path, ": input ", io::quote(input.name),
                   " is a number and has no value; --dim ", input.name, "=N gives it one");
    return io::ivalue_of(number.evaluate(values));
  }

  const io::ModelArchive& archive_;
  const TensorSources& sources_;
  io::SymbolValues sizes_;
  TensorMap inputs_;
};

template <class Name>
TensorMap collect(const io::ModelArchive& archive, const std::vector<IValue>& values, Name&& name) {
  TensorMap map;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string* key = name(archive.program.inputs[i]);
    if (!key || !values[i].is_Tensor()) continue;
    SB_CHECK_VALUE(values[i].to_tensor().defined(), archive.path, ": ", io::quote(*key),
                   " has no data to save; --random-weights SEED makes it");
    map[*key] = values[i].to_tensor();
  }
  return map;
}

}  // namespace

std::vector<IValue> program_tensors(const io::ModelArchive& archive, const TensorSources& sources) {
  const Binder binder(archive, sources);
  std::vector<IValue> values;
  for (const io::InputSpec& input : archive.program.inputs) {
    try {
      values.push_back(binder.bind(input));
    } catch (const ValueError&) {
      throw;  // says where
    } catch (const Error& error) {
      rethrow_with_context(error, str_cat(archive.path, ": input ", io::quote(input.name), ": "));
    }
  }
  return values;
}

std::vector<std::string> output_names(const io::Program& program) {
  std::vector<std::string> names;
  for (const io::OutputSpec& output : program.outputs)
    if (is_result(output.kind))
      if (const auto* ref = std::get_if<io::TensorRef>(&output.arg)) names.push_back(ref->name);
  return names;
}

std::vector<Tensor> expected_outputs(const io::Program& program, const std::string& path,
                                     const std::vector<std::string>& names) {
  const TensorMap file = load_tensors(path, {.map_location = Device(DeviceType::CPU)});
  std::vector<Tensor> expected;
  size_t next = 0;
  for (const io::OutputSpec& output : program.outputs) {
    const auto* ref = std::get_if<io::TensorRef>(&output.arg);
    if (!ref || !is_result(output.kind)) {
      expected.emplace_back();
      continue;
    }
    const std::string& name = names.empty() ? ref->name : names.at(next++);
    expected.push_back(find_checked(file, path, name, program.graph.meta_of(ref->name), "output"));
  }
  return expected;
}

io::ValueMeta input_meta(const io::ModelArchive& archive, const io::InputSpec& input) {
  const io::StoredTensor* stored = archive.stored(input);
  if (!stored) return archive.program.graph.meta_of(input.name);
  io::ValueMeta meta{.dtype = stored->meta.dtype, .requires_grad = stored->meta.requires_grad};
  meta.sizes.assign(stored->meta.sizes.begin(), stored->meta.sizes.end());
  meta.strides.assign(stored->meta.strides.begin(), stored->meta.strides.end());
  return meta;
}

TensorMap weights_by_name(const io::ModelArchive& archive, const std::vector<IValue>& values) {
  return collect(archive, values, [&](const io::InputSpec& input) {
    return archive.stored(input) ? &input.target : nullptr;
  });
}

TensorMap inputs_by_name(const io::ModelArchive& archive, const std::vector<IValue>& values) {
  return collect(archive, values, [](const io::InputSpec& input) {
    return input.kind == io::InputKind::User ? &input.name : nullptr;
  });
}

}  // namespace sb::tools
