// What a test of random calls or programs leaves of a failure: files that show it alone.

#ifndef SWITCHBOARD_TESTS_FAILURES_FAILURE_FILES_H_
#define SWITCHBOARD_TESTS_FAILURES_FAILURE_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "switchboard/dispatch/operator_handle.h"

namespace sb::test {

// Where failures are left: in `chosen` or, if that is empty, among a test's outputs under
// `bazel test`, and else where the program was run from. Relative paths are relative to that.
std::string failure_folder(const std::string& chosen);

// Writes folder/name, and the folder if it is not there, and returns the path. Throws RuntimeError
// that names the file if it cannot be written.
std::string leave_file(const std::string& folder, const std::string& name, std::string_view text);

// Leaves the call, with its exact arguments, as `sb extract` writes it: name.cc, and name.bin where
// it has many elements. The call is not made: it may crash. Returns the paths. Throws ValueError,
// naming the argument, for what no source can be written for.
std::vector<std::string> leave_call(const std::string& folder, const std::string& name,
                                    const OperatorHandle& op, const std::vector<IValue>& arguments);

}  // namespace sb::test

#endif  // SWITCHBOARD_TESTS_FAILURES_FAILURE_FILES_H_
