#include "switchboard/transforms/higher_order/print.h"

#include <iostream>
#include <optional>
#include <string_view>

#include "absl/strings/numbers.h"
#include "switchboard/core/error.h"
#include "switchboard/core/print/tensor_print.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/inspect/call_text.h"
#include "switchboard/transforms/higher_order/named_values.h"

namespace sb {
namespace {

using higher_order::NamedValues;

constexpr std::string_view kName = "higher_order::print";

std::string text_of(const IValue& value) {
  if (value.is_String()) return std::string(value.to_string_view());
  return value_text(value, [](const Tensor& t) { return to_string(t); });
}

// Replaces the fields of a format.
class Formatter {
 public:
  Formatter(const std::vector<IValue>& args, const NamedValues& kwargs)
      : args_(args), kwargs_(kwargs) {}

  std::string operator()(std::string_view format) {
    std::string text;
    while (!format.empty()) {
      const size_t brace = format.find_first_of("{}");
      text += format.substr(0, brace);
      if (brace == std::string_view::npos) break;
      const bool doubled = brace + 1 < format.size() && format[brace + 1] == format[brace];
      if (doubled) {
        text += format[brace];
        format.remove_prefix(brace + 2);
        continue;
      }
      SB_CHECK_VALUE(format[brace] == '{', kName, ": format: a single '}'");
      const size_t end = format.find('}', brace);
      SB_CHECK_VALUE(end != std::string_view::npos, kName, ": format: a '{' without a '}'");
      text += text_of(value_of(format.substr(brace + 1, end - brace - 1)));
      format.remove_prefix(end + 1);
    }
    return text;
  }

 private:
  const IValue& value_of(std::string_view field) {
    uint32_t index = 0;
    if (field.empty() || absl::SimpleAtoi(absl::string_view(field.data(), field.size()), &index)) {
      SB_CHECK_VALUE(!by_number_ || *by_number_ == !field.empty(), kName,
                     ": format: fields with and without numbers");
      by_number_ = !field.empty();
      if (field.empty()) index = next_++;
      SB_CHECK_INDEX(index < args_.size(), kName, ": format: field ", index, ": got ", args_.size(),
                     " values");
      return args_[index];
    }
    SB_CHECK_VALUE(field.find_first_of(":!.[") == std::string_view::npos, kName, ": format: '{",
                   field, "}': only places, without a format of the value, are known");
    if (const IValue* const value = kwargs_.find(field)) return *value;
    SB_THROW(ValueError, kName, ": format: no value for '{", field, "}'");
  }

  const std::vector<IValue>& args_;
  const NamedValues& kwargs_;
  std::optional<bool> by_number_;
  uint32_t next_ = 0;
};

std::vector<IValue> compose(const std::vector<IValue>& arguments) {
  SB_CHECK_TYPE(arguments[0].is_String(), kName, ": format: expected a string, got ",
                arguments[0].tag_name());
  const std::vector<IValue> args = higher_order::items_of(kName, "args", arguments[1]);
  const NamedValues kwargs(kName, "kwargs", arguments[2]);
  std::cout << Formatter(args, kwargs)(arguments[0].to_string_view()) << std::endl;
  return {};
}

const higher_order::ComposedHop& hop() {
  // Never destroyed: calls may come while the program ends.
  static const auto* const hop =
      new higher_order::ComposedHop({.name = "print",
                                     .parameters = {"format", "args", "kwargs"},
                                     .compose = compose,
                                     .is_effect = true});
  return *hop;
}

// So that it is found by its name from the start.
[[maybe_unused]] const auto& print_at_start = hop();

}  // namespace

HigherOrderOperator& print_op() { return hop().op(); }

void print(const std::string& format, std::vector<IValue> args,
           const std::vector<std::pair<std::string, IValue>>& kwargs) {
  print_op()({format, std::move(args), higher_order::pairs_of(kwargs)});
}

}  // namespace sb
