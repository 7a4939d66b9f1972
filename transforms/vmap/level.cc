#include "switchboard/transforms/vmap/level.h"

#include <mutex>
#include <utility>

#include "absl/types/span.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/transforms/vmap/batched_call.h"
#include "switchboard/transforms/vmap/batched_tensor.h"

namespace sb {

std::string_view to_string(Randomness randomness) {
  switch (randomness) {
    case Randomness::Error:
      return "error";
    case Randomness::Same:
      return "same";
    case Randomness::Different:
      return "different";
  }
  return "error";
}

Randomness parse_randomness(std::string_view text) {
  for (Randomness r : {Randomness::Error, Randomness::Same, Randomness::Different})
    if (to_string(r) == text) return r;
  SB_THROW(ValueError, "randomness: expected 'error', 'same' or 'different', got '", text, "'");
}

namespace batching {
namespace {

thread_local std::vector<Level*> running_levels;

// Stands for the memory of a value, which it keeps. It has as many bytes as one example reaches.
class BatchedStorage final : public StorageImpl {
 public:
  BatchedStorage(Storage of, size_t nbytes)
      : StorageImpl(DataPtr(nullptr, of->device()), nbytes, nullptr), of_(std::move(of)) {}

 protected:
  void release_resources() override {
    of_ = nullptr;
    StorageImpl::release_resources();
  }

 private:
  Storage of_;
};

size_t bytes_of_example(const Tensor& value) {
  const size_t all = value.storage()->nbytes();
  if (value.is_symbolic() || value.size(0) == 0) return all;
  const auto others = static_cast<size_t>((value.size(0) - 1) * value.stride(0)) * value.itemsize();
  return others < all ? all - others : all;
}

}  // namespace

Level::Level(int64_t size, Randomness randomness)
    : size_(size), randomness_(randomness), depth_(static_cast<int>(running_levels.size()) + 1) {
  running_levels.push_back(this);
}

std::vector<Level*> Level::running() { return running_levels; }

void Level::end() {
  if (std::exchange(ended_, true)) return;
  std::erase(running_levels, this);
  storages_.clear();
}

std::string Level::name() const { return str_cat("vmap level ", depth_); }

void Level::call(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  if (both_ways_ != 0 && op.schema().is_mutable()) check_own(op, *stack);
  if (draws_randomly(op) || has_batched(*this, op, *stack))
    call_batched(this, op, keys, stack);
  else
    op.call_boxed(stack);
  if (both_ways_ == 0 || op.schema().is_view()) return;
  for (const IValue& result : absl::MakeConstSpan(*stack).last(op.entry().num_returns()))
    result.for_each_tensor([&](const Tensor& t) { made_[t.storage().get()] = t.storage(); });
}

void Level::note_draw(const Generator& generator) {
  for (const Draw& draw : draws_)
    if (draw.generator == generator) return;
  const std::lock_guard<std::mutex> lock(generator->mutex);
  draws_.push_back({generator, generator->state()});
}

void Level::rewind_draws() const {
  for (const Draw& draw : draws_) {
    const std::lock_guard<std::mutex> lock(draw.generator->mutex);
    draw.generator->set_state(draw.state);
  }
}

void Level::check_own(const OperatorHandle& op, const Stack& stack) const {
  const std::vector<Argument>& schema = op.schema().arguments;
  const size_t first = stack.size() - schema.size();
  for (size_t i = 0; i < schema.size(); ++i) {
    if (!schema[i].is_write()) continue;
    stack[first + i].for_each_tensor([&](const Tensor& t) {
      SB_CHECK_NOT_IMPLEMENTED(
          !t.defined() || made_.contains(t.storage().get()), op.name().to_string(), ": ", name(),
          ": argument ", i, " '", schema[i].name, "', ", t.describe(),
          ", is written to by a function that runs for examples which do not go that way, and that "
          "has not made it; it must write to a clone");
    });
  }
}

void Level::end_both_ways() {
  if (--both_ways_ == 0) made_.clear();
}

Storage Level::storage_for(const Tensor& value) {
  const Storage& storage = value.storage();
  if (!storage) return nullptr;
  if (storages_.size() >= sweep_at_) {
    absl::erase_if(storages_, [](const auto& entry) { return !entry.second.lock(); });
    sweep_at_ = 2 * storages_.size() + 64;
  }
  WeakIntrusivePtr<StorageImpl>& known = storages_[storage.get()];
  if (Storage found = known.lock()) return found;
  Storage made = make_intrusive<BatchedStorage>(storage, bytes_of_example(value));
  known = WeakIntrusivePtr<StorageImpl>(made);
  return made;
}

}  // namespace batching
}  // namespace sb
