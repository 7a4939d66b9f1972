#include "switchboard/ops/elementwise/select_kernels.h"

#include <complex>
#include <cstdint>

#include "switchboard/ops/cpu/independent_loop.h"

namespace sb {
namespace {

template <class T>
void select_loop(char* const* data, int64_t n, const void*) {
  T* const out = reinterpret_cast<T*>(data[0]);
  // Bytes, which a view of another dtype may have given any value.
  const uint8_t* const condition = reinterpret_cast<const uint8_t*>(data[1]);
  const T* const yes = reinterpret_cast<const T*>(data[2]);
  const T* const no = reinterpret_cast<const T*>(data[3]);
  // out is apart from the inputs, or one of them.
  SB_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) {
    const T a = yes[i], b = no[i];
    out[i] = condition[i] != 0 ? a : b;
  }
}

}  // namespace

SB_CPU_KERNEL(SelectLoops, select_kernel,
              {&select_loop<uint8_t>, &select_loop<uint16_t>, &select_loop<uint32_t>,
               &select_loop<uint64_t>, &select_loop<std::complex<double>>});

}  // namespace sb
