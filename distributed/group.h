// A set of ranks that call collectives together.

#ifndef SWITCHBOARD_DISTRIBUTED_GROUP_H_
#define SWITCHBOARD_DISTRIBUTED_GROUP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/core/intrusive_ptr.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/distributed/background.h"
#include "switchboard/distributed/engine.h"

namespace sb {

// As `torch.distributed.ProcessGroup`: an opaque value that operators take, or find by its name
// (World::find_group). Each rank has an object of its own. Used by its rank's thread.
class Group final : public OpaqueObject {
 public:
  // `ranks` are those of the engine, in the group's order. `background` has the engine's calls that
  // are still running.
  Group(std::shared_ptr<Engine> engine, std::shared_ptr<Background> background, std::string name,
        std::vector<int64_t> ranks);

  std::string_view class_name() const override {
    return "__torch__.torch.classes.c10d.ProcessGroup";
  }

  const std::string& name() const { return name_; }
  int64_t size() const { return static_cast<int64_t>(ranks_.size()); }
  absl::Span<const int64_t> ranks() const { return ranks_; }
  // This rank's place in the group; -1 where it is not in it. As `torch.distributed.get_rank`.
  int64_t rank() const { return rank_; }
  // For what runs in the background, and after Background::settle().
  Engine& engine() const { return *engine_; }
  Background& background() const { return *background_; }
  // The same on all ranks, and other than that of any other group.
  uint64_t id() const { return id_; }
  // How many calls this rank made so far.
  uint64_t calls() const { return calls_; }
  // Counts one more, and returns its number, from 1 on.
  uint64_t next_call() { return ++calls_; }

  // "rank 1 of group '0'"; the rank is the engine's.
  std::string describe() const;

 private:
  std::shared_ptr<Engine> engine_;
  std::shared_ptr<Background> background_;
  std::string name_;
  std::vector<int64_t> ranks_;
  int64_t rank_;
  uint64_t id_;
  uint64_t calls_ = 0;
};

using GroupPtr = IntrusivePtr<Group>;

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_GROUP_H_
