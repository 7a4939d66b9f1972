// The calls of a rank that go on while its program does.

#ifndef SWITCHBOARD_DISTRIBUTED_BACKGROUND_H_
#define SWITCHBOARD_DISTRIBUTED_BACKGROUND_H_

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "switchboard/core/tensor.h"

namespace sb {

// Runs calls one after the other on a thread of its own, which starts with the first. start(),
// settle() and end() are for the rank's thread.
class Background {
 public:
  // One call.
  class Work {
   public:
    // Waits until it has run. Throws its error, at each call. Thread-safe.
    void wait();

   private:
    friend class Background;
    std::function<void()> run_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool done_ = false;
    bool seen_ = false;  // the error, by somebody
    std::exception_ptr error_;
  };

  Background() = default;
  ~Background() { end(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Has `run` called after all that was started before. Throws RuntimeError after end().
  std::shared_ptr<Work> start(std::function<void()> run);
  // Waits until nothing is left to run, so that the engine is free. Throws the first error that
  // nobody has seen.
  void settle();
  // Waits until nothing is left to run, and ends the thread. Errors that nobody has seen are lost:
  // settle() before.
  void end();

 private:
  void run_all();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Work>> waiting_;  // the first is running
  std::deque<std::shared_ptr<Work>> unseen_;   // whose errors, if they have any, settle() throws
  bool ends_ = false;
  std::thread thread_;
};

// A tensor like `filled`, on the memory that the work fills in `filled`: reading or writing it
// waits for the work, and throws its error.
Tensor result_of(std::shared_ptr<Background::Work> work, const Tensor& filled);

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_BACKGROUND_H_
