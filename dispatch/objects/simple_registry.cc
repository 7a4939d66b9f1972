#include "switchboard/dispatch/objects/simple_registry.h"

#include "switchboard/core/error.h"
#include "switchboard/dispatch/objects/qualified_name.h"

namespace sb {

RegistrationHandle SimpleRegistry::add_erased(std::string_view qualname, std::type_index type,
                                              std::shared_ptr<const void> value,
                                              SourceLocation where) {
  std::string name = parse_qualified_name(qualname).to_string();
  std::lock_guard<std::mutex> lock(facts_->mutex);
  const auto [it, added] = facts_->entries[name].try_emplace(type, Fact{std::move(value), where});
  SB_CHECK(added, name,
           ": a fact of this type is already registered; destroy its handle first"
           "\nregistered at: ",
           to_string(it->second.where), "\nand again at: ", to_string(where));
  return RegistrationHandle([facts = std::weak_ptr<Facts>(facts_), name = std::move(name), type] {
    const std::shared_ptr<Facts> live = facts.lock();
    if (!live) return;
    std::map<std::type_index, Fact>::node_type removed;  // destroyed without the lock
    std::lock_guard<std::mutex> lock(live->mutex);
    const auto entry = live->entries.find(name);
    removed = entry->second.extract(type);
    if (entry->second.empty()) live->entries.erase(entry);
  });
}

std::shared_ptr<const void> SimpleRegistry::find_erased(std::string_view qualname,
                                                        std::type_index type) const {
  std::lock_guard<std::mutex> lock(facts_->mutex);
  const auto entry = facts_->entries.find(qualname);
  if (entry == facts_->entries.end()) return nullptr;
  const auto fact = entry->second.find(type);
  return fact == entry->second.end() ? nullptr : fact->second.value;
}

std::vector<std::string> SimpleRegistry::names() const {
  std::vector<std::string> names;
  std::lock_guard<std::mutex> lock(facts_->mutex);
  for (const auto& [name, facts] : facts_->entries) names.push_back(name);
  return names;
}

SimpleRegistry& default_simple_registry() {
  static auto* const registry = new SimpleRegistry;
  return *registry;
}

}  // namespace sb
