#include "switchboard/devices/strided_ranges.h"

#include <algorithm>
#include <vector>

namespace sb {

void for_each_range(const Tensor& tensor, absl::FunctionRef<void(absl::Span<const ByteRange>)> f) {
  constexpr size_t kAtOnce = 4096;
  if (tensor.numel() == 0) return;

  // Dimensions that move, the fastest first; then those that continue the run of the ones before.
  struct Dim {
    size_t size;
    size_t stride;  // in bytes
    size_t at = 0;
  };
  std::vector<Dim> dims;
  const size_t itemsize = tensor.itemsize();
  for (size_t d = 0; d < tensor.sizes().size(); ++d) {
    const size_t size = static_cast<size_t>(tensor.sizes()[d]);
    const size_t stride = static_cast<size_t>(tensor.strides()[d]) * itemsize;
    if (size > 1 && stride != 0) dims.push_back({size, stride});
  }
  std::sort(dims.begin(), dims.end(),
            [](const Dim& a, const Dim& b) { return a.stride < b.stride; });
  size_t run = itemsize;
  size_t merged = 0;
  while (merged < dims.size() && dims[merged].stride == run) run *= dims[merged++].size;
  dims.erase(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(merged));

  std::vector<ByteRange> ranges;
  size_t begin = static_cast<size_t>(tensor.storage_offset()) * itemsize;
  while (true) {
    ranges.push_back({begin, run});
    size_t d = 0;
    for (; d < dims.size(); ++d) {
      begin += dims[d].stride;
      if (++dims[d].at < dims[d].size) break;
      begin -= dims[d].stride * dims[d].size;
      dims[d].at = 0;
    }
    if (d == dims.size() || ranges.size() == kAtOnce) {
      f(ranges);
      ranges.clear();
    }
    if (d == dims.size()) return;
  }
}

}  // namespace sb
