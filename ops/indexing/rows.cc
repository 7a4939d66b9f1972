#include "switchboard/ops/indexing/rows.h"

#include "absl/container/flat_hash_map.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/indexing/accumulate.h"
#include "switchboard/ops/indexing/along_dim.h"

namespace sb {

Tensor index_vector(const std::vector<int64_t>& values) {
  const int64_t n = static_cast<int64_t>(values.size());
  const Tensor t = empty_on(Device(DeviceType::CPU), {n}, DType::Int64);
  std::copy(values.begin(), values.end(), t.data<int64_t>());
  return t;
}

Tensor contiguous_as(const Tensor& t, DType dtype) {
  return t.dtype() == dtype && t.is_contiguous() ? t : cast_copy(t, dtype);
}

void fill_zero(const Tensor& t) { copy_elements(t, cast_copy(index_vector({0}), t.dtype())); }

Tensor take_rows(const Tensor& source, const std::vector<int64_t>& indices, DType dtype) {
  const int64_t n = static_cast<int64_t>(indices.size());
  const Tensor rows = empty_on(Device(DeviceType::CPU), {n, source.sizes()[1]}, source.dtype());
  run_indexed(walk_along(source, 0, index_vector(indices), IndexShape::Vector, rows),
              read_loop(source.itemsize()));
  return contiguous_as(rows, dtype);
}

void add_rows(const Tensor& table, const Tensor& source, const RowMoves& moves) {
  if (moves.from.empty() || table.numel() == 0) return;
  const bool weighted = !moves.factor.empty();
  const DType dtype = weighted ? compute_dtype(source.dtype()) : table.dtype();
  Tensor rows = take_rows(source, moves.from, dtype);
  if (weighted) {
    const int64_t n = static_cast<int64_t>(moves.factor.size());
    const Tensor factors = empty_on(Device(DeviceType::CPU), {n, 1}, DType::Float64);
    std::copy(moves.factor.begin(), moves.factor.end(), factors.data<double>());
    rows = mul(rows, contiguous_as(factors, dtype));
  }
  const Tensor to = index_vector(moves.to);
  accumulate_indexed(Accumulation::Sum, table, rows, true,
                     [&](const Tensor& t, const Tensor& other) {
                       IndexedWalk walk = walk_along(t, 0, to, IndexShape::Vector, other);
                       walk.serial.set(0);
                       return walk;
                     });
}

std::vector<int64_t> frequencies(const std::vector<int64_t>& indices) {
  absl::flat_hash_map<int64_t, int64_t> counts;
  for (int64_t i : indices) ++counts[i];
  std::vector<int64_t> result;
  for (int64_t i : indices) result.push_back(counts[i]);
  return result;
}

}  // namespace sb
