// One call of a recording as a program that shows it alone.

#ifndef SWITCHBOARD_IO_RECORDING_EXTRACT_H_
#define SWITCHBOARD_IO_RECORDING_EXTRACT_H_

#include <cstdint>
#include <string>

#include "switchboard/io/recording/recording.h"

namespace sb::io {

// The call of an event as one C++ file, which compiles against the SDK and prints what the call
// gives: at most 30 lines for two inputs, and one or two more for each further one. Inputs have
// their exact elements where the recording has them: few as numbers, many in a file beside it
// (Extract::data, which the program reads from `data_name`). Without elements they are zeros, which
// the first line says. Throws ValueError, naming the argument, for what no source can be written
// for.
struct Extract {
  std::string source;
  std::string data;  // empty if none is needed
};
Extract extract_cpp(const RecordedRun& run, uint32_t event, const std::string& data_name);
// The same call for PyTorch, in Python, where fake tensors are of the meta device. Throws
// ValueError for an operator that is not ATen's.
Extract extract_python(const RecordedRun& run, uint32_t event, const std::string& data_name);

// Whether the recording has the elements of all tensors that the call takes.
bool holds_inputs(const RecordedRun& run, uint32_t event);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_RECORDING_EXTRACT_H_
