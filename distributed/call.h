// One call of a collective, as the ranks of its group compare it.

#ifndef SWITCHBOARD_DISTRIBUTED_CALL_H_
#define SWITCHBOARD_DISTRIBUTED_CALL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "switchboard/core/source_location.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/distributed/engine.h"
#include "switchboard/distributed/group.h"

namespace sb {

// A line of the program that calls collectives, or a place of another kind.
struct CallPlace {
  SourceLocation where;
  std::string text;  // instead of a line: "model.pt2: nodes[3] (all_reduce)"

  // " at train.cc:12", or "" where nothing is known.
  std::string describe() const;
};

// What all ranks of a group must say alike: operator, options, dtypes and sizes.
class Call {
 public:
  // What a rank says first, all of one size: those that part could not agree on another.
  struct Opening {
    uint64_t digest = 0;
    std::array<std::byte, 56> data = {};
  };
  static constexpr size_t kOpeningData = sizeof(Opening::data);

  // `op`, which must outlive the call, is the operator's name; `group_name` a name or a Group.
  // Throws RuntimeError, naming the operator, for a group that is not known here or that this rank
  // is not in. Without data, where shapes alone are asked for, there need be no such group.
  Call(std::string_view op, const IValue& group_name, bool has_data = true);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Null for a call without data of a group that is not known.
  const GroupPtr& group() const { return group_; }
  bool has_data() const { return has_data_; }
  // Of the group, which is known.
  int64_t size() const { return group_->size(); }
  int64_t rank() const { return group_->rank(); }

  // Adds a tensor whose dtype and sizes, from dimension `from` on, are the same everywhere.
  void add(const Tensor& tensor, size_t from = 0);
  // Adds an option: "sum", "src=1".
  void add(std::string_view option);

  // "_c10d_functional::all_reduce(float32[2], sum)", and a hash of it that is the same on all
  // ranks.
  std::string text() const;
  uint64_t hash() const { return hash_; }
  const CallPlace& place() const { return place_; }
  // "_c10d_functional::all_reduce: rank 1 of group '0': ", which errors begin with.
  std::string blame() const;

  // Counts the call, whose tensors and options are all known now. Returns whether there is data:
  // without it nothing is sent. Once, on the rank's thread.
  bool begin();
  // Then, before data is exchanged: compares this call with those of the other ranks, and throws
  // DistError on all of them where they part, naming who calls what where. `data`, of at most
  // kOpeningData bytes, travels along. In the background, or on the rank's thread after
  // Background::settle().
  void agree(ConstBytes data = {});
  // Both on the rank's thread, after all that still runs in the background. Throws the first error
  // of that which nobody has seen, and then does not count the call.
  bool begin_and_agree(ConstBytes data = {});
  // After agree() with data: that of each rank. Empty where there was none, or this rank is alone.
  ConstBytes opening_data(int64_t rank) const;
  // Exchanges data. After agree(). tensors() gives those that have the memory, as a std::vector:
  // where the exchange fails, keep_for_ever() keeps them.
  template <class Tensors>
  void exchange(absl::Span<const ConstBytes> sends, absl::Span<const Bytes> receives,
                Tensors&& tensors) const;
  Meeting meeting() const;

 private:
  // A tensor's dtype and sizes, or an option.
  struct Said {
    DType dtype = DType::Float32;
    size_t from = 0;
    absl::InlinedVector<int64_t, 5> sizes;
    std::string option;  // not empty
  };

  const std::string_view op_;
  const bool has_data_;
  GroupPtr group_;
  absl::InlinedVector<Said, 2> said_;
  CallPlace place_;
  uint64_t number_ = 0;
  uint64_t hash_ = 0;
  std::vector<Opening> openings_;
  size_t opening_size_ = 0;
  std::function<std::string()> describe_;
};

// Never frees the tensors' memory: an engine that gave up waiting may still read and write it.
// Thread-safe.
void keep_for_ever(const std::vector<Tensor>& tensors);

template <class Tensors>
void Call::exchange(absl::Span<const ConstBytes> sends, absl::Span<const Bytes> receives,
                    Tensors&& tensors) const {
  try {
    group_->engine().exchange(meeting(), sends, receives);
  } catch (...) {
    keep_for_ever(tensors());
    throw;
  }
}

// The group that a value is or names; null where it is not known here.
GroupPtr find_group(const IValue& group_name);

// The lines of the program that call collectives on this thread, for errors: the innermost counts.
class CallPlaceGuard {
 public:
  explicit CallPlaceGuard(SourceLocation where);
  // A place of another kind, "model.pt2: nodes[3] (all_reduce)".
  explicit CallPlaceGuard(std::string place);
  ~CallPlaceGuard();
  CallPlaceGuard(const CallPlaceGuard&) = delete;
  CallPlaceGuard& operator=(const CallPlaceGuard&) = delete;

  static CallPlace current();

 private:
  const CallPlace place_;
  const CallPlaceGuard* const outer_;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_CALL_H_
