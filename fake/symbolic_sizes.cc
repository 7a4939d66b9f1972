#include "switchboard/fake/symbolic_sizes.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "switchboard/core/error.h"

namespace sb::internal {
void make_symbolic(ShapeEnv& env, const Tensor& fake, const FromTensorOptions& how) {
  const IntArrayRef sizes = fake.sizes(), strides = fake.strides();
  const size_t rank = sizes.size();
  static std::atomic<uint64_t> unnamed{0};
  const std::string name =
      how.source.empty() ? absl::StrCat("t", unnamed.fetch_add(1)) : how.source;

  auto shape = std::make_unique<SymbolicShape>();
  for (size_t d = 0; d < rank; ++d) {
    const std::string source = absl::StrCat(name, ".size(", d, ")");
    const SymbolicDim dim = how.dims.empty() ? SymbolicDim() : how.dims[d];
    shape->sizes.push_back(how.sizes.empty() ? env.create_symint(sizes[d], source, dim)
                                             : env.state_size(how.sizes[d], sizes[d], source));
  }
  // A stride that is a size times the next smaller stride is that for all sizes.
  shape->strides.resize(rank);
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return std::pair(strides[a], a < b) < std::pair(strides[b], b < a);
  });
  absl::flat_hash_map<int64_t, SymInt> known = {{0, 0}, {1, 1}};
  for (const size_t d : order) {
    const auto found = known.find(strides[d]);
    const std::optional<int64_t> size = shape->sizes[d].maybe_int();
    if (found != known.end()) {
      shape->strides[d] = found->second;
    } else if (size && *size <= 1) {
      shape->strides[d] = strides[d];  // it leads nowhere and means nothing
    } else {
      shape->strides[d] = env.create_symint(strides[d], absl::StrCat(name, ".stride(", d, ")"));
    }
    known.try_emplace(sizes[d] * strides[d], shape->sizes[d] * shape->strides[d]);
  }
  shape->storage_offset = fake.storage_offset();
  shape->numel = sym_product(shape->sizes);
  const auto is_symbol = [](const SymInt& s) { return s.is_symbolic(); };
  if (std::ranges::any_of(shape->sizes, is_symbol) ||
      std::ranges::any_of(shape->strides, is_symbol)) {
    fake.impl()->set_symbolic_shape(std::move(shape));
  }
}

}  // namespace sb::internal
