#include "switchboard/io/recording/tensor_bits.h"

#include "switchboard/core/checked_math.h"
#include "switchboard/io/recording/wire.h"

namespace sb::io {
namespace {

// One past the last element that the tensor reaches, from the begin of its storage; -1 if that is
// no number.
int64_t end_of(const TensorImpl& impl) {
  int64_t last = impl.storage_offset();
  for (size_t d = 0; d < impl.hint_sizes().size(); ++d) {
    int64_t reach;
    if (__builtin_mul_overflow(impl.hint_sizes()[d] - 1, impl.hint_strides()[d], &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return -1;
  }
  return last + 1;
}

// Calls f(first byte, number of bytes) for each run of elements, in order.
template <class F>
void for_each_run(const Tensor& tensor, F&& f) {
  const IntArrayRef sizes = tensor.sizes(), strides = tensor.strides();
  const size_t item = tensor.itemsize();
  const char* const data = static_cast<const char*>(tensor.data_ptr());
  std::vector<int64_t> index(sizes.size(), 0);
  int64_t at = 0;
  for (int64_t n = tensor.numel(); n > 0; --n) {
    f(data + at * static_cast<int64_t>(item), item);
    for (size_t d = sizes.size(); d-- > 0;) {
      at += strides[d];
      if (++index[d] < sizes[d]) break;
      at -= index[d] * strides[d];
      index[d] = 0;
    }
  }
}

}  // namespace

bool has_bits(const Tensor& tensor) {
  if (!tensor.defined() || tensor.is_symbolic() || !tensor.is_cpu() || tensor.impl()->mode_data())
    return false;
  if (!has_bits(tensor.storage())) return false;
  if (tensor.numel() == 0) return true;
  const int64_t end = end_of(*tensor.impl());
  return end >= 0 && static_cast<uint64_t>(end) <= tensor.storage()->nbytes() / tensor.itemsize();
}

// A layer's tensor has a storage of its size, and no memory.
bool has_bits(const Storage& storage) {
  return storage && storage->device().is_cpu() && (storage->data() || storage->nbytes() == 0);
}

std::string gather_elements(const Tensor& tensor) {
  std::string bytes;
  if (tensor.numel() == 0) return bytes;
  if (tensor.is_contiguous())
    return std::string(static_cast<const char*>(tensor.data_ptr()), tensor.nbytes());
  bytes.reserve(tensor.nbytes());
  for_each_run(tensor, [&](const char* p, size_t n) { bytes.append(p, n); });
  return bytes;
}

uint64_t hash_elements(const Tensor& tensor) {
  if (tensor.numel() == 0) return wire::hash_bytes(nullptr, 0);
  if (tensor.is_contiguous()) return wire::hash_bytes(tensor.data_ptr(), tensor.nbytes());
  const std::string bytes = gather_elements(tensor);
  return wire::hash_bytes(bytes.data(), bytes.size());
}

std::string_view storage_bytes(const Storage& storage) {
  return {static_cast<const char*>(storage->data()), storage->nbytes()};
}

}  // namespace sb::io
