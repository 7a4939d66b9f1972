#include "switchboard/io/recording/extract.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/recording/call_tree.h"
#include "switchboard/io/recording/storage_contents.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {
namespace {

using Kind = RecordedValue::Kind;
using Values = absl::Span<const RecordedValue>;

// Elements that stand in the source as numbers: all inputs together, so that it stays short.
constexpr size_t kMostNumbers = 60;

std::string number_text(double v) {
  std::string text = absl::StrFormat("%.17g", v);
  const std::string shorter = absl::StrFormat("%.9g", v);
  return std::stod(shorter) == v ? shorter : text;
}

// How elements of a dtype are written: the C++ type of a number, how many make an element, and
// their text.
struct NumberType {
  std::string cpp;
  size_t bytes;
  bool real;
};
NumberType number_type(DType dtype, std::string_view bytes) {
  const auto finite = [&](auto zero) {
    for (size_t i = 0; i + sizeof(zero) <= bytes.size(); i += sizeof(zero)) {
      auto v = zero;
      std::memcpy(&v, bytes.data() + i, sizeof(v));
      if (!std::isfinite(v)) return false;
    }
    return true;
  };
  if ((dtype == DType::Float32 || dtype == DType::Complex64) && finite(0.0f))
    return {"float", 4, true};
  if ((dtype == DType::Float64 || dtype == DType::Complex128) && finite(0.0))
    return {"double", 8, true};
  const size_t size = itemsize(dtype) > 8 ? 8 : itemsize(dtype);
  // What is no number keeps its bits.
  return {str_cat(is_floating_point(dtype) || is_complex(dtype) ? "u" : "", "int",
                  std::to_string(8 * size), "_t"),
          size, false};
}

std::string numbers_text(const NumberType& type, std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i + type.bytes <= bytes.size(); i += type.bytes) {
    if (!text.empty()) text += ", ";
    if (type.real) {
      float f;
      double d;
      std::memcpy(&f, bytes.data() + i, sizeof(f));
      if (type.bytes == 8) std::memcpy(&d, bytes.data() + i, sizeof(d));
      text += number_text(type.bytes == 4 ? f : d);
      continue;
    }
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i, type.bytes);
    if (type.cpp[0] == 'u') {
      text += absl::StrFormat("0x%x", bits);
    } else {
      const int shift = static_cast<int>(64 - 8 * type.bytes);
      const int64_t v = static_cast<int64_t>(bits << shift) >> shift;
      text += v == INT64_MIN ? "INT64_MIN" : str_cat(v);
    }
  }
  return text;
}

// Python's name of a dtype, and ours, agree.
std::string cpp_string(std::string_view text) { return "\"" + absl::CEscape(to_absl(text)) + "\""; }

bool has_kernel_default_keys(const RecordedMeta& meta, const char* key) {
  return meta.keys.find(key) != std::string::npos;
}

// The inputs of a call: storages, and tensors on them.
class Inputs {
 public:
  Inputs(const RecordedRun& run, uint32_t event) : run_(run), event_(event) {
    for (const RecordedValue& v : run.arguments(run.events[event]))
      if (v.kind == Kind::Tensor && run.tensor(v).defined()) add(run.tensor(v));
    shrink();
  }

  struct Window {
    DType dtype = DType::Float32;
    std::string bytes;  // from `begin` on
    bool known = true;  // otherwise they are zeros
    int64_t begin = 0;  // in elements
    bool fake = false;
    int64_t elements = 0;
    bool in_file = false;
    size_t file_offset = 0;
  };
  struct Input {
    RecordedTensor tensor;
    const RecordedMeta* meta;
    uint64_t storage;
    int64_t offset;
  };
  std::map<uint64_t, Window> storages;
  std::vector<Input> tensors;
  bool all_known = true;

  // The place of a tensor in `tensors`.
  size_t find(const RecordedTensor& tensor) const {
    for (size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i].tensor.id == tensor.id) return i;
    return 0;
  }

 private:
  void add(const RecordedTensor& tensor) {
    for (const Input& known : tensors)
      if (known.tensor.id == tensor.id) return;
    const RecordedMeta& meta = run_.meta(tensor);
    SB_CHECK_VALUE(meta.symbols.empty(), "a tensor of sizes ", meta.symbols,
                   ", which are no numbers");
    tensors.push_back({tensor, &meta, tensor.storage, meta.offset});
  }
  // Only what the tensors reach of their storages.
  void shrink() {
    struct Reach {
      int64_t begin = INT64_MAX, end = 0;
    };
    std::map<uint64_t, Reach> reaches;
    for (const Input& input : tensors) {
      Window& window = storages[input.storage];
      Reach& reach = reaches[input.storage];
      if (reach.end > 0)
        SB_CHECK_VALUE(window.dtype == input.meta->dtype,
                       "tensors of two dtypes that share their memory");
      window.dtype = input.meta->dtype;
      window.fake = window.fake || input.meta->fake;
      int64_t last = input.offset;
      bool none = false;
      for (size_t d = 0; d < input.meta->sizes.size(); ++d) {
        none = none || input.meta->sizes[d] == 0;
        last += (input.meta->sizes[d] - 1) * input.meta->strides[d];
      }
      reach.begin = std::min(reach.begin, none ? input.offset : std::min(input.offset, last));
      reach.end = std::max(reach.end, none ? input.offset : last + 1);
    }
    for (auto& [id, window] : storages) {
      const auto& [begin, end] = reaches[id];
      const size_t item = itemsize(window.dtype);
      window.begin = begin;
      window.elements = end - begin;
      SB_CHECK_VALUE(begin >= 0 && window.elements >= 0 && window.elements < int64_t{1} << 40,
                     "a tensor of ", window.elements, " elements");
      const std::string* const bytes = storage_contents(run_, id, event_, false);
      const size_t first = static_cast<size_t>(begin) * item;
      const size_t length = static_cast<size_t>(window.elements) * item;
      window.known = bytes && first + length <= bytes->size();
      if (window.known) window.bytes = bytes->substr(first, length);
      all_known = all_known && (window.known || window.fake || length == 0);
    }
    for (Input& input : tensors) input.offset -= storages[input.storage].begin;
    // The largest go into a file until the numbers that are left are few.
    size_t numbers = 0;
    std::vector<std::pair<int64_t, uint64_t>> by_size;
    for (const auto& [id, window] : storages) {
      if (!window.known || window.fake) continue;
      numbers += static_cast<size_t>(window.elements);
      by_size.emplace_back(-window.elements, id);
    }
    std::sort(by_size.begin(), by_size.end());
    size_t at = 0;
    for (const auto& [size, id] : by_size) {
      if (numbers <= kMostNumbers) break;
      Window& window = storages[id];
      window.in_file = true;
      window.file_offset = at;
      at += window.bytes.size();
      numbers -= static_cast<size_t>(window.elements);
    }
  }

  const RecordedRun& run_;
  uint32_t event_;
};

// A language's words for values.
class Words {
 public:
  Words(const RecordedRun& run, const Inputs& inputs) : run_(run), inputs_(inputs) {}
  virtual ~Words() = default;
  virtual std::string value(Values values) const = 0;

 protected:
  std::string tensor_name(const RecordedTensor& tensor) const {
    return str_cat("x", inputs_.find(tensor));
  }
  std::vector<std::string> elements(Values values) const {
    std::vector<std::string> texts;
    values = values.subspan(1, extent(values) - 1);
    while (!values.empty()) {
      texts.push_back(value(values));
      values.remove_prefix(extent(values));
    }
    return texts;
  }
  static std::string join(const std::vector<std::string>& texts) {
    std::string joined;
    for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
    return joined;
  }
  std::string_view text(const RecordedValue& v) const { return run_.strings[v.index()]; }

  const RecordedRun& run_;
  const Inputs& inputs_;
};

std::string real_text(double v, const char* infinity, const char* nan) {
  if (std::isnan(v)) return nan;
  if (std::isinf(v)) return str_cat(v < 0 ? "-" : "", infinity);
  const std::string text = number_text(v);
  return text.find_first_of(".e") == text.npos ? text + ".0" : text;
}

class CppWords final : public Words {
 public:
  using Words::Words;
  std::string value(Values values) const override {
    const RecordedValue& v = values[0];
    switch (v.kind) {
      case Kind::None:
        return "IValue()";
      case Kind::Tensor:
        return run_.tensor(v).defined() ? tensor_name(run_.tensor(v)) : "Tensor()";
      case Kind::Int:
        return str_cat("int64_t{", v.number, "}");
      case Kind::Bool:
        return v.number ? "true" : "false";
      case Kind::Double:
        return real_text(v.real(), "INFINITY", "double(NAN)");
      case Kind::Complex: {
        const auto& [real, imaginary] = run_.complexes[v.index()];
        return str_cat("std::complex<double>(", real_text(real, "INFINITY", "NAN"), ", ",
                       real_text(imaginary, "INFINITY", "NAN"), ")");
      }
      case Kind::String:
        return cpp_string(text(v));
      case Kind::DType:
        return str_cat("*find_dtype(", cpp_string(text(v)), ")");
      case Kind::Device:
        return str_cat("Device(", cpp_string(text(v)), ")");
      case Kind::Layout:
        return str_cat("*find_layout(", cpp_string(text(v)), ")");
      case Kind::MemoryFormat:
        return str_cat("*find_memory_format(", cpp_string(text(v)), ")");
      case Kind::Generator:
        return "generator";
      case Kind::IntList:
        return list("int64_t", values, [](const RecordedValue& e) { return str_cat(e.number); });
      case Kind::DoubleList:
        return list("double", values,
                    [](const RecordedValue& e) { return real_text(e.real(), "INFINITY", "NAN"); });
      case Kind::BoolList:
        return list("bool", values,
                    [](const RecordedValue& e) { return e.number ? "true" : "false"; });
      case Kind::TensorList:
        return str_cat("std::vector<Tensor>{", join(elements(values)), "}");
      case Kind::OptionalTensorList: {
        std::vector<std::string> texts = elements(values);
        for (std::string& text : texts)
          if (text == "IValue()") text = "std::nullopt";
        return str_cat("std::vector<std::optional<Tensor>>{", join(texts), "}");
      }
      case Kind::List:
        return str_cat("std::vector<IValue>{", join(elements(values)), "}");
      case Kind::Storage:
        break;
      default:
        SB_THROW(ValueError, "no source can be written for ", value_text(run_, values));
    }
    for (const Inputs::Input& input : inputs_.tensors)
      if (input.storage == static_cast<uint64_t>(v.number))
        return str_cat(tensor_name(input.tensor), ".storage()");
    SB_THROW(ValueError, "no source can be written for a storage");
  }

 private:
  template <class F>
  std::string list(const char* type, Values values, F&& element) const {
    std::vector<std::string> texts;
    for (const RecordedValue& e : values.subspan(1, values[0].count)) {
      SB_CHECK_VALUE(e.kind != Kind::Symbol, "no source can be written for a symbol");
      texts.push_back(element(e));
    }
    return str_cat("std::vector<", type, ">{", join(texts), "}");
  }
};

class PythonWords final : public Words {
 public:
  using Words::Words;
  std::string value(Values values) const override {
    const RecordedValue& v = values[0];
    switch (v.kind) {
      case Kind::None:
        return "None";
      case Kind::Tensor:
        return run_.tensor(v).defined() ? tensor_name(run_.tensor(v)) : "None";
      case Kind::Int:
        return str_cat(v.number);
      case Kind::Bool:
        return v.number ? "True" : "False";
      case Kind::Double:
        return real_text(v.real(), "math.inf", "math.nan");
      case Kind::Complex: {
        const auto& [real, imaginary] = run_.complexes[v.index()];
        return str_cat("complex(", real_text(real, "math.inf", "math.nan"), ", ",
                       real_text(imaginary, "math.inf", "math.nan"), ")");
      }
      case Kind::String:
        return cpp_string(text(v));
      case Kind::DType:
      case Kind::Layout:
      case Kind::MemoryFormat:
        return str_cat("torch.", text(v));
      case Kind::Device:
        return str_cat("torch.device(", cpp_string(text(v)), ")");
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

std::string shape_text(const std::vector<int64_t>& list) {
  std::string text = int_list(list);
  text.front() = '{';
  text.back() = '}';
  return text;
}

std::string title(const RecordedRun& run, uint32_t event, const Inputs& inputs) {
  return str_cat(run.site(run.events[event]).op, " at ", run.site(run.events[event]).key, ", call ",
                 event, " of ", escape_message(run.source),
                 inputs.all_known ? "" : ", which does not hold all inputs: zeros");
}

std::string data_of(const Inputs& inputs) {
  std::vector<std::pair<size_t, const std::string*>> parts;
  for (const auto& [id, window] : inputs.storages)
    if (window.in_file) parts.emplace_back(window.file_offset, &window.bytes);
  std::sort(parts.begin(), parts.end());
  std::string data;
  for (const auto& [offset, bytes] : parts) data += *bytes;
  return data;
}

}  // namespace

bool holds_inputs(const RecordedRun& run, uint32_t event) { return Inputs(run, event).all_known; }

Extract extract_cpp(const RecordedRun& run, uint32_t event, const std::string& data_name) {
  SB_CHECK_VALUE(event < run.events.size(), "expected a call of ", run.events.size(), ", got ",
                 event);
  const RecordedEvent& call = run.events[event];
  const RecordedSite& site = run.site(call);
  const Inputs inputs(run, event);
  const RecordedContext& context = run.contexts[call.context];
  std::set<std::string> headers = {"core/empty_tensor.h", "core/print/tensor_print.h",
                                   "dispatch/dispatcher.h"};
  std::string body;
  bool fake = false;
  // Storages, then tensors on them.
  std::map<uint64_t, std::string> bases;
  for (const auto& [id, window] : inputs.storages) {
    if (window.fake) continue;
    const NumberType type = number_type(window.dtype, window.bytes);
    const std::string elements =
        !window.known || window.elements == 0 ? "{}"
        : window.in_file
            ? str_cat("file(", window.file_offset, ", ", window.bytes.size(), ")")
            : str_cat("bytes<", type.cpp, ">({", numbers_text(type, window.bytes), "})");
    const std::string made = str_cat("storage(", cpp_string(to_string(window.dtype)), ", ",
                                     window.elements, ", ", elements, ")");
    // One that tensors share has a name.
    const auto users = std::count_if(inputs.tensors.begin(), inputs.tensors.end(),
                                     [&, id = id](const auto& x) { return x.storage == id; });
    bases[id] = users > 1 ? str_cat("s", id) : made;
    if (users > 1) body += str_cat("  const Tensor s", id, " = ", made, ";\n");
  }
  for (size_t i = 0; i < inputs.tensors.size(); ++i) {
    const Inputs::Input& input = inputs.tensors[i];
    const RecordedMeta& meta = *input.meta;
    if (meta.fake) {
      fake = true;
      body += str_cat(
          "  const Tensor x", i, " = fake.from_meta(empty_strided_on(Device(\"meta\"), ",
          shape_text(meta.sizes), ", ", shape_text(meta.strides), ", *find_dtype(",
          cpp_string(to_string(meta.dtype)), ")), Device(", cpp_string(meta.device), "));\n");
    } else {
      SB_CHECK_VALUE(meta.device == "cpu" || meta.device.starts_with("meta"),
                     "no source is written for a tensor on ", meta.device);
      body += meta.device == "cpu"
                  ? str_cat("  const Tensor x", i, " = alias_with(", bases[input.storage], ", ",
                            shape_text(meta.sizes), ", ", shape_text(meta.strides), ", ",
                            input.offset, ");\n")
                  : str_cat("  const Tensor x", i, " = empty_strided_on(Device(\"meta\"), ",
                            shape_text(meta.sizes), ", ", shape_text(meta.strides),
                            ", *find_dtype(", cpp_string(to_string(meta.dtype)), "));\n");
    }
    for (const char* bit : {"Conjugate", "Negative"})
      if (has_kernel_default_keys(meta, bit))
        body += str_cat("  x", i, ".impl()->set_key_set(x", i, ".key_set() | DispatchKey::", bit,
                        ");\n");
    if (meta.wrapped_number) body += str_cat("  x", i, ".impl()->set_wrapped_number(true);\n");
    if (meta.requires_grad) {
      headers.insert("autograd/variable.h");
      body += str_cat("  set_requires_grad(x", i, ");\n");
    }
  }
  std::string setup;
  if (fake) {
    headers.insert("fake/fake_tensor_mode.h");
    setup += "  FakeTensorMode fake;\n";
  }
  std::string arguments;
  const CppWords words(run, inputs);
  uint32_t generator = call.generator;
  for (Values v = run.arguments(call); !v.empty(); v.remove_prefix(extent(v))) {
    arguments += (arguments.empty() ? "" : ", ") + words.value(v);
    if (v[0].kind == Kind::Generator) generator = static_cast<uint32_t>(v[0].index());
  }
  if (generator != RecordedEvent::kNone) {
    headers.insert("core/generator.h");
    const RecordedGenerator& g = run.generators[generator];
    std::string state;
    for (const uint8_t b : g.state) state += (state.empty() ? "" : ", ") + std::to_string(b);
    setup += str_cat("  const Generator generator = ",
                     g.is_default ? "default_cpu_generator()" : "make_cpu_generator(0)",
                     ";\n  generator->set_state(std::vector<uint8_t>{", state, "});\n");
  }
  if (!context.grad) {
    headers.insert("autograd/grad_mode.h");
    setup += "  const NoGradGuard no_grad;\n";
  }
  const bool reads = std::any_of(inputs.storages.begin(), inputs.storages.end(),
                                 [](const auto& s) { return s.second.in_file; });
  const bool has_storages = body.find("storage(") != std::string::npos;
  const bool has_numbers = body.find("bytes<") != std::string::npos;

  std::string text =
      str_cat("// ", title(run, event, inputs), ".\n", "#include <cstring>\n#include <iostream>\n");
  if (arguments.find("NAN") != arguments.npos || arguments.find("INFINITY") != arguments.npos)
    text += "#include <cmath>\n";
  if (reads) text += "#include <fstream>\n";
  for (const std::string& header : headers)
    text += str_cat("#include \"switchboard/", header, "\"\n");
  text += "using namespace sb;\n";
  if (has_storages)
    text +=
        "Tensor storage(const char* dtype, int64_t n, std::string_view bytes) {\n"
        "  const Tensor t = empty_on(Device(\"cpu\"), {n}, *find_dtype(dtype));\n"
        "  if (n) std::memset(t.data_ptr(), 0, t.nbytes());\n"
        "  if (!bytes.empty()) std::memcpy(t.data_ptr(), bytes.data(), bytes.size());\n"
        "  return t;\n}\n";
  if (has_numbers)
    text +=
        "template <class T> std::string bytes(std::vector<T> v) {\n"
        "  return {reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T)};\n}\n";
  if (reads)
    text += str_cat(
        "std::string file(size_t offset, size_t bytes) {\n"
        "  std::string text(bytes, 0);\n"
        "  std::ifstream(",
        cpp_string(data_name), ").ignore(offset).read(text.data(), bytes);\n  return text;\n}\n");
  text += str_cat("int main() {\n", setup, body, "  Stack stack = {", arguments, "};\n",
                  "  const OperatorHandle op = default_dispatcher().find_op_or_throw(",
                  cpp_string(site.op), ");\n");
  if (call.depth == 0) {
    text += "  op.call_boxed(&stack);\n";
  } else {
    std::string keys = site.keys.substr(1, site.keys.size() - 2);
    std::string names;
    for (size_t at = 0; at < keys.size();) {
      const size_t end = std::min(keys.find(", ", at), keys.size());
      names += str_cat(names.empty() ? "" : ", ", "DispatchKey::", keys.substr(at, end - at));
      at = end + 2;
    }
    text += str_cat("  op.redispatch_boxed({", names, "}, &stack);\n");
  }
  text +=
      "  for (const IValue& v : stack)\n"
      "    v.is_Tensor() ? std::cout << v.to_tensor() << \"\\n\" : std::cout << v.to_string() << "
      "\"\\n\";\n}\n";
  return {std::move(text), data_of(inputs)};
}

Extract extract_python(const RecordedRun& run, uint32_t event, const std::string& data_name) {
  SB_CHECK_VALUE(event < run.events.size(), "expected a call of ", run.events.size(), ", got ",
                 event);
  const RecordedEvent& call = run.events[event];
  const RecordedSite& site = run.site(call);
  SB_CHECK_VALUE(site.op.starts_with("aten::"), site.op, " is no operator of PyTorch's");
  const Inputs inputs(run, event);
  std::string text = str_cat("# ", title(run, event, inputs), ".\nimport math\nimport torch\n\n");
  for (const auto& [id, window] : inputs.storages) {
    const std::string dtype = str_cat("torch.", to_string(window.dtype));
    if (window.fake || !window.known || window.elements == 0) {
      text += str_cat("s", id, " = torch.zeros(", window.elements, ", dtype=", dtype, ")\n");
    } else if (window.in_file) {
      text += str_cat("s", id, " = torch.frombuffer(bytearray(open(", cpp_string(data_name),
                      ", 'rb').read()[", window.file_offset, ":",
                      window.file_offset + window.bytes.size(), "]), dtype=", dtype, ")\n");
    } else {
      std::string hex;
      for (const char c : window.bytes) hex += absl::StrFormat("%02x", static_cast<uint8_t>(c));
      const NumberType type = number_type(window.dtype, window.bytes);
      const bool plain = type.real && !is_complex(window.dtype);
      text += plain ? str_cat("s", id, " = torch.tensor([", numbers_text(type, window.bytes),
                              "], dtype=", dtype, ")\n")
                    : str_cat("s", id, " = torch.frombuffer(bytearray.fromhex('", hex,
                              "'), dtype=", dtype, ")\n");
    }
  }
  for (size_t i = 0; i < inputs.tensors.size(); ++i) {
    const Inputs::Input& input = inputs.tensors[i];
    text += str_cat("x", i, " = s", input.storage, ".as_strided(", int_list(input.meta->sizes),
                    ", ", int_list(input.meta->strides), ", ", input.offset, ")");
    if (input.meta->device.starts_with("meta")) text += ".to('meta')";
    if (input.meta->requires_grad) text += ".requires_grad_()";
    text += "\n";
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
  return {std::move(text), data_of(inputs)};
}

}  // namespace sb::io
