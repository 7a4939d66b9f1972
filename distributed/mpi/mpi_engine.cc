#include "switchboard/distributed/mpi/mpi_engine.h"

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <list>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/distributed/engine.h"
#include "switchboard/distributed/mpi/mpi_functions.h"
#include "switchboard/distributed/mpi/stuck_ranks.h"
#include "switchboard/distributed/text_line.h"
#include "switchboard/distributed/world.h"

namespace sb {
namespace {

// MPI counts bytes by an int.
constexpr size_t kMostBytes = size_t{1} << 30;
// How long a rank that has an error waits for the others to hear of it, in seconds.
constexpr double kFarewell = 5;
// How long a rank waits before it tells the others what for, and for how long what all of them tell
// must be true before it counts: bytes that are on their way come sooner.
constexpr double kPatience = 1, kStill = 2;
// What control messages begin with.
constexpr char kEnded = 'e', kFailed = 'f', kWaits = 'w', kGoesOn = 'g';

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class MpiEngine final : public Engine {
  using Lock = std::unique_lock<std::mutex>;

 public:
  MpiEngine(const SbMpiFunctions* mpi, double timeout) : mpi_(*mpi), timeout_(timeout) {
    check(mpi_.start(&rank_, &size_, &max_tag_));
    peers_.resize(static_cast<size_t>(size_));
  }

  ~MpiEngine() override { end(); }

  // Ends MPI, once all ranks have come to their end. Returns whether none failed.
  bool end() noexcept {
    if (std::exchange(ended_, true)) return !failed_;
    try {
      wait_for_ends();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "rank %d: %s\n", rank_, e.what());
      failed_ = true;
    }
    return !failed_;
  }

  std::string_view name() const override { return "mpi"; }
  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }
  double timeout() const override { return timeout_; }

  void exchange(const Meeting& meeting, absl::Span<const ConstBytes> sends,
                absl::Span<const Bytes> receives) override {
    Lock lock(mutex_);
    check_unbroken(meeting);
    // Below those of messages.
    const int tag = static_cast<int>(meeting.group % static_cast<uint64_t>(max_tag_ / 2));
    std::vector<Pending> pending;
    for (size_t m = 0; m < meeting.members.size(); ++m) {
      const int peer = static_cast<int>(meeting.members[m]);
      if (peer == rank_) {
        if (!receives[m].empty())
          std::memcpy(receives[m].data(), sends[m].data(), receives[m].size());
      } else {
        start(receives[m], peer, tag, &pending);
      }
    }
    for (size_t m = 0; m < meeting.members.size(); ++m) {
      const int peer = static_cast<int>(meeting.members[m]);
      if (peer != rank_) start(sends[m], peer, tag, &pending);
    }
    wait(lock, &pending, meeting, meeting.group, ++exchanges_[meeting.group]);
  }

  void send(int64_t to, int64_t tag, ConstBytes bytes) override {
    const Lock lock(mutex_);
    outgoing_.push_back({std::vector<std::byte>(bytes.begin(), bytes.end()), {}});
    start(ConstBytes(outgoing_.back().bytes), static_cast<int>(to), message_tag(tag),
          &outgoing_.back().pending);
    progress();
  }
  void receive(int64_t from, int64_t tag, Bytes bytes, const Meeting& meeting) override {
    Lock lock(mutex_);
    check_unbroken(meeting);
    std::vector<Pending> pending;
    start(bytes, static_cast<int>(from), message_tag(tag), &pending);
    wait(lock, &pending, meeting, /*group=*/0, /*exchange=*/0);
  }

  void fail(std::string_view message) noexcept override {
    const Lock lock(mutex_);
    if (std::exchange(failed_, true)) return;
    try {
      tell_all(kFailed, message);
    } catch (const std::exception&) {
      // MPI itself is broken; mpirun ends the others.
    }
  }

 private:
  struct Pending {
    int request;
    int peer;
    bool receives;
  };
  struct Outgoing {
    std::vector<std::byte> bytes;
    std::vector<Pending> pending;
  };
  // What is known of another rank.
  struct Peer {
    bool gone = false;
    Clock::time_point when = {};
    std::string failure;  // empty: none
    bool failed = false;
  };
  struct Wait {
    internal::RankWait what;
    Clock::time_point since;
  };

  void check(int error) const {
    if (!error) return;
    char text[256];
    mpi_.describe_error(error, text, sizeof text);
    SB_THROW(RuntimeError, mpi_.library, ": ", text);
  }

  int message_tag(int64_t tag) const {
    const int half = max_tag_ / 2;
    return half + static_cast<int>(static_cast<uint64_t>(tag) % static_cast<uint64_t>(half));
  }

  template <class B>
  void start(absl::Span<B> bytes, int peer, int tag, std::vector<Pending>* pending) {
    constexpr bool kReceives = !std::is_const_v<B>;
    for (size_t begin = 0; begin < bytes.size(); begin += kMostBytes) {
      const absl::Span<B> piece = bytes.subspan(begin, kMostBytes);
      int request = 0;
      if constexpr (kReceives)
        check(mpi_.receive(piece.data(), piece.size(), peer, tag, &request));
      else
        check(mpi_.send(piece.data(), piece.size(), peer, tag, &request));
      pending->push_back({request, peer, kReceives});
    }
  }

  // Forgets those that are done.
  void test_all(std::vector<Pending>* pending) {
    size_t kept = 0;
    for (size_t i = 0; i < pending->size(); ++i) {
      int done = 0;
      check(mpi_.test((*pending)[i].request, &done));
      if (!done) (*pending)[kept++] = (*pending)[i];
    }
    pending->resize(kept);
  }

  // Sends what is on its way, and hears what others tell.
  void progress() {
    for (auto it = outgoing_.begin(); it != outgoing_.end();) {
      test_all(&it->pending);
      it = it->pending.empty() ? outgoing_.erase(it) : std::next(it);
    }
    while (true) {
      TextLine text{};
      int from = -1;
      check(mpi_.poll_control(text.data(), &from));
      if (from < 0) return;
      Peer& peer = peers_[static_cast<size_t>(from)];
      if (text[0] == kWaits || text[0] == kGoesOn) {
        waits_.erase(from);
        if (text[0] == kWaits)
          waits_[from] = {internal::RankWait::from_text(text.data() + 1), Clock::now()};
        continue;
      }
      waits_.erase(from);
      if (text[0] == kFailed) {
        peer.failed = true;
        peer.failure = text.data() + 1;
      } else {
        peer.gone = true;
      }
      peer.when = Clock::now();
    }
  }

  // Everyone hears of everyone's end, so that nothing is left that nobody took. Where one failed
  // nobody waits for ever, nor ends MPI, which would wait: mpirun ends those that are left.
  void wait_for_ends() {
    tell_all(kEnded, "");
    const Clock::time_point begin = Clock::now();
    while (!(all_gone() && outgoing_.empty()) && !(failed_ && seconds_since(begin) > kFarewell)) {
      progress();
      failed_ = failed_ || peer_failed();
      usleep(100);
    }
    if (!failed_) check(mpi_.finish());
  }

  bool all_gone() const {
    for (int r = 0; r < size_; ++r)
      if (r != rank_ && !peers_[static_cast<size_t>(r)].gone) return false;
    return true;
  }
  bool peer_failed() const {
    return std::any_of(peers_.begin(), peers_.end(), [](const Peer& p) { return p.failed; });
  }

  // Lets fail() in while it waits.
  void wait(Lock& lock, std::vector<Pending>* pending, const Meeting& meeting, uint64_t group,
            uint64_t exchange) {
    const Clock::time_point begin = Clock::now();
    for (int64_t spins = 0;; ++spins) {
      test_all(pending);
      if (pending->empty()) return go_on();
      if (spins < 1000) continue;
      // More processes than cores wait for each other's turn.
      lock.unlock();
      sched_yield();
      lock.lock();
      if (spins % 64 != 0) continue;
      progress();
      // Whoever still sends may wake others.
      if (seconds_since(begin) > kPatience && outgoing_.empty() && !waits_.contains(rank_))
        say_that_it_waits({group, exchange, missing(*pending), (*meeting.describe)()});
      if (const std::string why = hopeless(*pending, begin); !why.empty()) {
        for (const Pending& p : *pending) mpi_.cancel(p.request);
        broken_ = why;
        const bool by_other = failed_ || peer_failed();
        const std::string text = str_cat((*meeting.describe)(), ": ", why);
        if (by_other) throw RankFailure(text);
        throw DistError(text);
      }
    }
  }

  // What this rank has not sent or taken would be mixed up with what comes after it.
  void check_unbroken(const Meeting& meeting) const {
    if (failed_ || !broken_.empty())
      throw RankFailure(str_cat((*meeting.describe)(), ": an earlier call failed: ",
                                broken_.empty() ? "this rank has failed" : broken_));
  }

  void say_that_it_waits(internal::RankWait what) {
    tell_all(kWaits, what.to_text());
    waits_[rank_] = {std::move(what), Clock::now()};
  }
  void go_on() {
    if (waits_.erase(rank_) > 0) tell_all(kGoesOn, "");
  }

  static std::vector<int64_t> missing(const std::vector<Pending>& pending) {
    std::vector<int64_t> ranks;
    for (const Pending& p : pending)
      if (std::find(ranks.begin(), ranks.end(), p.peer) == ranks.end()) ranks.push_back(p.peer);
    return ranks;
  }

  // Who waits for whom, where this rank is among those that nothing can wake; "" where it is not.
  std::string circle() const {
    std::map<int64_t, internal::RankWait> waits;
    for (const auto& [rank, wait] : waits_)
      if (seconds_since(wait.since) > kStill) waits[rank] = wait.what;
    const std::vector<int64_t> stuck = internal::stuck_ranks(waits);
    if (std::find(stuck.begin(), stuck.end(), rank_) == stuck.end()) return "";
    std::string text;
    for (const int64_t rank : stuck)
      text += str_cat(text.empty() ? "" : "; ", "rank ", rank, " waits in ", waits[rank].call,
                      " for rank", waits[rank].missing.size() == 1 ? " " : "s ",
                      absl::StrJoin(waits[rank].missing, ", "));
    return "no rank can go on: " + text;
  }

  // Why the wait will not end; "" if it may.
  std::string hopeless(const std::vector<Pending>& pending, Clock::time_point begin) const {
    if (failed_) return "this rank has failed meanwhile";
    for (size_t r = 0; r < peers_.size(); ++r)
      // What was sent before may still be on its way.
      if (peers_[r].failed && seconds_since(peers_[r].when) > 0.2)
        return str_cat("rank ", r, " failed: ", peers_[r].failure);
    const std::vector<int64_t> others = missing(pending);
    for (const int64_t r : others)
      if (peers_[static_cast<size_t>(r)].gone &&
          seconds_since(peers_[static_cast<size_t>(r)].when) > 0.2)
        return str_cat("waits for rank ", r, ", which has ended");
    if (std::string text = circle(); !text.empty()) return text;
    if (seconds_since(begin) < timeout_) return "";
    return str_cat("waited ", timeout_, " s for rank", others.size() == 1 ? " " : "s ",
                   absl::StrJoin(others, ", "));
  }

  void tell_all(char what, std::string_view message) {
    const TextLine text = text_line(str_cat(std::string(1, what), message));
    for (int r = 0; r < size_; ++r)
      if (r != rank_) check(mpi_.send_control(text.data(), r));
  }

  const SbMpiFunctions& mpi_;
  const double timeout_;
  std::mutex mutex_;  // of MPI and all that follows
  int rank_ = 0;
  int size_ = 0;
  int max_tag_ = 0;
  bool failed_ = false;
  std::string broken_;  // why a wait was given up; empty: none was
  bool ended_ = false;
  std::vector<Peer> peers_;
  std::list<Outgoing> outgoing_;
  std::map<uint64_t, uint64_t> exchanges_;  // how many there were, by group
  std::map<int64_t, Wait> waits_;           // of ranks that have said so, this one too
};

// Where the shared object may be, in the order in which it is looked for.
std::vector<std::string> candidates(const MpiOptions& options) {
  if (!options.library.empty()) return {options.library};
  if (const char* const named = std::getenv("SB_MPI_LIBRARY")) return {named};
  // What the two kinds of mpirun tell the processes that they start.
  const std::string file =
      std::getenv("OMPI_COMM_WORLD_SIZE") ? "libsb_openmpi.so" : "libsb_mpich.so";
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  const std::string program(path.data(), length > 0 ? static_cast<size_t>(length) : 0);
  const std::string folder = program.substr(0, program.rfind('/') + 1);
  return {folder + file, folder + "mpi/" + file,
          program + ".runfiles/switchboard/distributed/mpi/" + file,
          program + ".runfiles/__main__/distributed/mpi/" + file};
}

const SbMpiFunctions* load(const MpiOptions& options) {
  const std::vector<std::string> files = candidates(options);
  std::string problem;
  for (const std::string& file : files) {
    if (access(file.c_str(), R_OK) != 0) continue;
    // Open MPI's own plugins take its symbols from the process.
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library) SB_THROW(RuntimeError, "run_mpi: ", dlerror());
    const auto entry = reinterpret_cast<SbMpiEntry>(dlsym(library, "sb_mpi_functions"));
    SB_CHECK(entry, "run_mpi: ", file, " has no sb_mpi_functions");
    return entry();
  }
  SB_THROW(RuntimeError, "run_mpi: found none of ", absl::StrJoin(files, ", "),
           "; build //distributed/mpi:libsb_mpich.so or //distributed/mpi:libsb_openmpi.so, and "
           "name it by SB_MPI_LIBRARY");
}

}  // namespace

int run_mpi(const std::function<void()>& program, const MpiOptions& options) {
  std::shared_ptr<MpiEngine> engine;
  try {
    engine = std::make_shared<MpiEngine>(load(options), options.timeout);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  {
    World world(engine);
    try {
      const WorldGuard guard(&world);
      program();
      world.settle();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "rank %d: %s\n", static_cast<int>(engine->rank()), e.what());
      engine->fail(e.what());
    } catch (...) {
      std::fprintf(stderr, "rank %d: an exception that is no std::exception\n",
                   static_cast<int>(engine->rank()));
      engine->fail("an exception that is no std::exception");
    }
  }
  return engine->end() ? 0 : 1;
}

}  // namespace sb
