// Records the calls of a program: every kernel that runs, at every key, with its arguments and
// results, in a file.
//
//   {
//     sb::Recording recording("run.sbr");   // this thread, until the end of the scope
//     sb::add(x, y);
//   }
//
// `sb page`, `sb replay`, `sb diff` and `sb extract` read such files, and so do programs
// (recording.h). While nothing is recorded, recording costs nothing.

#ifndef SWITCHBOARD_IO_RECORDING_RECORD_H_
#define SWITCHBOARD_IO_RECORDING_RECORD_H_

#include <memory>
#include <string>

#include "switchboard/dispatch/dispatcher.h"

namespace sb {

struct RecordingOptions {
  // What is written of elements, of tensors whose elements lie in this machine's memory: hashes, by
  // which differences are found; besides them the bytes of everything that no recorded call
  // computed, which a replay needs; or all bytes.
  enum class Elements { None, Hashes, Inputs, All };
  Elements elements = Elements::None;
  // The calls of all threads, of this dispatcher's operators; otherwise those of this thread.
  bool all_threads = false;
  Dispatcher* dispatcher = nullptr;  // null: the default one
};

// Records for a scope. Recordings of a thread nest, with one another and with traces, and end in
// reverse order; there is one of all threads at a time (RuntimeError).
//
// A recording does not change what the program does. Should it fail as it goes on (the disk is
// full), it ends there, and close() throws.
class Recording {
 public:
  // Throws RuntimeError that names the file if it cannot be written.
  explicit Recording(const std::string& path, const RecordingOptions& options = {});
  // As close(), without what that throws.
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Ends it and completes the file. Throws what kept it from being whole, the first time.
  void close();

 private:
  class Session;
  class ThisThread;
  class AllThreads;
  std::unique_ptr<Session> session_;
};

}  // namespace sb

#endif  // SWITCHBOARD_IO_RECORDING_RECORD_H_
