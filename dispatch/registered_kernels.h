// The kernels of one operator, at each key that has some.

#ifndef SWITCHBOARD_DISPATCH_REGISTERED_KERNELS_H_
#define SWITCHBOARD_DISPATCH_REGISTERED_KERNELS_H_

#include <bitset>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "switchboard/core/dispatch_key.h"
#include "switchboard/dispatch/kernel.h"

namespace sb {

class FunctionSchema;

// Says whether a fallback that is not for all operators serves one of that schema.
using ServesSchema = bool (*)(const FunctionSchema&);

// A kernel, and the place of its registration.
struct RegisteredKernel {
  KernelFunction function;
  SourceLocation where;
  DispatchKey key = DispatchKey::Undefined;  // runtime or alias
  bool fits_schema = true;        // false: typed for int where the schema has SymInt; called boxed
  uint64_t id = 0;                // unique in its dispatcher; what a registration handle removes by
  uint64_t library = 0;           // the Library that registered it
  ServesSchema serves = nullptr;  // of a fallback; null: it serves all operators
};

// Sorted by key; the kernels of one key in the order in which they were registered. Not
// thread-safe.
class RegisteredKernels {
 public:
  bool empty() const { return list_.empty(); }
  auto begin() { return list_.begin(); }
  auto end() { return list_.end(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

  bool has(DispatchKey key) const { return keys_[static_cast<size_t>(key)]; }
  bool has_alias() const { return !list_.empty() && is_alias_key(list_.back().key); }
  // The kernels at a key, newest last.
  absl::Span<const RegisteredKernel> at(DispatchKey key) const;
  // The keys that have kernels, in the order of the enum.
  std::vector<DispatchKey> keys() const;

  void add(RegisteredKernel kernel);
  // Takes out the kernel of that id at that key, which is there.
  RegisteredKernel remove(DispatchKey key, uint64_t id);

 private:
  absl::InlinedVector<RegisteredKernel, 1> list_;
  std::bitset<static_cast<size_t>(DispatchKey::EndOfKeys)> keys_;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_REGISTERED_KERNELS_H_
