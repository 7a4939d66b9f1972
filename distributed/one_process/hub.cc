#include "switchboard/distributed/one_process/hub.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_join.h"
#include "switchboard/core/str_cat.h"

namespace sb::internal {
namespace {

void copy_bytes(Bytes to, ConstBytes from) {
  SB_ASSERT(to.size() == from.size());
  if (!to.empty()) std::memcpy(to.data(), from.data(), to.size());
}

}  // namespace

Hub::Hub(int64_t size, double timeout) : timeout_(timeout), ranks_(static_cast<size_t>(size)) {}

bool Hub::is_stuck() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) {
    return rank.ended || (rank.ready && !(*rank.ready)());
  });
}

std::string Hub::describe_waits() const {
  std::string text;
  for (size_t r = 0; r < ranks_.size(); ++r) {
    const Rank& rank = ranks_[r];
    if (!text.empty()) text += "; ";
    if (!rank.ready) {
      text += str_cat("rank ", r, rank.ended ? " has ended" : " computes");
    } else {
      const std::vector<int64_t> missing = rank.missing();
      text += str_cat("rank ", r, " waits in ", (*rank.meeting->describe)(), " for rank",
                      missing.size() == 1 ? " " : "s ", absl::StrJoin(missing, ", "));
    }
  }
  return text;
}

void Hub::throw_failure(const Meeting& meeting) const {
  const std::string call = (*meeting.describe)();
  if (failure_->rank < 0) SB_THROW(DistError, call, ": ", failure_->message);
  SB_THROW(RankFailure, call, ": rank ", failure_->rank, " failed: ", failure_->message);
}

void Hub::wait(Lock& lock, int64_t rank, const Meeting& meeting, const std::function<bool()>& ready,
               std::function<std::vector<int64_t>()> missing) {
  if (ready()) return;
  Rank& self = ranks_[static_cast<size_t>(rank)];
  self.ready = &ready;
  self.missing = std::move(missing);
  self.meeting = &meeting;
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(std::min(timeout_, 1e8));
  const auto end = std::chrono::time_point_cast<std::chrono::steady_clock::duration>(deadline);
  while (!ready() && !failure_) {
    // Of no rank: nobody is more at fault than the others.
    if (is_stuck()) {
      failure_ = std::make_unique<Failure>(Failure{-1, "no rank can go on: " + describe_waits()});
    } else if (changed_.wait_until(lock, end) == std::cv_status::timeout && !ready() && !failure_) {
      failure_ = std::make_unique<Failure>(
          Failure{-1, str_cat("nobody came in ", timeout_, " s: ", describe_waits())});
    }
    if (failure_) changed_.notify_all();
  }
  const bool is_ready = ready();
  self = Rank();
  if (!is_ready) throw_failure(meeting);
}

void Hub::exchange(int64_t rank, const Meeting& meeting, absl::Span<const ConstBytes> sends,
                   absl::Span<const Bytes> receives) {
  const size_t n = meeting.members.size();
  const size_t place = static_cast<size_t>(
      std::find(meeting.members.begin(), meeting.members.end(), rank) - meeting.members.begin());
  SB_ASSERT(place < n && sends.size() == n && receives.size() == n);
  Lock lock(mutex_);
  if (failure_) throw_failure(meeting);
  std::shared_ptr<Visit>& open = open_[meeting.group];
  if (!open) {
    open = std::make_shared<Visit>();
    open->sends.resize(n);
    open->here.resize(n);
  }
  const std::shared_ptr<Visit> visit = open;
  visit->sends[place] = sends;
  visit->here[place] = true;
  if (++visit->arrived == n) {
    open_.erase(meeting.group);  // the next exchange has a visit of its own
    changed_.notify_all();
  }
  wait(
      lock, rank, meeting, [&] { return visit->arrived == n; },
      [&] {
        std::vector<int64_t> missing;
        for (size_t m = 0; m < n; ++m)
          if (!visit->here[m]) missing.push_back(meeting.members[m]);
        return missing;
      });
  lock.unlock();
  for (size_t m = 0; m < n; ++m) copy_bytes(receives[m], visit->sends[m][place]);
  lock.lock();
  // What this rank sends is its caller's, and must stay until all have copied it. That nobody fails
  // meanwhile needs no look.
  if (++visit->left == n) changed_.notify_all();
  changed_.wait(lock, [&] { return visit->left == n; });
}

void Hub::send(int64_t rank, int64_t to, int64_t tag, ConstBytes bytes) {
  const Lock lock(mutex_);
  messages_[{rank, to, tag}].emplace_back(bytes.begin(), bytes.end());
  changed_.notify_all();
}

void Hub::receive(int64_t rank, int64_t from, int64_t tag, Bytes bytes, const Meeting& meeting) {
  Lock lock(mutex_);
  std::deque<std::vector<std::byte>>& queue = messages_[{from, rank, tag}];
  wait(
      lock, rank, meeting, [&] { return !queue.empty(); },
      [from] { return std::vector<int64_t>{from}; });
  copy_bytes(bytes, queue.front());
  queue.pop_front();
}

void Hub::fail(int64_t rank, std::string_view message) noexcept {
  const Lock lock(mutex_);
  if (!failure_) failure_ = std::make_unique<Failure>(Failure{rank, std::string(message)});
  changed_.notify_all();
}

void Hub::leave(int64_t rank) noexcept {
  const Lock lock(mutex_);
  ranks_[static_cast<size_t>(rank)].ended = true;
  changed_.notify_all();
}

}  // namespace sb::internal
