// The calls of one thread, written as they begin and end.

#ifndef SWITCHBOARD_IO_RECORDING_CALL_WRITER_H_
#define SWITCHBOARD_IO_RECORDING_CALL_WRITER_H_

#include <cstdint>
#include <exception>
#include <optional>
#include <vector>

#include "switchboard/dispatch/values/observed_values.h"
#include "switchboard/io/recording/recording_file.h"
#include "switchboard/io/recording/site_table.h"
#include "switchboard/io/recording/value_writer.h"

namespace sb::internal {

// Never disturbs the program: what it throws is kept, and nothing is written from then on.
class CallWriter {
 public:
  explicit CallWriter(RecordingFile* file)
      : file_(*file), thread_(file->new_thread()), values_(file) {}

  void enter(const OperatorEntry& op, DispatchKeySet keys, const Kernel& kernel) noexcept;
  void leave() noexcept;
  // Writes what is left. Calls that still run stay without an end.
  void finish() noexcept;
  std::exception_ptr error() const { return error_; }

 private:
  struct Running {
    CallSite* site;
    int exceptions;  // under way as it began
    bool remade;     // a replay makes it, or its caller; it has no need of what is called below
    // Of a boxed call: its written arguments, which its kernel takes off the stack.
    std::vector<IValue> written;
  };
  // What the thread is set to.
  struct Context {
    uint64_t included = 0, kept = 0;
    uint8_t flags = 0;
    auto operator<=>(const Context&) const = default;
  };

  void write_enter(const CallSite& site, const ObservedValues& given);
  void write_leave(const Running& call, const ObservedValues& given, uint64_t now);
  void write_site(CallSite* site);
  void write_context();
  void write_default_generator();
  // Whether the bytes of what a call takes, or gives, are the file's affair: all of them, or those
  // of the calls that a replay makes.
  bool has_contents() const;
  // The bytes of the storages of these, where the file does not have them: as a call begins, what
  // no recorded call left there.
  void write_contents(const ObservedValues& given, const Running& call, bool after);
  void write_time(uint64_t now);
  template <class F>
  void guarded(F&& f) noexcept;
  void flush();

  RecordingFile& file_;
  uint32_t thread_;
  ValueWriter values_;
  SiteTable sites_;
  std::vector<Running> running_;
  std::vector<std::pair<Context, uint32_t>> contexts_;
  std::optional<Context> context_;  // of the last call
  uint64_t last_time_ = 0;
  std::exception_ptr error_;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_IO_RECORDING_CALL_WRITER_H_
