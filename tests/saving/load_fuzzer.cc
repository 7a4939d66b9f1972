// libFuzzer's entry: see README.md.

#include <cstddef>
#include <cstdint>

#include "switchboard/tests/saving/load_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sb::fuzz::check_load({reinterpret_cast<const char*>(data), size});
  return 0;
}
