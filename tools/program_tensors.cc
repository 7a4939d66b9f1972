#include "switchboard/tools/program_tensors.h"

#include <algorithm>

#include "switchboard/core/error.h"
#include "switchboard/devices/saving/quote.h"
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
                    const io::TensorMeta& meta, const char* role) {
  const auto found = tensors.find(name);
  SB_CHECK_VALUE(found != tensors.end(), path, ": no ", role, " ", io::quote(name), " (",
                 meta.describe(), "); the file has ", names_of(tensors));
  const Tensor& tensor = found->second;
  SB_CHECK_VALUE(tensor.dtype() == meta.dtype && tensor.sizes() == IntArrayRef(meta.sizes), path,
                 ": ", role, " ", io::quote(name), ": expected ", meta.describe(), ", got ",
                 tensor.describe());
  return tensor;
}

class Binder {
 public:
  Binder(const io::ModelArchive& archive, const TensorSources& sources)
      : archive_(archive), sources_(sources) {
    if (!sources.inputs_path.empty())
      inputs_ = load_tensors(sources.inputs_path, {.map_location = Device(DeviceType::CPU)});
  }

  Tensor bind(const io::InputSpec& input) const {
    switch (input.kind) {
      case io::InputKind::Constant:
        return {};
      case io::InputKind::User:
        return user_input(input);
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
    const io::TensorMeta& meta = archive_.program.meta_of(input.name);
    if (!sources_.inputs_path.empty())
      return find_checked(inputs_, sources_.inputs_path, input.name, meta, "input");
    if (sources_.seed) return random_input(*sources_.seed, input.name, meta);
    SB_CHECK_VALUE(sources_.allow_missing, archive_.path, ": no data for input ",
                   io::quote(input.name), " (", meta.describe(),
                   "); give --inputs F.safetensors, or --device fake, which does without");
    return {};
  }

  const io::ModelArchive& archive_;
  const TensorSources& sources_;
  TensorMap inputs_;
};

template <class Name>
TensorMap collect(const io::ModelArchive& archive, const std::vector<Tensor>& tensors,
                  Name&& name) {
  TensorMap map;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string* key = name(archive.program.inputs[i]);
    if (!key) continue;
    SB_CHECK_VALUE(tensors[i].defined(), archive.path, ": ", io::quote(*key),
                   " has no data to save; --random-weights SEED makes it");
    map[*key] = tensors[i];
  }
  return map;
}

}  // namespace

std::vector<Tensor> program_tensors(const io::ModelArchive& archive, const TensorSources& sources) {
  const Binder binder(archive, sources);
  std::vector<Tensor> tensors;
  for (const io::InputSpec& input : archive.program.inputs) tensors.push_back(binder.bind(input));
  return tensors;
}

std::vector<Tensor> expected_outputs(const io::Program& program, const std::string& path) {
  const TensorMap file = load_tensors(path, {.map_location = Device(DeviceType::CPU)});
  std::vector<Tensor> expected;
  for (const io::OutputSpec& output : program.outputs) {
    const auto* ref = std::get_if<io::TensorRef>(&output.arg);
    const bool compared = ref && output.kind == io::OutputKind::User;
    expected.push_back(
        compared ? find_checked(file, path, ref->name, program.meta_of(ref->name), "output")
                 : Tensor());
  }
  return expected;
}

const io::TensorMeta& input_meta(const io::ModelArchive& archive, const io::InputSpec& input) {
  const io::StoredTensor* stored = archive.stored(input);
  return stored ? stored->meta : archive.program.meta_of(input.name);
}

TensorMap weights_by_name(const io::ModelArchive& archive, const std::vector<Tensor>& tensors) {
  return collect(archive, tensors, [&](const io::InputSpec& input) {
    return archive.stored(input) ? &input.target : nullptr;
  });
}

TensorMap inputs_by_name(const io::ModelArchive& archive, const std::vector<Tensor>& tensors) {
  return collect(archive, tensors, [](const io::InputSpec& input) {
    return input.kind == io::InputKind::User ? &input.name : nullptr;
  });
}

}  // namespace sb::tools
