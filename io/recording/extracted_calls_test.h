// The calls that extracted_calls.cc wrote.

#ifndef SWITCHBOARD_IO_RECORDING_EXTRACTED_CALLS_TEST_H_
#define SWITCHBOARD_IO_RECORDING_EXTRACTED_CALLS_TEST_H_

#include <string>
#include <vector>

namespace sb::io {

struct ExtractedCall {
  std::string name;
  void (*run)();
  std::string data;     // of the file <name>.bin
  std::string printed;  // by the call that was recorded; empty where that is not known
};

const std::vector<ExtractedCall>& extracted_calls();

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_RECORDING_EXTRACTED_CALLS_TEST_H_
