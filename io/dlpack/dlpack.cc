#include "switchboard/io/dlpack/dlpack.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "switchboard/autograd/variable.h"
#include "switchboard/core/checked_math.h"
#include "switchboard/core/error.h"
#include "switchboard/devices/device_guard.h"

namespace sb {
namespace {

// kDLBool, which Debian's header is too old to have.
constexpr uint8_t kBoolCode = 6;

struct TypeCode {
  DType dtype;
  uint8_t code;
  uint8_t bits;
};
constexpr TypeCode kTypeCodes[] = {
    {DType::UInt8, kDLUInt, 8},           {DType::Int8, kDLInt, 8},
    {DType::Int16, kDLInt, 16},           {DType::Int32, kDLInt, 32},
    {DType::Int64, kDLInt, 64},           {DType::Float16, kDLFloat, 16},
    {DType::Float32, kDLFloat, 32},       {DType::Float64, kDLFloat, 64},
    {DType::BFloat16, kDLBfloat, 16},     {DType::Complex64, kDLComplex, 64},
    {DType::Complex128, kDLComplex, 128}, {DType::Bool, kBoolCode, 8}};

DLDataType type_code(DType dtype) {
  const auto found = std::ranges::find(kTypeCodes, dtype, &TypeCode::dtype);
  SB_CHECK(found != std::end(kTypeCodes), "to_dlpack: DLPack has no dtype ", to_string(dtype));
  return {found->code, found->bits, 1};
}

DType find_dtype(DLDataType type) {
  SB_CHECK_NOT_IMPLEMENTED(type.lanes == 1, "from_dlpack: expected elements of 1 lane, got ",
                           type.lanes);
  for (const TypeCode& known : kTypeCodes)
    if (known.code == type.code && known.bits == type.bits) return known.dtype;
  SB_THROW(NotImplementedError, "from_dlpack: no dtype of code ", int{type.code}, " and ",
           int{type.bits}, " bits");
}

DLDevice dl_device(Device device) {
  if (device.is_cpu()) return {kDLCPU, 0};
  SB_CHECK(device.type == DeviceType::PrivateUse1, "to_dlpack: expected a tensor on cpu or ",
           to_string(DeviceType::PrivateUse1), ", got one on ", to_string(device));
  return {kDLExtDev, device.index};
}

Device find_device(DLDevice device) {
  // For the CPU's one memory the number says nothing.
  if (device.device_type == kDLCPU) return DeviceType::CPU;
  const int type = device.device_type;
  SB_CHECK_NOT_IMPLEMENTED(device.device_type == kDLExtDev, "from_dlpack: expected device type ",
                           int{kDLCPU}, " (cpu) or ", int{kDLExtDev}, " (",
                           to_string(DeviceType::PrivateUse1), "), got ", type);
  const int count = device_count(DeviceType::PrivateUse1);
  SB_CHECK(device.device_id >= 0 && device.device_id < count, "from_dlpack: there is no device ",
           to_string(DeviceType::PrivateUse1), ":", device.device_id, "; there are ", count);
  return Device(DeviceType::PrivateUse1, static_cast<int8_t>(device.device_id));
}

// What an exported tensor keeps alive.
struct Exported {
  Storage storage;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  DLManagedTensor managed{};
};

void delete_exported(DLManagedTensor* managed) {
  delete static_cast<Exported*>(managed->manager_ctx);
}

void give_back(void* context) {
  DLManagedTensor* const managed = static_cast<DLManagedTensor*>(context);
  if (managed->deleter) managed->deleter(managed);
}

void check_exportable(const Tensor& tensor) {
  SB_CHECK(tensor.defined(), "to_dlpack: the tensor is undefined");
  // Before anything asks for a size, which would settle the symbols.
  SB_CHECK(!tensor.is_symbolic(), "to_dlpack: the tensor has symbolic sizes");
  SB_CHECK(!tensor.impl()->mode_data(),
           "to_dlpack: the tensor is fake, or another mode's, and has no memory");
  SB_CHECK(!requires_grad(tensor), "to_dlpack: the tensor requires a gradient; detach gives one ",
           "that does not");
  SB_CHECK(!tensor.impl()->is_conj(), "to_dlpack: the tensor is lazily conjugated; resolve_conj ",
           "gives one that is not");
  SB_CHECK(!tensor.impl()->is_neg(), "to_dlpack: the tensor is lazily negated; resolve_neg gives ",
           "one that is not");
}

// Its strides; 1 for a negative one that leads nowhere, as the only index is 0 or there is none.
std::vector<int64_t> strides_of(const DLTensor& tensor) {
  std::vector<int64_t> strides(tensor.strides, tensor.strides + tensor.ndim);
  for (size_t d = 0; d < strides.size(); ++d)
    if (tensor.shape[d] < 2 && strides[d] < 0) strides[d] = 1;
  return strides;
}

// The address of element 0; null only where there is no element.
char* first_element(const DLTensor& tensor, int64_t bytes, size_t itemsize) {
  if (bytes == 0) return nullptr;
  SB_CHECK(tensor.data, "from_dlpack: no memory for ", bytes, " bytes");
  uintptr_t address = 0, end = 0;
  SB_CHECK(!__builtin_add_overflow(reinterpret_cast<uintptr_t>(tensor.data), tensor.byte_offset,
                                   &address) &&
               !__builtin_add_overflow(address, static_cast<uintptr_t>(bytes), &end),
           "from_dlpack: byte_offset ", tensor.byte_offset, " and ", bytes,
           " bytes leave the address space");
  // As large as a number that is loaded at once.
  const size_t alignment = std::min(itemsize, sizeof(int64_t));
  SB_CHECK(address % alignment == 0, "from_dlpack: the memory of elements of ", itemsize,
           " bytes is not aligned to ", alignment);
  return static_cast<char*>(tensor.data) + tensor.byte_offset;
}

// A storage that has no memory yet, of the device's own kind.
Storage make_unowned_storage(Device device, size_t bytes) {
  const StorageFactory factory =
      internal::storage_factories[static_cast<size_t>(device.type)].load(std::memory_order_acquire);
  DataPtr none(nullptr, device);
  return factory ? factory(std::move(none), bytes, nullptr)
                 : make_intrusive<StorageImpl>(std::move(none), bytes, nullptr);
}

}  // namespace

DLManagedTensor* to_dlpack(const Tensor& tensor) {
  check_exportable(tensor);
  const DLDevice device = dl_device(tensor.device());
  const DLDataType type = type_code(tensor.dtype());
  auto exported = std::make_unique<Exported>();
  exported->storage = tensor.storage();
  // Not null where there are no dimensions either.
  exported->sizes.reserve(1);
  exported->strides.reserve(1);
  exported->sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  exported->strides.assign(tensor.strides().begin(), tensor.strides().end());
  for (size_t d = 0; d < exported->sizes.size(); ++d)
    if (exported->sizes[d] < 2) exported->strides[d] = 1;
  exported->managed.dl_tensor = {tensor.numel() == 0 ? nullptr : tensor.data_ptr(),
                                 device,
                                 static_cast<int>(tensor.dim()),
                                 type,
                                 exported->sizes.data(),
                                 exported->strides.data(),
                                 0};
  // Its consumer does not know the streams that work on the memory was given to.
  synchronize(tensor.device());
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = &delete_exported;
  return &exported.release()->managed;
}

Tensor from_dlpack(DLManagedTensor* managed) {
  SB_CHECK_VALUE(managed, "from_dlpack: got null");
  const DLTensor& given = managed->dl_tensor;
  const Device device = find_device(given.device);
  const DType dtype = find_dtype(given.dtype);
  SB_CHECK(given.ndim >= 0, "from_dlpack: a negative number of dimensions: ", given.ndim);
  SB_CHECK(given.ndim == 0 || given.shape, "from_dlpack: no sizes for ", given.ndim, " dimensions");
  const IntArrayRef sizes(given.shape, static_cast<size_t>(given.ndim));

  auto impl = make_intrusive<TensorImpl>(nullptr, fresh_key_set(device.type), dtype, device);
  int64_t bytes = 0;
  try {
    if (given.strides)
      impl->set_sizes_and_strides(sizes, strides_of(given));
    else
      impl->set_sizes_contiguous(sizes);
    bytes = checked_storage_bytes(impl->sizes(), impl->strides(), 0,
                                  static_cast<int64_t>(itemsize(dtype)));
  } catch (const Error& error) {
    rethrow_with_context(error, "from_dlpack: ");
  }
  char* const data = first_element(given, bytes, itemsize(dtype));
  const Storage storage = make_unowned_storage(device, static_cast<size_t>(bytes));
  // Last, and without a chance to fail: until here the memory is the caller's.
  storage->set_data(DataPtr(data, managed, &give_back, device), nullptr);
  impl->set_storage(storage);
  return Tensor(std::move(impl));
}

}  // namespace sb
