// For tests: what a rank gives its engine.

#ifndef SWITCHBOARD_DISTRIBUTED_TESTING_COUNTING_ENGINE_H_
#define SWITCHBOARD_DISTRIBUTED_TESTING_COUNTING_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "switchboard/distributed/engine.h"

namespace sb::test {

// Another engine, which counts the bytes that its rank sends to others. That must outlive it.
class CountingEngine final : public Engine {
 public:
  explicit CountingEngine(Engine& engine) : engine_(engine) {}
  std::string_view name() const override { return engine_.name(); }
  int64_t rank() const override { return engine_.rank(); }
  int64_t size() const override { return engine_.size(); }
  double timeout() const override { return engine_.timeout(); }
  void exchange(const Meeting& meeting, absl::Span<const ConstBytes> sends,
                absl::Span<const Bytes> receives) override {
    for (size_t m = 0; m < sends.size(); ++m)
      if (meeting.members[m] != rank()) sent += static_cast<int64_t>(sends[m].size());
    engine_.exchange(meeting, sends, receives);
  }
  void send(int64_t to, int64_t tag, ConstBytes bytes) override {
    sent += static_cast<int64_t>(bytes.size());
    engine_.send(to, tag, bytes);
  }
  void receive(int64_t from, int64_t tag, Bytes bytes, const Meeting& meeting) override {
    engine_.receive(from, tag, bytes, meeting);
  }
  void fail(std::string_view message) noexcept override { engine_.fail(message); }

  int64_t sent = 0;

 private:
  Engine& engine_;
};

}  // namespace sb::test

#endif  // SWITCHBOARD_DISTRIBUTED_TESTING_COUNTING_ENGINE_H_
