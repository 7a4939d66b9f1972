// Where the ranks of one process meet: the engine whose ranks are threads.

#ifndef SWITCHBOARD_DISTRIBUTED_ONE_PROCESS_HUB_H_
#define SWITCHBOARD_DISTRIBUTED_ONE_PROCESS_HUB_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/distributed/engine.h"

namespace sb::internal {

// Thread-safe. A wait that nothing can end any more, as every rank that could is gone or waits
// itself, ends at once with DistError that names who waits for what; the clock is only for a rank
// that computes too long.
class Hub {
 public:
  Hub(int64_t size, double timeout);

  int64_t size() const { return static_cast<int64_t>(ranks_.size()); }
  double timeout() const { return timeout_; }
  void exchange(int64_t rank, const Meeting& meeting, absl::Span<const ConstBytes> sends,
                absl::Span<const Bytes> receives);
  void send(int64_t rank, int64_t to, int64_t tag, ConstBytes bytes);
  void receive(int64_t rank, int64_t from, int64_t tag, Bytes bytes, const Meeting& meeting);
  void fail(int64_t rank, std::string_view message) noexcept;
  // The rank calls nothing any more.
  void leave(int64_t rank) noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;
  // What a rank does at the moment. A wait has a condition, the ranks that it is for, and its text.
  struct Rank {
    bool ended = false;
    const std::function<bool()>* ready = nullptr;
    std::function<std::vector<int64_t>()> missing;
    const Meeting* meeting = nullptr;
  };
  // One exchange: the members that came, by place, with what they send.
  struct Visit {
    std::vector<absl::Span<const ConstBytes>> sends;
    std::vector<bool> here;
    size_t arrived = 0;
    size_t left = 0;
  };
  struct Failure {
    int64_t rank;
    std::string message;
  };

  void wait(Lock& lock, int64_t rank, const Meeting& meeting, const std::function<bool()>& ready,
            std::function<std::vector<int64_t>()> missing);
  // Whether no rank can go on; to be asked when one begins to wait or ends.
  bool is_stuck() const;
  std::string describe_waits() const;
  [[noreturn]] void throw_failure(const Meeting& meeting) const;

  const double timeout_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Rank> ranks_;
  std::map<uint64_t, std::shared_ptr<Visit>> open_;  // by group: those whose members are on the way
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::deque<std::vector<std::byte>>> messages_;
  std::unique_ptr<Failure> failure_;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISTRIBUTED_ONE_PROCESS_HUB_H_
