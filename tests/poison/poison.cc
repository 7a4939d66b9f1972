#include "switchboard/tests/poison/poison.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/memory/allocator.h"

namespace sb::test {
namespace {

uint8_t poison = 0;

class PoisonAllocator : public Allocator {
 public:
  explicit PoisonAllocator(Allocator& memory) : memory_(memory) {}
  DataPtr allocate(size_t bytes) override {
    constexpr size_t kMost = size_t{4} << 20;
    SB_CHECK(bytes <= kMost, "no more than ", kMost, " bytes here, got ", bytes);
    DataPtr data = memory_.allocate(bytes);
    if (bytes > 0) std::memset(data.get(), poison, bytes);
    return data;
  }
  void copy_data(void* destination, const void* source, size_t bytes) override {
    memory_.copy_data(destination, source, bytes);
  }

 private:
  Allocator& memory_;
};

bool is_fresh(const uint8_t* bytes, size_t n) {
  return std::all_of(bytes, bytes + n, [](uint8_t b) { return b == poison; });
}

}  // namespace

void poison_fresh_memory(uint8_t byte) {
  static PoisonAllocator allocator(*get_allocator(DeviceType::CPU));
  poison = byte;
  set_allocator(DeviceType::CPU, &allocator);
}

bool holds_fresh_memory(const Tensor& t, bool whole) {
  if (!t.defined() || !t.storage() || !t.is_cpu()) return false;
  const size_t size = t.itemsize();
  const auto* const memory = static_cast<const uint8_t*>(t.storage()->data());
  if (whole) {
    for (size_t i = 0; i + size <= t.storage()->nbytes(); i += size)
      if (is_fresh(memory + i, size)) return true;
    return false;
  }
  if (t.numel() == 0) return false;
  std::vector<int64_t> index(t.sizes().size());
  for (int64_t i = 0; i < t.numel(); ++i) {
    int64_t place = t.storage_offset();
    for (size_t d = 0; d < index.size(); ++d) place += index[d] * t.strides()[d];
    if (is_fresh(memory + static_cast<size_t>(place) * size, size)) return true;
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < t.sizes()[d]) break;
      index[d] = 0;
    }
  }
  return false;
}

}  // namespace sb::test
