#include "switchboard/io/recording/record.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "switchboard/dispatch/slow_call.h"
#include "switchboard/io/recording/call_writer.h"
#include "switchboard/io/recording/recording_file.h"

namespace sb {

using internal::CallWriter;
using internal::RecordedBits;
using internal::RecordingFile;

class Recording::Session {
 public:
  virtual ~Session() = default;
  virtual void close() = 0;
};

namespace {

RecordedBits bits_of(RecordingOptions::Elements elements) {
  return static_cast<RecordedBits>(elements);
}

}  // namespace

class Recording::ThisThread final : public Session, public CallObserver {
 public:
  ThisThread(const std::string& path, const RecordingOptions& options)
      : file_(path, bits_of(options.elements), false),
        dispatcher_(options.dispatcher),
        writer_(&file_),
        next_(dispatch_tls.observer),
        observe_(std::in_place, this) {}

  void enter(const OperatorEntry& op, DispatchKeySet keys, const Kernel& kernel) override {
    if (next_) next_->enter(op, keys, kernel);
    if (sees(op)) writer_.enter(op, keys, kernel);
  }
  void leave(const OperatorEntry& op, DispatchKeySet keys) override {
    if (sees(op)) writer_.leave();
    if (next_) next_->leave(op, keys);
  }

  void close() override {
    if (!observe_) return;
    observe_.reset();
    writer_.finish();
    if (writer_.error()) std::rethrow_exception(writer_.error());
    file_.close();
  }

 private:
  bool sees(const OperatorEntry& op) const {
    return !dispatcher_ || &op.dispatcher() == dispatcher_;
  }

  RecordingFile file_;
  Dispatcher* dispatcher_;
  CallWriter writer_;
  CallObserver* next_;
  std::optional<ObserveCalls> observe_;
};

class Recording::AllThreads final : public Session {
 public:
  AllThreads(const std::string& path, const RecordingOptions& options)
      : dispatcher_(options.dispatcher ? *options.dispatcher : default_dispatcher()),
        observer_(std::make_shared<Observer>(path, bits_of(options.elements))) {
    dispatcher_.observe(observer_);
  }

  void close() override {
    if (std::exchange(closed_, true)) return;
    dispatcher_.end_observing(observer_.get());
    observer_->close();
  }

 private:
  // A thread's writer, and who is at it: the thread, or the one that closes the recording. Others
  // never wait for it.
  struct Writer {
    explicit Writer(RecordingFile* file) : calls(file) {}
    std::mutex mutex;
    CallWriter calls;
    bool closed = false;
  };

  class Observer final : public CallObserver {
   public:
    Observer(const std::string& path, RecordedBits bits)
        : file_(path, bits, true), id_(next_id()) {}

    void enter(const OperatorEntry& op, DispatchKeySet keys, const Kernel& kernel) override {
      Writer& writer = here();
      const std::lock_guard lock(writer.mutex);
      if (!writer.closed) writer.calls.enter(op, keys, kernel);
    }
    void leave(const OperatorEntry&, DispatchKeySet) override {
      Writer& writer = here();
      const std::lock_guard lock(writer.mutex);
      if (!writer.closed) writer.calls.leave();
    }

    // Calls of other threads may be under way: they go on without being written.
    void close() {
      std::exception_ptr error;
      const std::lock_guard lock(mutex_);
      for (const std::unique_ptr<Writer>& writer : writers_) {
        const std::lock_guard writing(writer->mutex);
        writer->closed = true;
        writer->calls.finish();
        if (!error) error = writer->calls.error();
      }
      if (error) std::rethrow_exception(error);
      file_.close();
    }

   private:
    static uint64_t next_id() {
      static std::atomic<uint64_t> last{0};
      return ++last;
    }
    Writer& here() {
      thread_local std::pair<uint64_t, Writer*> mine{0, nullptr};
      if (mine.first != id_) [[unlikely]] {
        const std::lock_guard lock(mutex_);
        Writer*& writer = by_thread_[std::this_thread::get_id()];
        if (!writer) writer = writers_.emplace_back(std::make_unique<Writer>(&file_)).get();
        mine = {id_, writer};
      }
      return *mine.second;
    }

    RecordingFile file_;
    const uint64_t id_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Writer>> writers_;
    absl::flat_hash_map<std::thread::id, Writer*> by_thread_;
  };

  Dispatcher& dispatcher_;
  std::shared_ptr<Observer> observer_;
  bool closed_ = false;
};

Recording::Recording(const std::string& path, const RecordingOptions& options) {
  if (options.all_threads)
    session_ = std::make_unique<AllThreads>(path, options);
  else
    session_ = std::make_unique<ThisThread>(path, options);
}

Recording::~Recording() {
  try {
    close();
  } catch (...) {  // a destructor cannot report it
  }
}

void Recording::close() { session_->close(); }

}  // namespace sb
