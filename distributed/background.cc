#include "switchboard/distributed/background.h"

#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/storage.h"

namespace sb {
namespace {

// The memory of a tensor that work fills.
class LateStorage final : public StorageImpl {
 public:
  LateStorage(std::shared_ptr<Background::Work> work, Storage filled)
      : StorageImpl(DataPtr(nullptr, new Storage(filled), drop, filled->device()), filled->nbytes(),
                    find_allocator(filled->device().type)),
        work_(std::move(work)),
        start_(filled->data()),
        context_(context()) {}

 private:
  static void drop(void* context) { delete static_cast<Storage*>(context); }
  void* await_data() override {
    if (context() != context_) return nullptr;  // it was resized to nothing since
    work_->wait();
    return start_;
  }

  const std::shared_ptr<Background::Work> work_;
  void* const start_;
  const void* const context_;
};

}  // namespace

void Background::Work::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return done_; });
  if (!error_) return;
  seen_ = true;
  std::rethrow_exception(error_);
}

void Background::end() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<Background::Work> Background::start(std::function<void()> run) {
  SB_CHECK(!ends_, "distributed: a group's world has ended; make no calls in it any more");
  auto work = std::make_shared<Work>();
  work->run_ = std::move(run);
  if (!thread_.joinable()) thread_ = std::thread(&Background::run_all, this);
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(work);
    unseen_.push_back(work);
  }
  changed_.notify_all();
  return work;
}

void Background::settle() {
  if (!thread_.joinable()) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty(); });
  while (!unseen_.empty()) {
    const std::shared_ptr<Work> work = std::move(unseen_.front());
    unseen_.pop_front();
    const std::lock_guard of_work(work->mutex_);
    if (work->error_ && !std::exchange(work->seen_, true)) std::rethrow_exception(work->error_);
  }
}

void Background::run_all() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !waiting_.empty() || ends_; });
    if (waiting_.empty()) return;
    const std::shared_ptr<Work> work = waiting_.front();
    lock.unlock();
    std::exception_ptr error;
    try {
      work->run_();
    } catch (...) {
      error = std::current_exception();
    }
    work->run_ = nullptr;  // with the tensors that it has
    {
      const std::lock_guard of_work(work->mutex_);
      work->done_ = true;
      work->error_ = error;
    }
    work->changed_.notify_all();
    lock.lock();
    waiting_.pop_front();
    // What went well has nothing to tell.
    if (!error) std::erase(unseen_, work);
    changed_.notify_all();
  }
}

Tensor result_of(std::shared_ptr<Background::Work> work, const Tensor& filled) {
  const TensorImpl& like = *filled.impl();
  auto impl =
      make_intrusive<TensorImpl>(make_intrusive<LateStorage>(std::move(work), like.storage()),
                                 like.key_set(), like.dtype(), like.device());
  impl->set_sizes_and_strides(like.sizes(), like.strides());
  impl->set_storage_offset(like.storage_offset());
  return Tensor(std::move(impl));
}

}  // namespace sb
