// The elements of tensors as bytes: what hashes are of.

#ifndef SWITCHBOARD_IO_RECORDING_TENSOR_BITS_H_
#define SWITCHBOARD_IO_RECORDING_TENSOR_BITS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "switchboard/core/tensor.h"

namespace sb::io {

// Whether its elements can be looked at as they lie: numbers in the CPU's memory, inside of its
// storage. Fake tensors, those of modes and of other devices have none to look at.
bool has_bits(const Tensor& tensor);
bool has_bits(const Storage& storage);
// A hash of the elements in their order, whatever the strides. Of a tensor that has bits.
uint64_t hash_elements(const Tensor& tensor);
// The elements in their order.
std::string gather_elements(const Tensor& tensor);
std::string_view storage_bytes(const Storage& storage);
inline const Storage& storage_of(const Tensor& tensor) { return tensor.storage(); }
inline const Storage& storage_of(const Storage& storage) { return storage; }

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_RECORDING_TENSOR_BITS_H_
