// A tensor as it was: to ask later what has changed.

#ifndef SWITCHBOARD_DISPATCH_MODES_TENSOR_SNAPSHOT_H_
#define SWITCHBOARD_DISPATCH_MODES_TENSOR_SNAPSHOT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "switchboard/core/tensor.h"

namespace sb {

// Metadata, storage, and the elements where they can be read: of CPU tensors directly, of others by
// a function that copies to the CPU, if there is one.
class TensorSnapshot {
 public:
  using ToCpu = std::function<Tensor(const Tensor&)>;

  // Undefined tensors have nothing that could change.
  TensorSnapshot(const Tensor& tensor, const ToCpu& to_cpu);

  const Tensor& tensor() const { return tensor_; }
  // The storage of then; null for an undefined tensor.
  const Storage& storage() const { return storage_; }
  // Describes the metadata that changed: "sizes were [2], are [3]". "" if none did.
  std::string changed_metadata() const;
  // Describes a change of the elements or their memory, as far as one can tell: "elements differ".
  // "" if there is none. Metadata must be as it was.
  std::string changed_data(const ToCpu& to_cpu) const;

 private:
  Tensor tensor_;
  Storage storage_;
  size_t storage_bytes_ = 0;
  DType dtype_ = DType::Float32;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> strides_;
  int64_t offset_ = 0;
  uint32_t version_ = 0;
  std::optional<std::vector<char>> elements_;  // nullopt: cannot be read
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_MODES_TENSOR_SNAPSHOT_H_
