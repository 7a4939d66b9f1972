// How PyTorch lays spectra out.

#ifndef SWITCHBOARD_OPS_FFT_SPECTRUM_LAYOUT_H_
#define SWITCHBOARD_OPS_FFT_SPECTRUM_LAYOUT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "switchboard/core/tensor.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb {

// The strides of a result, as of PyTorch with MKL: the transformed dimensions lie innermost, the
// last of them the most so; the others around them in the order of the argument's strides.
class SpectrumLayout {
 public:
  explicit SpectrumLayout(const Tensor& self) {
    const auto rank = static_cast<size_t>(self.dim());
    for (size_t d = 0; d < rank; ++d) keys_.push_back(static_cast<int64_t>(rank - d));
    // Of symbols nothing is asked: contiguous ones are in that order by their strides, too.
    if (!self.is_symbolic() && self.is_contiguous()) return;
    const IntArrayRef strides = self.impl()->hint_strides();
    keys_.assign(strides.begin(), strides.end());
  }

  // A transform along dims, of which the first `sorted` are taken in the order of strides.
  void transform(IntArrayRef dims, size_t sorted) {
    DimVector order;
    for (int64_t d = 0; d < std::ssize(keys_); ++d)
      if (std::ranges::find(dims, d) == dims.end()) order.push_back(d);
    const auto outer_first = [&](int64_t a, int64_t b) { return key(a) > key(b); };
    std::stable_sort(order.begin(), order.end(), outer_first);
    const auto inner = static_cast<std::ptrdiff_t>(order.size());
    order.insert(order.end(), dims.begin(), dims.end());
    std::stable_sort(order.begin() + inner,
                     order.begin() + inner + static_cast<std::ptrdiff_t>(sorted), outer_first);
    for (size_t i = 0; i < order.size(); ++i)
      keys_[static_cast<size_t>(order[i])] = static_cast<int64_t>(order.size() - i);
    order_ = std::move(order);
  }

  // Of a result without elements, the strides stay as they are.
  template <SizeType Int>
  void set_strides(BasicTensorMeta<Int>* meta) const {
    for (const Int& size : meta->sizes)
      if (known(size == Int(0))) return;
    SizeVector<Int> strides(meta->sizes.size(), Int(1));
    Int step(1);
    for (size_t i = order_.size(); i-- > 0;) {
      const auto d = static_cast<size_t>(order_[i]);
      strides[d] = step;
      step = product_of(step, meta->sizes[d]);
    }
    meta->strides = std::move(strides);
  }

 private:
  int64_t key(int64_t d) const { return keys_[static_cast<size_t>(d)]; }

  DimVector keys_;   // of each dimension: the larger, the further out it lies
  DimVector order_;  // from the outermost in
};

}  // namespace sb

#endif  // SWITCHBOARD_OPS_FFT_SPECTRUM_LAYOUT_H_
