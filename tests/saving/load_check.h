// What must hold of load_tensors for a file of any bytes.

#ifndef SWITCHBOARD_TESTS_SAVING_LOAD_CHECK_H_
#define SWITCHBOARD_TESTS_SAVING_LOAD_CHECK_H_

#include <string_view>

namespace sb::fuzz {

enum class Loaded { Yes, Refused };

// Loads a file of these bytes. It must hold, or the program ends with a message:
//
// - what is thrown is an sb::Error that names the file, without control characters of the file's;
// - what is loaded can be read, every element of it, and saved; it then loads again with the same
//   names, dtypes, devices, sizes, strides and elements, and the same tensors share storages;
// - tensors take no more memory than the file's size and 1 MiB of gaps, and give all of it back.
//
// The sanitizers see the rest. Not thread-safe.
Loaded check_load(std::string_view bytes);

}  // namespace sb::fuzz

#endif  // SWITCHBOARD_TESTS_SAVING_LOAD_CHECK_H_
