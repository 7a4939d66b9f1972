#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "switchboard/core/error.h"
#include "switchboard/io/recording/call_words.h"
#include "switchboard/io/recording/extract.h"
#include "switchboard/io/recording/number_text.h"

namespace sb::io {
namespace {

using Values = CallWords::Values;

constexpr CallWords::Names kCppNames = {"IValue()",
                                        "Tensor()",
                                        "true",
                                        "false",
                                        "double(INFINITY)",
                                        "double(NAN)",
                                        "std::complex<double>"};

class CppWords final : public CallWords {
 public:
  CppWords(const RecordedRun& run, const CallInputs& inputs) : CallWords(run, inputs, kCppNames) {}

 private:
  std::string other(Values values) const override {
    const RecordedValue& v = values[0];
    switch (v.kind) {
      case Kind::Int:
        return str_cat("int64_t{", v.number, "}");
      case Kind::DType:
        return str_cat("*find_dtype(", string_literal(text(v)), ")");
      case Kind::Device:
        return str_cat("Device(", string_literal(text(v)), ")");
      case Kind::Layout:
        return str_cat("*find_layout(", string_literal(text(v)), ")");
      case Kind::MemoryFormat:
        return str_cat("*find_memory_format(", string_literal(text(v)), ")");
      case Kind::Generator:
        return "generator";
      case Kind::IntList:
        return list("int64_t", values, [](const RecordedValue& e) { return str_cat(e.number); });
      case Kind::DoubleList:
        return list("double", values, [this](const RecordedValue& e) { return real(e.real()); });
      case Kind::BoolList:
        return list("bool", values,
                    [](const RecordedValue& e) { return e.number ? "true" : "false"; });
      case Kind::TensorList:
        return str_cat("std::vector<Tensor>{", join(elements(values)), "}");
      case Kind::OptionalTensorList: {
        std::vector<std::string> texts = elements(values);
        for (std::string& text : texts)
          if (text == kCppNames.none) text = "std::nullopt";
        return str_cat("std::vector<std::optional<Tensor>>{", join(texts), "}");
      }
      case Kind::List:
        return str_cat("std::vector<IValue>{", join(elements(values)), "}");
      case Kind::Storage:
        break;
      default:
        SB_THROW(ValueError, "no source can be written for ", value_text(run_, values));
    }
    for (const CallInputs::Tensor& input : inputs_.tensors)
      if (input.storage == static_cast<uint64_t>(v.number))
        return str_cat(tensor_name(input.tensor), ".storage()");
    SB_THROW(ValueError, "no source can be written for a storage");
  }

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

std::string shape_text(const std::vector<int64_t>& list) {
  std::string text = int_list(list);
  text.front() = '{';
  text.back() = '}';
  return text;
}

constexpr const char* kStorageHelper =
    "Tensor storage(const char* dtype, int64_t n, std::string_view bytes) {\n"
    "  const Tensor t = empty_on(Device(\"cpu\"), {n}, *find_dtype(dtype));\n"
    "  if (n) std::memset(t.data_ptr(), 0, t.nbytes());\n"
    "  if (!bytes.empty()) std::memcpy(t.data_ptr(), bytes.data(), bytes.size());\n"
    "  return t;\n}\n";
constexpr const char* kBytesHelper =
    "template <class T> std::string bytes(std::vector<T> v) {\n"
    "  return {reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T)};\n}\n";
constexpr const char* kFileHelper =
    "std::string file(size_t offset, size_t bytes) {\n"
    "  std::string text(bytes, 0);\n"
    "  std::ifstream(%s).ignore(offset).read(text.data(), bytes);\n"
    "  return text;\n}\n";

// The program, written part by part; each part adds the headers that it needs.
class CppProgram {
 public:
  CppProgram(const RecordedRun& run, uint32_t event)
      : run_(run),
        inputs_(run, event),
        call_(run.events[event]),
        site_(run.site(call_)),
        generator_(call_.generator) {
    write_storages();
    for (size_t i = 0; i < inputs_.tensors.size(); ++i) write_tensor(i);
    write_arguments();
    write_state();
  }

  Extract extract(const std::string& data_name) const {
    std::string text = str_cat("// ", inputs_.title(), ".\n");
    for (const std::string& header : system_headers_) text += str_cat("#include <", header, ">\n");
    for (const std::string& header : headers_)
      text += str_cat("#include \"switchboard/", header, "\"\n");
    text += "using namespace sb;\n";
    if (has_storages_) text += kStorageHelper;
    if (has_numbers_) text += kBytesHelper;
    if (reads_file_) text += absl::StrFormat(kFileHelper, string_literal(data_name));
    text += str_cat("int main() {\n", setup_, tensors_, "  Stack stack = {", arguments_, "};\n",
                    "  const OperatorHandle op = default_dispatcher().find_op_or_throw(",
                    string_literal(site_.op), ");\n", call_text(),
                    "  for (const IValue& v : stack)\n"
                    "    v.is_Tensor() ? std::cout << v.to_tensor() << \"\\n\" : std::cout << "
                    "v.to_string() << \"\\n\";\n}\n");
    return {std::move(text), inputs_.file_data()};
  }

 private:
  void write_storages() {
    for (const auto& [id, storage] : inputs_.storages) {
      if (storage.fake) continue;
      const std::string made = str_cat("storage(", string_literal(to_string(storage.dtype)), ", ",
                                       storage.elements, ", ", elements_text(storage), ")");
      // One that tensors share has a name.
      const bool shared = std::ranges::count(inputs_.tensors, id, &CallInputs::Tensor::storage) > 1;
      storages_[id] = shared ? str_cat("s", id) : made;
      if (shared) tensors_ += str_cat("  const Tensor s", id, " = ", made, ";\n");
    }
  }
  std::string elements_text(const CallInputs::Storage& storage) {
    if (!storage.known || storage.elements == 0) return "{}";
    if (storage.in_file) {
      reads_file_ = true;
      system_headers_.insert("fstream");
      return str_cat("file(", storage.file_offset, ", ", storage.bytes.size(), ")");
    }
    has_numbers_ = true;
    const NumberType type = number_type(storage.dtype, storage.bytes);
    return str_cat("bytes<", type.cpp, ">({", numbers_text(type, storage.bytes), "})");
  }

  void write_tensor(size_t i) {
    const CallInputs::Tensor& input = inputs_.tensors[i];
    const RecordedMeta& meta = *input.meta;
    const std::string name = str_cat("x", i);
    tensors_ += str_cat("  const Tensor ", name, " = ", made_text(input), ";\n");
    for (const char* bit : {"Conjugate", "Negative"})
      if (CallInputs::has_key(input, bit))
        tensors_ += str_cat("  ", name, ".impl()->set_key_set(", name,
                            ".key_set() | DispatchKey::", bit, ");\n");
    if (meta.wrapped_number)
      tensors_ += str_cat("  ", name, ".impl()->set_wrapped_number(true);\n");
    if (meta.requires_grad) {
      headers_.insert("autograd/variable.h");
      tensors_ += str_cat("  set_requires_grad(", name, ");\n");
    }
  }
  std::string made_text(const CallInputs::Tensor& input) {
    const RecordedMeta& meta = *input.meta;
    const std::string shape = str_cat(shape_text(meta.sizes), ", ", shape_text(meta.strides), ", ");
    if (meta.device == "cpu" && !meta.fake) {
      has_storages_ = true;
      return str_cat("alias_with(", storages_.at(input.storage), ", ", shape, input.offset, ")");
    }
    SB_CHECK_VALUE(meta.fake || meta.device.starts_with("meta"),
                   "no source is written for a tensor on ", meta.device);
    const std::string on_meta =
        str_cat("empty_strided_on(Device(\"meta\"), ", shape, "*find_dtype(",
                string_literal(to_string(meta.dtype)), "))");
    if (!meta.fake) return on_meta;
    fake_ = true;
    return str_cat("fake.from_meta(", on_meta, ", Device(", string_literal(meta.device), "))");
  }

  void write_arguments() {
    const CppWords words(run_, inputs_);
    for (Values v = run_.arguments(call_); !v.empty(); v.remove_prefix(extent(v))) {
      arguments_ += (arguments_.empty() ? "" : ", ") + words.value(v);
      if (v[0].kind == CallWords::Kind::Generator) generator_ = static_cast<uint32_t>(v[0].index());
    }
    if (arguments_.find("NAN") != arguments_.npos || arguments_.find("INFINITY") != arguments_.npos)
      system_headers_.insert("cmath");
  }

  // What the call finds set: a mode, a generator, whether autograd records.
  void write_state() {
    if (fake_) {
      headers_.insert("fake/fake_tensor_mode.h");
      setup_ += "  FakeTensorMode fake;\n";
    }
    if (generator_ != RecordedEvent::kNone) {
      headers_.insert("core/generator.h");
      const RecordedGenerator& g = run_.generators[generator_];
      setup_ += str_cat("  const Generator generator = ",
                        g.is_default ? "default_cpu_generator()" : "make_cpu_generator(0)",
                        ";\n  generator->set_state(std::vector<uint8_t>{",
                        absl::StrJoin(g.state, ", "), "});\n");
    }
    if (!run_.contexts[call_.context].grad) {
      headers_.insert("autograd/grad_mode.h");
      setup_ += "  const NoGradGuard no_grad;\n";
    }
  }

  std::string call_text() const {
    if (call_.depth == 0) return "  op.call_boxed(&stack);\n";
    SB_CHECK_VALUE(site_.keys.size() > 2, "a kernel that ran at no key");
    const std::string keys = site_.keys.substr(1, site_.keys.size() - 2);
    return str_cat("  op.redispatch_boxed({DispatchKey::",
                   absl::StrReplaceAll(keys, {{", ", ", DispatchKey::"}}), "}, &stack);\n");
  }

  const RecordedRun& run_;
  const CallInputs inputs_;
  const RecordedEvent& call_;
  const RecordedSite& site_;
  uint32_t generator_;

  std::set<std::string> system_headers_ = {"cstring", "iostream"};
  std::set<std::string> headers_ = {"core/empty_tensor.h", "core/print/tensor_print.h",
                                    "dispatch/dispatcher.h"};
  std::map<uint64_t, std::string> storages_;  // how a storage is named, or made
  bool has_storages_ = false;
  bool has_numbers_ = false;
  bool reads_file_ = false;
  bool fake_ = false;
  std::string setup_;
  std::string tensors_;
  std::string arguments_;
};

}  // namespace

bool holds_inputs(const RecordedRun& run, uint32_t event) {
  return CallInputs(run, event).all_known;
}

Extract extract_cpp(const RecordedRun& run, uint32_t event, const std::string& data_name) {
  return CppProgram(run, event).extract(data_name);
}

}  // namespace sb::io
