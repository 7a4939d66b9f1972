#include "switchboard/distributed/one_process/run_ranks.h"

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/distributed/engine.h"
#include "switchboard/distributed/one_process/hub.h"
#include "switchboard/distributed/world.h"

namespace sb {
namespace {

class OneProcessEngine final : public Engine {
 public:
  OneProcessEngine(internal::Hub* hub, int64_t rank) : hub_(*hub), rank_(rank) {}

  std::string_view name() const override { return "one_process"; }
  int64_t rank() const override { return rank_; }
  int64_t size() const override { return hub_.size(); }
  double timeout() const override { return hub_.timeout(); }
  void exchange(const Meeting& meeting, absl::Span<const ConstBytes> sends,
                absl::Span<const Bytes> receives) override {
    hub_.exchange(rank_, meeting, sends, receives);
  }
  void send(int64_t to, int64_t tag, ConstBytes bytes) override {
    hub_.send(rank_, to, tag, bytes);
  }
  void receive(int64_t from, int64_t tag, Bytes bytes, const Meeting& meeting) override {
    hub_.receive(rank_, from, tag, bytes, meeting);
  }
  void fail(std::string_view message) noexcept override { hub_.fail(rank_, message); }

 private:
  internal::Hub& hub_;
  const int64_t rank_;
};

void run_one(internal::Hub* hub, int64_t rank, const std::function<void()>& program,
             std::exception_ptr* error) {
  {
    World world(std::make_shared<OneProcessEngine>(hub, rank));
    try {
      const WorldGuard guard(&world);
      program();
      world.settle();
    } catch (const std::exception& e) {
      *error = std::current_exception();
      hub->fail(rank, e.what());
    } catch (...) {
      *error = std::current_exception();
      hub->fail(rank, "an exception that is no std::exception");
    }
  }
  hub->leave(rank);
}

}  // namespace

void run_ranks(int64_t size, const std::function<void()>& program, const RunRanksOptions& options) {
  SB_CHECK_VALUE(size >= 1, "run_ranks: expected at least one rank, got ", size);
  internal::Hub hub(size, options.timeout);
  std::vector<std::exception_ptr> errors(static_cast<size_t>(size));
  {
    std::vector<std::jthread> threads;
    for (int64_t rank = 0; rank < size; ++rank)
      threads.emplace_back(run_one, &hub, rank, std::cref(program),
                           &errors[static_cast<size_t>(rank)]);
  }
  for (size_t rank = 0; rank < errors.size(); ++rank) {
    if (!errors[rank]) continue;
    try {
      std::rethrow_exception(errors[rank]);
    } catch (const RankFailure&) {
      continue;  // that rank's error is here, too, or its program has caught it
    } catch (const DistError& e) {
      throw DistError(str_cat("rank ", rank, ": ", e.what()));
    } catch (const Error& e) {
      rethrow_with_context(e, str_cat("rank ", rank, ": "));
    }
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace sb
