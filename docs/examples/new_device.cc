// A whole device: memory, copies, a kernel, and the CPU for all that it has no kernel for.

// doc: begin
#include <cstdlib>
#include <cstring>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/devices/cpu_fallback.h"
#include "switchboard/devices/device_guard.h"
#include "switchboard/dispatch/inspect/call_path.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"

namespace mine {
namespace {

using sb::DataPtr, sb::Device, sb::DeviceType, sb::DType, sb::IntArrayRef, sb::Tensor;

constexpr DeviceType kMine = DeviceType::PrivateUse1;

// Where bytes come from; here, from the host.
class Memory final : public sb::Allocator {
 public:
  DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return DataPtr(nullptr, Device(kMine, 0));
    auto* const block = new Block{std::aligned_alloc(64, (bytes + 63) / 64 * 64), bytes, this};
    DataPtr data(block->data, block, free, Device(kMine, 0));
    SB_CHECK(block->data, "mine: no memory for ", bytes, " bytes");
    stats().add(bytes);
    return data;
  }
  void copy_data(void* to, const void* from, size_t bytes) override {
    std::memcpy(to, from, bytes);
  }

 private:
  struct Block {
    void* data;
    size_t bytes;
    Memory* memory;
  };
  static void free(void* context) {
    Block* const block = static_cast<Block*>(context);
    if (block->data) block->memory->stats().remove(block->bytes);
    std::free(block->data);
    delete block;
  }
};
// doc: end

// doc: begin
// One device of the type, which is always current.
class Guard final : public sb::DeviceGuardImpl {
 public:
  DeviceType type() const override { return kMine; }
  int8_t device_count() const noexcept override { return 1; }
  Device current_device() const override { return Device(kMine, 0); }
  void set_current(int8_t) const noexcept override {}
};

const bool registered = [] {
  sb::rename_private_backend(kMine, "mine");
  sb::set_allocator(kMine, new Memory);  // lives as long as the process, as the guard does
  sb::register_device_guard(new Guard);
  return true;
}();
// doc: end

// doc: begin
// A tensor of the device as one of the CPU, on the same bytes.
Tensor on_host(const Tensor& t) {
  if (t.is_cpu()) return t;
  auto impl = sb::make_intrusive<sb::TensorImpl>(
      sb::make_intrusive<sb::StorageImpl>(DataPtr(t.storage()->data(), DeviceType::CPU),
                                          t.storage()->nbytes(), nullptr),
      sb::tensor_key_set(DeviceType::CPU), t.dtype(), DeviceType::CPU);
  impl->set_sizes_and_strides(t.sizes(), t.strides());
  impl->set_storage_offset(t.storage_offset());
  return Tensor(std::move(impl));
}

SB_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl(sb::empty,
         [](IntArrayRef size, std::optional<DType> dtype, std::optional<sb::Layout>,
            std::optional<Device>, std::optional<bool>, std::optional<sb::MemoryFormat> format) {
           return sb::empty_on(Device(kMine, 0), size, dtype.value_or(sb::default_dtype()),
                               format.value_or(sb::MemoryFormat::Contiguous));
         });
  m.impl(sb::empty_strided,
         [](IntArrayRef size, IntArrayRef stride, std::optional<DType> dtype,
            std::optional<sb::Layout>, std::optional<Device>, std::optional<bool>) {
           return sb::empty_strided_on(Device(kMine, 0), size, stride,
                                       dtype.value_or(sb::default_dtype()));
         });
  m.impl(sb::_copy_from, [](const Tensor& self, const Tensor& dst, bool) {
    sb::copy_(on_host(dst), on_host(self));
    return dst;
  });
}
// doc: end

// doc: begin
// How bytes come to the CPU, and back, when it computes for us.
class Transfer final : public sb::HostTransfer {
 public:
  void download(const sb::Storage& from, void* host,
                absl::Span<const sb::ByteRange> ranges) override {
    for (const sb::ByteRange& r : ranges)
      std::memcpy(static_cast<char*>(host) + r.begin,
                  static_cast<const char*>(from->data()) + r.begin, r.size);
  }
  void upload(const sb::Storage& to, const void* host,
              absl::Span<const sb::ByteRange> ranges) override {
    for (const sb::ByteRange& r : ranges)
      std::memcpy(static_cast<char*>(to->data()) + r.begin,
                  static_cast<const char*>(host) + r.begin, r.size);
  }
};

SB_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback([](const sb::OperatorHandle& op, sb::DispatchKeySet, sb::Stack* stack) {
    Transfer transfer;
    sb::cpu_fallback(op, stack, kMine, transfer);
  });
}
// What `explain` says of it.
const sb::ExplainFallback on_cpu(sb::DispatchKey::PrivateUse1,
                                 [](sb::CallPath& path, const sb::PathCall& call) {
                                   sb::explain_cpu_fallback(path, call, kMine);
                                 });
// Without this, no call gets past the autograd key of its tensors.
SB_LIBRARY_IMPL(_, AutogradPrivateUse1, m) { m.fallback(sb::fallthrough); }
// doc: end

// doc: begin
SB_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl(sb::relu, [](const Tensor& self) {
    const Tensor result = sb::empty_like(self);
    sb::copy_(on_host(result), sb::relu(on_host(self)));  // a real device launches its own code
    return result;
  });
}

}  // namespace
}  // namespace mine
// doc: end
