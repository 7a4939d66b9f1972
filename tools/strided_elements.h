// Every element of a strided tensor in memory, in the order of its indices.

#ifndef SWITCHBOARD_TOOLS_STRIDED_ELEMENTS_H_
#define SWITCHBOARD_TOOLS_STRIDED_ELEMENTS_H_

#include <vector>

#include "switchboard/core/tensor.h"

namespace sb::tools {

// Calls f(T&) for each element of a CPU tensor whose dtype is T's, the last dimension fastest.
template <class T, class F>
void for_each_element(const Tensor& tensor, F&& f) {
  if (tensor.numel() == 0) return;
  T* const data = tensor.data<T>();
  std::vector<int64_t> index(static_cast<size_t>(tensor.dim()), 0);
  int64_t offset = 0;
  for (int64_t left = tensor.numel(); left > 0; --left) {
    f(data[offset]);
    for (size_t d = index.size(); d-- > 0;) {
      offset += tensor.strides()[d];
      if (++index[d] < tensor.sizes()[d]) break;
      offset -= index[d] * tensor.strides()[d];
      index[d] = 0;
    }
  }
}

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_STRIDED_ELEMENTS_H_
