#include "switchboard/ops/indexing/rows.h"

#include "absl/container/flat_hash_map.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/arithmetic.h"
#include "switchboard/ops/copy.h"
#include "switchboard/ops/indexing/accumulate.h"
#include "switchboard/ops/indexing/along_dim.h"
#include "switchboard/ops/tensor_iterator.h"

namespace sb {

Tensor index_vector(const std::vector<int64_t>& values) {
  const int64_t n = static_cast<int64_t>(values.size());
  const Tensor t = empty_on(Device(DeviceType::CPU), {n}, DType::Int64);
  std::copy(values.begin(), values.end(), t.data<int64_t>());
  return t;
}

void add_rows(const Tensor& table, const Tensor& source, const RowMoves& moves) {
  if (moves.from.empty() || table.numel() == 0) return;
  const Device cpu(DeviceType::CPU);
  const int64_t n = static_cast<int64_t>(moves.from.size());
  Tensor rows = empty_on(cpu, {n, source.sizes()[1]}, source.dtype());
  run_indexed(walk_along(source, 0, index_vector(moves.from), IndexShape::Vector, rows),
              read_loop(source.itemsize()));
  if (!moves.factor.empty()) {
    const DType dtype = compute_dtype(rows.dtype());
    const Tensor factors = empty_on(cpu, {n, 1}, DType::Float64);
    std::copy(moves.factor.begin(), moves.factor.end(), factors.data<double>());
    rows = mul(cast_copy(rows, dtype), cast_copy(factors, dtype));
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
