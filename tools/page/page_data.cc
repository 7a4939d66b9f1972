#include "switchboard/tools/page/page_data.h"

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_replace.h"
#include "switchboard/dispatch/inspect/reason.h"

namespace sb::page {
namespace {

using nlohmann::ordered_json;
using Content = DumpedSlot::Content;

constexpr std::string_view text_of(Content content) {
  return content == Content::Kernel        ? "kernel"
         : content == Content::Fallthrough ? "fallthrough"
                                           : "none";
}

// Numbers of seven bits a byte, the low ones first.
void append_number(uint64_t number, std::string* bytes) {
  for (; number >= 0x80; number >>= 7) bytes->push_back(static_cast<char>(number | 0x80));
  bytes->push_back(static_cast<char>(number));
}

std::string reason_of(DispatchKey key, const DumpedSlot& slot) {
  return reason_text({key,
                      slot.rule,
                      slot.source,
                      slot.content != Content::None,
                      slot.content == Content::Fallthrough,
                      false,
                      {}});
}

// Cells that are equal have one number, and so have texts.
class Cells {
 public:
  Cells() { add("", "", "", "", reason_of({}, {ResolutionRule::Missing, {}, Content::None, ""})); }

  // A kernel that is registered at its slot's own key is the same cell at all keys.
  size_t number_of(DispatchKey key, const DumpedSlot& slot) {
    const bool own = slot.source == key;
    const auto [known, fresh] = numbers_.try_emplace(
        {slot.rule, own ? DispatchKey::Undefined : slot.source, slot.content, slot.place},
        numbers_.size() + 1);
    if (fresh)
      add(to_string(slot.rule), own ? "" : to_string(slot.source), text_of(slot.content),
          slot.place, reason_of(key, slot));
    return known->second;
  }
  const ordered_json& cells() const { return cells_; }
  const ordered_json& texts() const { return texts_; }

 private:
  void add(std::string_view rule, std::string_view source, std::string_view content,
           std::string_view place, std::string_view reason) {
    for (const std::string_view text : {rule, source, content, place, reason}) {
      const auto [known, fresh] = text_numbers_.try_emplace(std::string(text), texts_.size());
      if (fresh) texts_.push_back(text);
      cells_.push_back(known->second);
    }
  }

  std::map<std::tuple<ResolutionRule, DispatchKey, Content, std::string>, size_t> numbers_;
  std::map<std::string, size_t> text_numbers_;
  ordered_json cells_ = ordered_json::array(), texts_ = ordered_json::array();
};

// Whether somebody means a key by itself, and not with all others of a kind: an operator has a
// kernel of its own there, or the key has a fallback.
class KeysInUse {
 public:
  explicit KeysInUse(const TableDump& tables) {
    for (const auto& [name, op] : tables) {
      for (const auto& [key, slot] : op.slots) {
        if (slot.source != key && slot.rule != ResolutionRule::AutogradKernel) continue;
        own_.insert(key);
        if (slot.rule == ResolutionRule::Kernel && functionality_of(key) == DispatchKey::Dense)
          backends_.insert(*backend_of(key));
      }
    }
  }
  bool has(DispatchKey key) const {
    const std::optional<Backend> backend = backend_of(key);
    return own_.contains(key) && (!backend || backends_.contains(*backend));
  }

 private:
  std::set<DispatchKey> own_;
  std::set<Backend> backends_;
};

}  // namespace

std::string tables_json(const TableDump& tables) {
  const KeysInUse in_use(tables);
  std::vector<DispatchKey> columns;
  ordered_json keys = ordered_json::array(), rules = ordered_json::array();
  for_each_runtime_key([&](DispatchKey key) {
    columns.push_back(key);
    const DispatchKey group = functionality_of(key);
    keys.push_back({{"name", to_string(key)},
                    {"group", is_per_backend_functionality(group) ? to_string(group) : ""},
                    {"in_use", in_use.has(key)}});
  });
  for (int i = 0; i <= static_cast<int>(ResolutionRule::Missing); ++i)
    rules.push_back(to_string(static_cast<ResolutionRule>(i)));

  Cells cells;
  ordered_json names = ordered_json::array(), signatures = ordered_json::array();
  std::string rows;
  size_t last = 0, times = 0;
  const auto end_run = [&] {
    if (times == 0) return;
    append_number(last, &rows);
    append_number(times, &rows);
    times = 0;
  };
  for (const auto& [name, op] : tables) {
    names.push_back(name);
    signatures.push_back(op.schema.starts_with(name) ? op.schema.substr(name.size()) : op.schema);
    for (const DispatchKey key : columns) {
      const auto slot = op.slots.find(key);
      const size_t cell = slot == op.slots.end() ? 0 : cells.number_of(key, slot->second);
      if (cell != last) end_run();
      last = cell;
      ++times;
    }
  }
  end_run();

  const ordered_json all = {
      {"keys", std::move(keys)},         {"rules", std::move(rules)},
      {"names", std::move(names)},       {"signatures", std::move(signatures)},
      {"texts", cells.texts()},          {"cells", cells.cells()},
      {"rows", absl::Base64Escape(rows)}};
  constexpr bool kAscii = true;
  return absl::StrReplaceAll(all.dump(-1, ' ', kAscii, ordered_json::error_handler_t::replace),
                             {{"<", "\\u003c"}});
}

}  // namespace sb::page
