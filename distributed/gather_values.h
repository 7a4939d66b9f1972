// The same small value from every member of a group.

#ifndef SWITCHBOARD_DISTRIBUTED_GATHER_VALUES_H_
#define SWITCHBOARD_DISTRIBUTED_GATHER_VALUES_H_

#include <cstddef>
#include <type_traits>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "switchboard/distributed/engine.h"

namespace sb {

// In the order of the members, all of which call it.
template <class T>
std::vector<T> gather_values(Engine& engine, const Meeting& meeting, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  const size_t n = meeting.members.size();
  std::vector<T> all(n);
  const ConstBytes bytes(reinterpret_cast<const std::byte*>(&mine), sizeof(T));
  const absl::InlinedVector<ConstBytes, 8> sends(n, bytes);
  absl::InlinedVector<Bytes, 8> receives;
  for (T& one : all) receives.emplace_back(reinterpret_cast<std::byte*>(&one), sizeof(T));
  engine.exchange(meeting, sends, receives);
  return all;
}

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_GATHER_VALUES_H_
