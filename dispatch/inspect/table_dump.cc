#include "switchboard/dispatch/inspect/table_dump.h"

#include <optional>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/inspect/computed_table.h"

namespace sb {
namespace {

using Content = DumpedSlot::Content;

constexpr std::string_view kHeader = "switchboard tables\t1";

constexpr std::string_view to_text(Content content) {
  constexpr std::string_view names[] = {"none", "kernel", "fallthrough"};
  return names[static_cast<int>(content)];
}

std::optional<Content> find_content(std::string_view text) {
  for (Content content : {Content::None, Content::Kernel, Content::Fallthrough})
    if (to_text(content) == text) return content;
  return std::nullopt;
}

std::optional<ResolutionRule> find_rule(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(ResolutionRule::Missing); ++i)
    if (to_string(static_cast<ResolutionRule>(i)) == text) return static_cast<ResolutionRule>(i);
  return std::nullopt;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\t')
      out += "\\t";
    else if (c == '\n')
      out += "\\n";
    else if (c == '\\')
      out += "\\\\";
    else
      out += c;
  }
  return out;
}

// Fit for a message, whatever the file holds.
std::string quoted(std::string_view text) {
  constexpr size_t kShown = 80;
  std::string out = "'";
  for (const char c : text.substr(0, kShown)) out += c >= 0x20 && c < 0x7f ? c : '?';
  return out + (text.size() > kShown ? "'..." : "'");
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& source) : rest_(text), source_(source) {}

  TableDump parse() {
    const bool has_header = next_line() && line_ == kHeader;
    check(has_header, "expected ", quoted(kHeader), ", got ", quoted(line_));
    while (true) {
      check(next_line(), "expected a line 'end'; the file was cut short");
      const std::vector<std::string> fields = split();
      if (fields[0] == "op")
        read_op(fields);
      else if (fields[0] == "slot")
        read_slot(fields);
      else if (fields[0] == "end")
        return read_end(fields);
      else
        fail("expected 'op', 'slot' or 'end', got ", quoted(fields[0]));
    }
  }

 private:
  template <class... Parts>
  void check(bool holds, const Parts&... parts) const {
    if (!holds) fail(parts...);
  }
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    SB_THROW(ValueError, source_, ":", number_, ": ", parts...);
  }

  bool next_line() {
    ++number_;
    const size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    const bool whole = end != rest_.npos;
    rest_.remove_prefix(whole ? end + 1 : rest_.size());
    return whole;
  }

  std::vector<std::string> split() const {
    std::vector<std::string> fields(1);
    for (size_t i = 0; i < line_.size(); ++i) {
      if (line_[i] == '\t') {
        fields.emplace_back();
      } else if (line_[i] == '\\') {
        const char c = ++i < line_.size() ? line_[i] : ' ';
        check(c == 't' || c == 'n' || c == '\\', "expected \\t, \\n or \\\\ after a backslash");
        fields.back() += c == 't' ? '\t' : c == 'n' ? '\n' : '\\';
      } else {
        fields.back() += line_[i];
      }
    }
    return fields;
  }

  void check_fields(const std::vector<std::string>& fields, size_t expected) const {
    check(fields.size() == expected, "expected ", expected, " fields, got ", fields.size());
  }

  void read_op(const std::vector<std::string>& fields) {
    check_fields(fields, 3);
    check(!fields[1].empty(), "expected an operator's name, got nothing");
    const auto [it, added] = dump_.try_emplace(fields[1], DumpedOp{fields[2], {}});
    check(added, "operator ", quoted(fields[1]), " is here twice");
    op_ = it;
  }

  DispatchKey key(const std::string& text) const {
    const std::optional<DispatchKey> key = find_dispatch_key(text);
    check(key.has_value(), "unknown dispatch key ", quoted(text));
    return *key;
  }

  void read_slot(const std::vector<std::string>& fields) {
    check_fields(fields, 7);
    check(op_ != dump_.end() && op_->first == fields[1], "a slot of ", quoted(fields[1]),
          " that does not follow its operator");
    const DispatchKey at = key(fields[2]);
    check(is_runtime_key(at), "no slot has the dispatch key ", quoted(fields[2]));
    const std::optional<ResolutionRule> rule = find_rule(fields[3]);
    check(rule.has_value(), "unknown rule ", quoted(fields[3]));
    const DispatchKey source = key(fields[4]);
    const std::optional<Content> content = find_content(fields[5]);
    check(content.has_value(), "expected 'kernel', 'fallthrough' or 'none', got ",
          quoted(fields[5]));
    check((*content == Content::None) == fields[6].empty(), "expected ",
          *content == Content::None ? "no place" : "a place", ", got ", quoted(fields[6]));
    check(op_->second.slots.try_emplace(at, DumpedSlot{*rule, source, *content, fields[6]}).second,
          "the slot ", quoted(fields[2]), " of ", quoted(fields[1]), " is here twice");
    ++slots_;
  }

  TableDump read_end(const std::vector<std::string>& fields) {
    check_fields(fields, 3);
    check(fields[1] == std::to_string(dump_.size()) && fields[2] == std::to_string(slots_),
          "the end counts ", quoted(fields[1]), " operators and ", quoted(fields[2]),
          " slots; there are ", dump_.size(), " and ", slots_);
    check(rest_.empty(), "there is more behind the end");
    return std::move(dump_);
  }

  std::string_view rest_;
  const std::string& source_;
  std::string_view line_;
  size_t number_ = 0;
  TableDump dump_;
  TableDump::iterator op_ = dump_.end();
  size_t slots_ = 0;
};

std::string without_line(const std::string& place) { return place.substr(0, place.rfind(':')); }

bool same_slot(const DumpedSlot& a, const DumpedSlot& b, bool ignore_lines) {
  if (!ignore_lines) return a == b;
  return a.rule == b.rule && a.source == b.source && a.content == b.content &&
         without_line(a.place) == without_line(b.place);
}

std::string describe(const DumpedSlot* slot, DispatchKey key) {
  if (!slot) return "nothing";
  const std::string from = slot->source == key ? "" : str_cat(", from ", to_string(slot->source));
  const std::string what =
      slot->content == Content::None ? "(none)" : str_cat(to_text(slot->content), " ", slot->place);
  return str_cat(what, " [", to_string(slot->rule), from, "]");
}

OpChange diff_op(const std::string& name, const DumpedOp& before, const DumpedOp& after,
                 bool ignore_lines) {
  OpChange change{name, "", "", {}};
  if (before.schema != after.schema) {
    change.schema_before = before.schema;
    change.schema_after = after.schema;
  }
  auto find = [](const DumpedOp& op, DispatchKey key) {
    const auto it = op.slots.find(key);
    return it == op.slots.end() ? nullptr : &it->second;
  };
  for_each_runtime_key([&](DispatchKey key) {
    const DumpedSlot* const a = find(before, key);
    const DumpedSlot* const b = find(after, key);
    if (a && b ? same_slot(*a, *b, ignore_lines) : a == b) return;
    const std::string from = describe(a, key), to = describe(b, key);
    for (SlotChange& other : change.slots) {
      if (other.before != from || other.after != to) continue;
      other.keys.push_back(key);
      return;
    }
    change.slots.push_back({{key}, from, to});
  });
  return change;
}

}  // namespace

TableDump dump_tables(const Dispatcher& dispatcher) {
  TableDump dump;
  for (const OperatorHandle& op : dispatcher.all_ops()) {
    try {
      DumpedOp dumped{op.schema().to_string(), {}};
      for (const TableRow& row : computed_table(op)) {
        if (row.rule == ResolutionRule::Missing) continue;
        dumped.slots[row.key] = {row.rule, row.source,
                                 !row.has_kernel      ? Content::None
                                 : row.is_fallthrough ? Content::Fallthrough
                                                      : Content::Kernel,
                                 row.has_kernel ? to_string(row.where) : ""};
      }
      dump.emplace(op.name().to_string(), std::move(dumped));
    } catch (const NotImplementedError&) {  // removed since it was listed
    }
  }
  return dump;
}

std::string to_string(const TableDump& dump) {
  std::string text = str_cat(kHeader, "\n");
  size_t slots = 0;
  for (const auto& [name, op] : dump) {
    const std::string op_name = escaped(name);
    text += str_cat("op\t", op_name, "\t", escaped(op.schema), "\n");
    for (const auto& [key, slot] : op.slots) {
      text += str_cat("slot\t", op_name, "\t", to_string(key), "\t", to_string(slot.rule), "\t",
                      to_string(slot.source), "\t", to_text(slot.content), "\t",
                      escaped(slot.place), "\n");
    }
    slots += op.slots.size();
  }
  return text + str_cat("end\t", dump.size(), "\t", slots, "\n");
}

TableDump parse_table_dump(std::string_view text, const std::string& source) {
  return Parser(text, source).parse();
}

TableDiff diff_tables(const TableDump& before, const TableDump& after, bool ignore_lines) {
  TableDiff diff;
  for (const auto& [name, op] : before)
    if (!after.contains(name)) diff.removed.push_back(op.schema);
  for (const auto& [name, op] : after) {
    const auto old = before.find(name);
    if (old == before.end()) {
      diff.added.push_back(op.schema);
      continue;
    }
    OpChange change = diff_op(name, old->second, op, ignore_lines);
    if (!change.slots.empty() || !change.schema_after.empty() || !change.schema_before.empty())
      diff.changed.push_back(std::move(change));
  }
  return diff;
}

std::string to_string(const TableDiff& diff) {
  std::string text;
  for (const std::string& schema : diff.removed) text += str_cat("- ", schema, "\n");
  for (const std::string& schema : diff.added) text += str_cat("+ ", schema, "\n");
  for (const OpChange& change : diff.changed) {
    text += str_cat("~ ", change.op, "\n");
    if (change.schema_before != change.schema_after)
      text += str_cat("    schema\n      - ", change.schema_before, "\n      + ",
                      change.schema_after, "\n");
    for (const SlotChange& slot : change.slots) {
      std::string keys;
      for (const DispatchKey key : slot.keys)
        keys += str_cat(keys.empty() ? "" : ", ", to_string(key));
      text += str_cat("    ", keys, "\n      - ", slot.before, "\n      + ", slot.after, "\n");
    }
  }
  return text;
}

}  // namespace sb
