// The ranks that run a program together, as one of them sees it.

#ifndef SWITCHBOARD_DISTRIBUTED_WORLD_H_
#define SWITCHBOARD_DISTRIBUTED_WORLD_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "switchboard/distributed/background.h"
#include "switchboard/distributed/engine.h"
#include "switchboard/distributed/group.h"

namespace sb {

// A rank's engine and its groups by name. Used by its rank's thread. Its end waits for calls in the
// background: where the program has failed, Engine::fail() comes before.
class World {
 public:
  // Makes the group of all ranks.
  explicit World(std::shared_ptr<Engine> engine);
  ~World() { background_->end(); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Free for the rank's thread after settle().
  Engine& engine() const { return *engine_; }
  // Waits until no call runs in the background any more. Throws the first error of one that nobody
  // has seen. A program's last call, so that it does not end well where one of its calls did not.
  void settle() { background_->settle(); }
  int64_t rank() const { return engine_->rank(); }
  int64_t size() const { return engine_->size(); }

  // All ranks. Its name is "0", as PyTorch's, so that programs exported there find it.
  const GroupPtr& group() const { return group_; }
  // A group of some ranks, in this order. Every rank makes the same groups, those that are not in
  // them included, whose calls are refused; nothing is sent. Without a name it is called by its
  // ranks, "ranks 0,2". Asked for again it is the same group. Throws ValueError for a rank that
  // does not exist or occurs twice, none at all, or a name that other ranks have.
  GroupPtr new_group(std::vector<int64_t> ranks, std::string name = "");
  // Null where there is none of that name.
  GroupPtr find_group(std::string_view name) const;

 private:
  std::shared_ptr<Engine> engine_;
  std::shared_ptr<Background> background_ = std::make_shared<Background>();
  std::map<std::string, GroupPtr, std::less<>> groups_;
  GroupPtr group_;
};

// The world of this thread; null where none was set.
World* find_world();
// RuntimeError where there is none.
World& world();

// Makes a world this thread's for a scope. Not owned.
class WorldGuard {
 public:
  explicit WorldGuard(World* world);
  ~WorldGuard();
  WorldGuard(const WorldGuard&) = delete;
  WorldGuard& operator=(const WorldGuard&) = delete;

 private:
  World* previous_;
};

// As the functions of `torch.distributed`, of this thread's world.
inline int64_t get_rank() { return world().rank(); }
inline int64_t get_world_size() { return world().size(); }
inline GroupPtr new_group(std::vector<int64_t> ranks, std::string name = "") {
  return world().new_group(std::move(ranks), std::move(name));
}

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_WORLD_H_
