// Where two runs part: the first call that differs, and the smallest cause in view.

#ifndef SWITCHBOARD_IO_RECORDING_DIFF_H_
#define SWITCHBOARD_IO_RECORDING_DIFF_H_

#include <cstdint>
#include <optional>
#include <string>

#include "switchboard/io/recording/recording.h"

namespace sb::io {

struct RunDiffOptions {
  // Kernels that moved within their file count as the same.
  bool ignore_lines = false;
  // Only the program's own calls are compared, not at which keys and by which kernels they ran: for
  // runs on two devices, fake against real, or ours against those of another implementation.
  bool ignore_kernels = false;
  bool ignore_devices = false;
  bool ignore_strides = false;
  // Elements that are not integers may differ by this, and by this part of the second run's, where
  // both files have them (Elements::All).
  double tolerance = 0;
};

struct RunDifference {
  enum class Cause : uint8_t {
    MissingCall,  // the second run leaves it out
    AddedCall,    // the first run does not have it
    OtherCall,    // another operator
    OtherKernel,  // another key, or another kernel there
    OtherInput,   // an argument: a number, a tensor, its metadata or its elements
    OtherThrow,   // one of them failed, or did not end
    OtherResult,  // metadata of a result, or what it shares memory with
    OtherBits,    // the same inputs gave other elements
  };
  Cause cause;
  // The call in each run; RecordedEvent::kNone where it is missing.
  uint32_t first = RecordedEvent::kNone, second = RecordedEvent::kNone;
  // "argument 0 'self': strides [2, 1] and [1, 2]".
  std::string detail;
  double tolerance = 0;  // of RunDiffOptions
};

// "other-bits", ...
std::string to_string(RunDifference::Cause cause);

// The first difference in the order in which calls begin and end; nullopt if the runs are the same.
// Calls are aligned thread by thread and level by level: a kernel that makes a call more differs in
// that call, and not in all that follow. What one of the runs does not have (hashes, elements) is
// not compared.
std::optional<RunDifference> diff_runs(const RecordedRun& first, const RecordedRun& second,
                                       const RunDiffOptions& options = {});

// Some lines: the call in both runs with its callers, the cause, and the first element that differs
// where both files have it.
std::string to_string(const RecordedRun& first, const RecordedRun& second,
                      const RunDifference& difference);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_RECORDING_DIFF_H_
