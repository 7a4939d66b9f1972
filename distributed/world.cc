#include "switchboard/distributed/world.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_join.h"
#include "switchboard/core/str_cat.h"

namespace sb {
namespace {

constinit thread_local World* thread_world = nullptr;

std::vector<int64_t> all_ranks(int64_t size) {
  std::vector<int64_t> ranks(static_cast<size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

World::World(std::shared_ptr<Engine> engine)
    : engine_(std::move(engine)), group_(new_group(all_ranks(engine_->size()), "0")) {}

GroupPtr World::new_group(std::vector<int64_t> ranks, std::string name) {
  const std::string text = absl::StrJoin(ranks, ",");
  SB_CHECK_VALUE(!ranks.empty(), "new_group: expected at least one rank");
  for (size_t i = 0; i < ranks.size(); ++i) {
    SB_CHECK_VALUE(ranks[i] >= 0 && ranks[i] < size(), "new_group: expected ranks from 0 to ",
                   size() - 1, ", got ", text);
    SB_CHECK_VALUE(std::find(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(i),
                             ranks[i]) == ranks.begin() + static_cast<std::ptrdiff_t>(i),
                   "new_group: rank ", ranks[i], " occurs twice in ", text);
  }
  // Not the name of the group of all: one rank of it would be called "0", too.
  if (name.empty()) name = str_cat("ranks ", text);
  const auto known = groups_.find(name);
  if (known != groups_.end()) {
    SB_CHECK_VALUE(known->second->ranks() == absl::MakeConstSpan(ranks), "new_group: '", name,
                   "' is the name of ranks ", absl::StrJoin(known->second->ranks(), ","),
                   " already, and not of ", text);
    return known->second;
  }
  GroupPtr group = make_intrusive<Group>(engine_, background_, name, std::move(ranks));
  groups_.emplace(std::move(name), group);
  return group;
}

GroupPtr World::find_group(std::string_view name) const {
  const auto found = groups_.find(name);
  return found == groups_.end() ? GroupPtr() : found->second;
}

World* find_world() { return thread_world; }

World& world() {
  World* const here = find_world();
  SB_CHECK(here, "distributed: no ranks were started on this thread; run_ranks() starts some");
  return *here;
}

WorldGuard::WorldGuard(World* world) : previous_(std::exchange(thread_world, world)) {}
WorldGuard::~WorldGuard() { thread_world = previous_; }

}  // namespace sb
