#include "switchboard/dispatch/registered_kernels.h"

#include <algorithm>
#include <utility>

#include "switchboard/core/error.h"

namespace sb {
namespace {

struct ByKey {
  bool operator()(const RegisteredKernel& a, DispatchKey b) const { return a.key < b; }
  bool operator()(DispatchKey a, const RegisteredKernel& b) const { return a < b.key; }
};

}  // namespace

absl::Span<const RegisteredKernel> RegisteredKernels::at(DispatchKey key) const {
  if (!has(key)) return {};
  const auto [first, last] = std::equal_range(list_.begin(), list_.end(), key, ByKey());
  return {&*first, static_cast<size_t>(last - first)};
}

std::vector<DispatchKey> RegisteredKernels::keys() const {
  std::vector<DispatchKey> keys;
  for (const RegisteredKernel& kernel : list_)
    if (keys.empty() || keys.back() != kernel.key) keys.push_back(kernel.key);
  return keys;
}

void RegisteredKernels::add(RegisteredKernel kernel) {
  const DispatchKey key = kernel.key;
  list_.insert(std::upper_bound(list_.begin(), list_.end(), key, ByKey()), std::move(kernel));
  keys_.set(static_cast<size_t>(key));
}

RegisteredKernel RegisteredKernels::remove(DispatchKey key, uint64_t id) {
  const auto found = std::find_if(list_.begin(), list_.end(), [&](const RegisteredKernel& k) {
    return k.key == key && k.id == id;
  });
  SB_ASSERT(found != list_.end());
  RegisteredKernel removed = std::move(*found);
  list_.erase(found);
  if (!std::binary_search(list_.begin(), list_.end(), key, ByKey()))
    keys_.reset(static_cast<size_t>(key));
  return removed;
}

}  // namespace sb
