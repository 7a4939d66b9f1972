#include "switchboard/dispatch/modes/tensor_snapshot.h"

#include <cstring>

#include "absl/strings/str_join.h"
#include "switchboard/core/str_cat.h"

namespace sb {
namespace {

bool is_readable(const Tensor& tensor) {
  const Storage& storage = tensor.storage();
  return tensor.defined() && storage && storage->device().is_cpu() && storage->data();
}

// Where the last element ends, in bytes of the storage. The tensor has elements.
size_t end_of(const Tensor& tensor) {
  int64_t last = tensor.storage_offset();
  for (size_t d = 0; d < tensor.sizes().size(); ++d)
    last += (tensor.sizes()[d] - 1) * tensor.strides()[d];
  return static_cast<size_t>(last + 1) * tensor.itemsize();
}

// Copies the elements along the dimensions from `d` on.
void gather(const char* from, const std::vector<int64_t>& sizes,
            const std::vector<int64_t>& strides, size_t d, size_t itemsize,
            std::vector<char>* out) {
  if (d == sizes.size()) {
    out->insert(out->end(), from, from + itemsize);
    return;
  }
  if (d + 1 == sizes.size() && strides[d] == static_cast<int64_t>(itemsize)) {
    out->insert(out->end(), from, from + sizes[d] * strides[d]);
    return;
  }
  for (int64_t i = 0; i < sizes[d]; ++i)
    gather(from + i * strides[d], sizes, strides, d + 1, itemsize, out);
}

// The bytes of the elements of a tensor that has some and is_readable(); those of elements that
// share a place may come once only.
std::vector<char> bytes_of(const Tensor& tensor) {
  std::vector<char> bytes;
  const size_t end = end_of(tensor);
  const size_t begin = static_cast<size_t>(tensor.storage_offset()) * tensor.itemsize();
  if (end > tensor.storage()->nbytes()) return bytes;  // as resize_ leaves it for a moment
  const char* const data = static_cast<const char*>(tensor.storage()->data());
  std::vector<int64_t> sizes, strides;
  size_t apart = tensor.itemsize();  // bytes of the elements without repeated ones
  for (size_t d = 0; d < tensor.sizes().size(); ++d) {
    if (tensor.strides()[d] == 0 || tensor.sizes()[d] == 1) continue;
    sizes.push_back(tensor.sizes()[d]);
    strides.push_back(tensor.strides()[d] * static_cast<int64_t>(tensor.itemsize()));
    if (__builtin_mul_overflow(apart, static_cast<size_t>(tensor.sizes()[d]), &apart)) apart = end;
  }
  // Elements that overlap, or that leave no gaps: the range itself is the shorter copy.
  if (apart >= end - begin) return std::vector<char>(data + begin, data + end);
  gather(data + begin, sizes, strides, 0, tensor.itemsize(), &bytes);
  return bytes;
}

std::optional<std::vector<char>> elements_of(const Tensor& tensor,
                                             const TensorSnapshot::ToCpu& to_cpu) {
  if (tensor.numel() == 0) return std::vector<char>();
  if (is_readable(tensor)) return bytes_of(tensor);
  // Memory that belongs to meta or fake tensors is no memory.
  const bool has_data = tensor.storage() && tensor.storage()->data() && !tensor.impl()->mode_data();
  if (!has_data || !to_cpu) return std::nullopt;
  const Tensor copy = to_cpu(tensor);
  if (!is_readable(copy) || copy.numel() == 0) return std::nullopt;
  return bytes_of(copy);
}

std::string list_text(IntArrayRef list) { return str_cat("[", absl::StrJoin(list, ", "), "]"); }

}  // namespace

TensorSnapshot::TensorSnapshot(const Tensor& tensor, const ToCpu& to_cpu) : tensor_(tensor) {
  if (!tensor.defined()) return;
  storage_ = tensor.storage();
  storage_bytes_ = storage_ ? storage_->nbytes() : 0;
  dtype_ = tensor.dtype();
  sizes_.assign(tensor.sizes().begin(), tensor.sizes().end());
  strides_.assign(tensor.strides().begin(), tensor.strides().end());
  offset_ = tensor.storage_offset();
  version_ = tensor.version();
  elements_ = elements_of(tensor, to_cpu);
}

std::string TensorSnapshot::changed_metadata() const {
  if (!tensor_.defined()) return "";
  if (tensor_.dtype() != dtype_)
    return str_cat("dtype was ", to_string(dtype_), ", is ", to_string(tensor_.dtype()));
  if (tensor_.sizes() != IntArrayRef(sizes_))
    return str_cat("sizes were ", list_text(sizes_), ", are ", list_text(tensor_.sizes()));
  if (tensor_.strides() != IntArrayRef(strides_))
    return str_cat("strides were ", list_text(strides_), ", are ", list_text(tensor_.strides()));
  if (tensor_.storage_offset() != offset_)
    return str_cat("storage offset was ", offset_, ", is ", tensor_.storage_offset());
  if (tensor_.storage() != storage_) return "storage is another one";
  return "";
}

std::string TensorSnapshot::changed_data(const ToCpu& to_cpu) const {
  if (!tensor_.defined()) return "";
  if (storage_ && storage_->nbytes() != storage_bytes_)
    return str_cat("storage had ", storage_bytes_, " bytes, has ", storage_->nbytes());
  if (elements_) return elements_of(tensor_, to_cpu) == elements_ ? "" : "elements differ";
  if (tensor_.version() == version_) return "";
  return str_cat("version was ", version_, ", is ", tensor_.version());
}

}  // namespace sb
