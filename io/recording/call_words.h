// The words of a language for the values of a call.

#ifndef SWITCHBOARD_IO_RECORDING_CALL_WORDS_H_
#define SWITCHBOARD_IO_RECORDING_CALL_WORDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "switchboard/core/str_cat.h"
#include "switchboard/io/recording/call_inputs.h"
#include "switchboard/io/recording/call_tree.h"
#include "switchboard/io/recording/recording.h"

namespace sb::io {

class CallWords {
 public:
  using Kind = RecordedValue::Kind;
  using Values = absl::Span<const RecordedValue>;

  CallWords(const RecordedRun& run, const CallInputs& inputs) : run_(run), inputs_(inputs) {}
  virtual ~CallWords() = default;
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
  const CallInputs& inputs_;
};

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_RECORDING_CALL_WORDS_H_
