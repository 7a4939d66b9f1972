#include <bit>
#include <string>

#include "absl/strings/str_cat.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/recording/recording.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {
namespace {

using Kind = RecordedValue::Kind;

bool is_contiguous(const RecordedMeta& meta) {
  int64_t stride = 1;
  for (size_t d = meta.sizes.size(); d-- > 0;) {
    if (meta.sizes[d] != 1 && meta.strides[d] != stride) return false;
    stride *= meta.sizes[d];
  }
  return true;
}

std::string list_text(const std::vector<int64_t>& list) {
  std::string text;
  for (const int64_t n : list) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return "[" + text + "]";
}

std::string values_text(const RecordedRun& run, absl::Span<const RecordedValue> values) {
  std::string text;
  while (!values.empty()) {
    text += (text.empty() ? "" : ", ") + value_text(run, values);
    values.remove_prefix(extent(values));
  }
  return text;
}

}  // namespace

std::string to_string(const RecordedMeta& meta) {
  std::string text =
      str_cat(to_string(meta.dtype), meta.symbols.empty() ? list_text(meta.sizes) : meta.symbols);
  if (!is_contiguous(meta)) text += " strides " + list_text(meta.strides);
  if (meta.device != "cpu") text += " on " + meta.device;
  return text;
}

std::string value_text(const RecordedRun& run, absl::Span<const RecordedValue> values) {
  const RecordedValue& value = values.at(0);
  switch (value.kind) {
    case Kind::None:
      return "None";
    case Kind::Tensor: {
      const RecordedTensor& tensor = run.tensor(value);
      if (!tensor.defined()) return "undefined";
      return str_cat("%", tensor.id, " ", to_string(run.meta(tensor)));
    }
    case Kind::Int:
      return std::to_string(value.number);
    case Kind::Bool:
      return value.number ? "True" : "False";
    case Kind::Double:
      return absl::StrCat(value.real());
    case Kind::Complex: {
      const auto& [real, imaginary] = run.complexes[value.index()];
      return absl::StrCat("(", real, imaginary < 0 ? "" : "+", imaginary, "j)");
    }
    case Kind::String:
      return quote(run.strings[value.index()]);
    case Kind::DType:
    case Kind::Device:
    case Kind::Layout:
    case Kind::MemoryFormat:
    case Kind::Symbol:
    case Kind::Opaque:
      return escape_message(run.strings[value.index()]);
    case Kind::Generator:
      return "generator on " + run.generators[value.index()].device;
    case Kind::Storage:
      return str_cat("storage ", value.number);
    default:
      return "[" + values_text(run, values.subspan(1, extent(values) - 1)) + "]";
  }
}

std::string to_string(const RecordedRun& run, const RecordedEvent& event) {
  std::string text = str_cat(run.site(event).op, "(", values_text(run, run.arguments(event)), ")");
  if (event.threw) return text + " threw";
  if (!event.ended) return text + " running";
  return str_cat(text, " -> ", values_text(run, run.results(event)));
}

}  // namespace sb::io
