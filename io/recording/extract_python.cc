#include "absl/strings/str_format.h"
#include "switchboard/core/error.h"
#include "switchboard/io/recording/call_words.h"
#include "switchboard/io/recording/extract.h"
#include "switchboard/io/recording/number_text.h"

namespace sb::io {
namespace {

using Values = CallWords::Values;

constexpr CallWords::Names kPythonNames = {"None",     "None",     "True",   "False",
                                           "math.inf", "math.nan", "complex"};

class PythonWords final : public CallWords {
 public:
  PythonWords(const RecordedRun& run, const CallInputs& inputs)
      : CallWords(run, inputs, kPythonNames) {}

 private:
  std::string other(Values values) const override {
    const RecordedValue& v = values[0];
    switch (v.kind) {
      case Kind::Int:
        return str_cat(v.number);
      case Kind::DType:
      case Kind::Layout:
      case Kind::MemoryFormat:
        return str_cat("torch.", text(v));
      case Kind::Device:
        return str_cat("torch.device(", string_literal(text(v)), ")");
      case Kind::Generator:
        SB_THROW(ValueError, "PyTorch has other generators");
      case Kind::IntList:
      case Kind::DoubleList:
      case Kind::BoolList:
      case Kind::TensorList:
      case Kind::OptionalTensorList:
      case Kind::List:
        return str_cat("[", join(elements(values)), "]");
      default:
        SB_THROW(ValueError, "no source can be written for ", value_text(run_, values));
    }
  }
};

}  // namespace

Extract extract_python(const RecordedRun& run, uint32_t event, const std::string& data_name) {
  const CallInputs inputs(run, event);
  const RecordedEvent& call = run.events[event];
  const RecordedSite& site = run.site(call);
  SB_CHECK_VALUE(site.op.starts_with("aten::"), site.op, " is no operator of PyTorch's");
  std::string text = str_cat("# ", inputs.title(), ".\nimport math\nimport torch\n\n");
  for (const auto& [id, storage] : inputs.storages) {
    const std::string dtype = str_cat("torch.", to_string(storage.dtype));
    if (storage.fake || !storage.known || storage.elements == 0) {
      text += str_cat("s", id, " = torch.zeros(", storage.elements, ", dtype=", dtype, ")\n");
    } else if (storage.in_file) {
      text += str_cat("s", id, " = torch.frombuffer(bytearray(open(", string_literal(data_name),
                      ", 'rb').read()[", storage.file_offset, ":",
                      storage.file_offset + storage.bytes.size(), "]), dtype=", dtype, ")\n");
    } else {
      std::string hex;
      for (const char c : storage.bytes) hex += absl::StrFormat("%02x", static_cast<uint8_t>(c));
      const NumberType type = number_type(storage.dtype, storage.bytes);
      const bool plain = type.real && !is_complex(storage.dtype);
      text += plain ? str_cat("s", id, " = torch.tensor([", numbers_text(type, storage.bytes),
                              "], dtype=", dtype, ")\n")
                    : str_cat("s", id, " = torch.frombuffer(bytearray.fromhex('", hex,
                              "'), dtype=", dtype, ")\n");
    }
  }
  for (size_t i = 0; i < inputs.tensors.size(); ++i) {
    const CallInputs::Tensor& input = inputs.tensors[i];
    std::string made = str_cat("s", input.storage, ".as_strided(", int_list(input.meta->sizes),
                               ", ", int_list(input.meta->strides), ", ", input.offset, ")");
    if (input.meta->wrapped_number) made += ".item()";  // the call makes a tensor of it again
    if (CallInputs::has_key(input, "Conjugate")) made += ".conj()";
    if (CallInputs::has_key(input, "Negative")) made = str_cat("torch._neg_view(", made, ")");
    if (input.meta->fake || input.meta->device.starts_with("meta")) made += ".to('meta')";
    if (input.meta->requires_grad) made += ".requires_grad_()";
    text += str_cat("x", i, " = ", made, "\n");
  }
  const PythonWords words(run, inputs);
  const std::vector<ArgumentName> names = argument_names(site.schema);
  std::string arguments;
  size_t i = 0;
  for (Values v = run.arguments(call); !v.empty(); v.remove_prefix(extent(v)), ++i) {
    if (!arguments.empty()) arguments += ", ";
    if (i < names.size() && names[i].keyword_only) arguments += names[i].name + "=";
    arguments += words.value(v);
  }
  std::string name = site.op.substr(6);
  if (name.find('.') == name.npos) name += ".default";
  text += str_cat(run.contexts[call.context].grad ? "" : "torch.set_grad_enabled(False)\n",
                  "print(torch.ops.aten.", name, "(", arguments, "))\n");
  return {std::move(text), inputs.file_data()};
}

}  // namespace sb::io
