// The words of a language for the values of a call.

#ifndef SWITCHBOARD_IO_RECORDING_CALL_WORDS_H_
#define SWITCHBOARD_IO_RECORDING_CALL_WORDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "switchboard/core/str_cat.h"
#include "switchboard/io/recording/call_inputs.h"
#include "switchboard/io/recording/call_tree.h"
#include "switchboard/io/recording/number_text.h"
#include "switchboard/io/recording/recording.h"

namespace sb::io {

class CallWords {
 public:
  using Kind = RecordedValue::Kind;
  using Values = absl::Span<const RecordedValue>;

  // What a language calls these.
  struct Names {
    const char *none, *no_tensor, *yes, *no, *infinity, *nan, *complex;
  };

  CallWords(const RecordedRun& run, const CallInputs& inputs, const Names& names)
      : run_(run), inputs_(inputs), names_(names) {}
  virtual ~CallWords() = default;

  std::string value(Values values) const {
    const RecordedValue& v = values[0];
    switch (v.kind) {
      case Kind::None:
        return names_.none;
      case Kind::Tensor:
        return run_.tensor(v).defined() ? tensor_name(run_.tensor(v)) : names_.no_tensor;
      case Kind::Bool:
        return v.number ? names_.yes : names_.no;
      case Kind::Double:
        return real(v.real());
      case Kind::Complex: {
        const auto& [re, im] = run_.complexes[v.index()];
        return str_cat(names_.complex, "(", real(re), ", ", real(im), ")");
      }
      case Kind::String:
        return string_literal(text(v));
      default:
        return other(values);
    }
  }

 protected:
  // A value that no two languages write alike.
  virtual std::string other(Values values) const = 0;

  std::string real(double v) const { return real_text(v, names_.infinity, names_.nan); }
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
  const CallInputs& inputs_;

 private:
  const Names& names_;
};

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_RECORDING_CALL_WORDS_H_
