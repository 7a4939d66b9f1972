#include "switchboard/io/recording/call_tree.h"

#include "switchboard/core/str_cat.h"

namespace sb::io {

bool touches_fake(const RecordedRun& run, const RecordedEvent& event) {
  for (const auto values : {run.arguments(event), run.results(event)})
    for (const RecordedValue& v : values)
      if (v.kind == RecordedValue::Kind::Tensor && run.tensor(v).defined() &&
          run.meta(run.tensor(v)).fake)
        return true;
  return false;
}

std::string kernel_text(const RecordedSite& site) {
  return str_cat(site.key, "  ", site.where, "  ", site.reason);
}

std::vector<ArgumentName> argument_names(std::string_view schema) {
  // "ns::op(Tensor(a!) self, int[2] size=[1, 1], *, Scalar alpha=1) -> Tensor": commas in brackets
  // are of defaults and types.
  std::vector<ArgumentName> names;
  const size_t open = schema.find('(');
  std::string part;
  int depth = 0;
  bool keyword_only = false;
  for (size_t i = open + 1; open != schema.npos && i < schema.size(); ++i) {
    const char c = schema[i];
    if (depth == 0 && (c == ',' || c == ')')) {
      part = part.substr(0, part.find('='));
      std::string name = part.substr(part.rfind(' ') + 1);
      if (name == "*")
        keyword_only = true;
      else if (!name.empty())
        names.push_back({std::move(name), keyword_only});
      part.clear();
      if (c == ')') break;
      continue;
    }
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    part += c;
  }
  return names;
}

std::string argument_text(std::string_view schema, uint32_t index) {
  const std::vector<ArgumentName> names = argument_names(schema);
  return index < names.size() ? str_cat(index, " '", names[index].name, "'") : str_cat(index);
}

std::string int_list(const std::vector<int64_t>& list) {
  std::string text;
  for (const int64_t n : list) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return "[" + text + "]";
}

}  // namespace sb::io
