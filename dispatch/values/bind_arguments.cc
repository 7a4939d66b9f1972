#include "switchboard/dispatch/values/bind_arguments.h"

#include <algorithm>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/values/coerce_argument.h"

namespace sb {
namespace {

using internal::argument_text;
using internal::coerce_at;

[[noreturn, gnu::cold]] void throw_bad_keyword(
    const FunctionSchema& schema, size_t num_positional,
    const std::vector<std::pair<std::string, IValue>>& keyword) {
  for (size_t k = 0; k < keyword.size(); ++k) {
    const std::string& name = keyword[k].first;
    const std::optional<size_t> i = schema.find_argument(name);
    if (!i) {
      std::string names;
      for (const Argument& a : schema.arguments) names += (names.empty() ? "" : ", ") + a.name;
      SB_THROW(TypeError, schema.name.to_string(), ": no argument '", name,
               "'; arguments: ", names.empty() ? "(none)" : names);
    }
    SB_CHECK_TYPE(*i >= num_positional, argument_text(schema, *i),
                  ": given both by position and by name");
    for (size_t other = 0; other < k; ++other)
      SB_CHECK_TYPE(keyword[other].first != name, argument_text(schema, *i), ": given twice");
  }
  internal::assertion_failed("a wrong keyword", __FILE__, __LINE__);
}

}  // namespace

Stack bind_arguments(const FunctionSchema& schema, std::vector<IValue> positional,
                     std::vector<std::pair<std::string, IValue>> keyword) {
  const std::vector<Argument>& arguments = schema.arguments;
  const size_t num_positional = positional.size();
  const auto max_positional = static_cast<size_t>(std::count_if(
      arguments.begin(), arguments.end(), [](const Argument& a) { return !a.kwarg_only; }));
  SB_CHECK_TYPE(num_positional <= max_positional, schema.name.to_string(), ": expected at most ",
                max_positional, " positional arguments, got ", num_positional);

  Stack stack = std::move(positional);
  stack.reserve(arguments.size());
  for (size_t i = 0; i < num_positional; ++i) coerce_at(schema, i, stack[i]);

  size_t used = 0;
  for (size_t i = num_positional; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    const auto given = std::find_if(keyword.begin(), keyword.end(),
                                    [&](const auto& k) { return k.first == argument.name; });
    if (given != keyword.end()) {
      stack.push_back(std::move(given->second));
      coerce_at(schema, i, stack.back());
      ++used;
    } else if (argument.default_value) {
      stack.push_back(*argument.default_value);
    } else {
      if (used != keyword.size()) {  // a misspelt name is the likelier mistake
        for (const auto& k : keyword)
          if (!schema.find_argument(k.first)) throw_bad_keyword(schema, num_positional, keyword);
      }
      SB_THROW(TypeError, argument_text(schema, i), ": expected ", argument.type.to_string(),
               ", got nothing");
    }
  }
  if (used != keyword.size()) throw_bad_keyword(schema, num_positional, keyword);
  return stack;
}

}  // namespace sb
