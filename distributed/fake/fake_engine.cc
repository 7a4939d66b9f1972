#include "switchboard/distributed/fake/fake_engine.h"

#include "switchboard/core/error.h"

namespace sb {
namespace {

class FakeEngine final : public Engine {
 public:
  FakeEngine(int64_t rank, int64_t size) : rank_(rank), size_(size) {}
  std::string_view name() const override { return "fake"; }
  int64_t rank() const override { return rank_; }
  int64_t size() const override { return size_; }
  bool moves_data() const override { return false; }
  double timeout() const override { return 0; }
  // Operators do not call these where no data moves.
  void exchange(const Meeting& meeting, absl::Span<const ConstBytes>,
                absl::Span<const Bytes>) override {
    refuse(meeting);
  }
  void send(int64_t, int64_t, ConstBytes) override {
    SB_THROW(DistError, "the fake engine moves no data");
  }
  void receive(int64_t, int64_t, Bytes, const Meeting& meeting) override { refuse(meeting); }
  void fail(std::string_view) noexcept override {}

 private:
  [[noreturn]] static void refuse(const Meeting& meeting) {
    SB_THROW(DistError, (*meeting.describe)(), ": the fake engine moves no data");
  }
  const int64_t rank_;
  const int64_t size_;
};

}  // namespace

std::shared_ptr<Engine> fake_engine(int64_t rank, int64_t size) {
  SB_CHECK_VALUE(size >= 1 && rank >= 0 && rank < size, "fake_engine: expected a rank from 0 to ",
                 size - 1, ", got ", rank);
  return std::make_shared<FakeEngine>(rank, size);
}

}  // namespace sb
