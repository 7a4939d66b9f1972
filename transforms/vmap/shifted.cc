#include "switchboard/transforms/vmap/shifted.h"

#include <algorithm>
#include <string_view>

namespace sb::batching {

bool names_dims(const Argument& argument) {
  constexpr std::string_view kNames[] = {"dim",       "dims",      "dim0",   "dim1",
                                         "dim2",      "axis0",     "axis1",  "axis",
                                         "dimension", "start_dim", "end_dim"};
  if (argument.type.base != BaseType::Int) return false;
  return std::ranges::count(kNames, std::string_view(argument.name)) > 0;
}

IValue behind_batch(const IValue& dims) {
  const auto behind = [](int64_t dim) { return dim < 0 ? dim : dim + 1; };
  if (dims.is_Int()) return behind(dims.to_int());
  if (!dims.is_IntList()) return dims;
  std::vector<int64_t> list;
  for (int64_t dim : dims.to_int_list()) list.push_back(behind(dim));
  return list;
}

IValue with_first(int64_t first, const IValue& list) {
  std::vector<SymInt> all{first};
  for (const SymInt& i : list.to_sym_int_list()) all.push_back(i);
  return all;
}

}  // namespace sb::batching
