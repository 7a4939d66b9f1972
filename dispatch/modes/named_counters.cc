#include "switchboard/dispatch/modes/named_counters.h"

namespace sb {

NamedCounter& NamedCounters::operator[](std::string_view name) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = counters_.find(name);
  return found == counters_.end() ? counters_[std::string(name)] : found->second;
}

std::vector<std::pair<std::string, int64_t>> NamedCounters::values() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::pair<std::string, int64_t>> values;
  for (const auto& [name, counter] : counters_)
    if (counter.value() != 0) values.emplace_back(name, counter.value());
  return values;
}

void NamedCounters::reset() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [name, counter] : counters_) counter.reset();
}

NamedCounters& default_counters() {
  static NamedCounters* const counters = new NamedCounters;
  return *counters;
}

}  // namespace sb
