// The loops of where and masked_fill, by the size of an element.

#ifndef SWITCHBOARD_OPS_ELEMENTWISE_SELECT_KERNELS_H_
#define SWITCHBOARD_OPS_ELEMENTWISE_SELECT_KERNELS_H_

#include "switchboard/ops/cpu/cpu_kernel.h"
#include "switchboard/ops/cpu/tensor_iterator.h"

namespace sb {

// data: the result, the condition (bool), what is taken where it holds and where not.
struct SelectLoops {
  ElementwiseLoop bytes1, bytes2, bytes4, bytes8, bytes16;

  ElementwiseLoop of_size(size_t itemsize) const {
    return itemsize == 1   ? bytes1
           : itemsize == 2 ? bytes2
           : itemsize == 4 ? bytes4
           : itemsize == 8 ? bytes8
                           : bytes16;
  }
};
extern const CpuKernel<SelectLoops> select_kernel;

}  // namespace sb

#endif  // SWITCHBOARD_OPS_ELEMENTWISE_SELECT_KERNELS_H_
