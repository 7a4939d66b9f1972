#include "switchboard/distributed/reduce_op.h"

#include <bit>
#include <string>
#include <utility>

#include "absl/types/span.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/elementwise/bitwise.h"

namespace sb {
namespace {

constexpr std::pair<std::string_view, ReduceOp> kNames[] = {
    {"sum", ReduceOp::Sum},   {"avg", ReduceOp::Avg},    {"product", ReduceOp::Product},
    {"min", ReduceOp::Min},   {"max", ReduceOp::Max},    {"band", ReduceOp::BitAnd},
    {"bor", ReduceOp::BitOr}, {"bxor", ReduceOp::BitXor}};

bool has_reduction(ReduceOp op, DType dtype) {
  if (is_quantized(dtype)) return false;
  switch (op) {
    case ReduceOp::Sum:
    case ReduceOp::Product:
      return true;
    case ReduceOp::Avg:
      return is_floating_point(dtype) || is_complex(dtype);
    case ReduceOp::Min:
    case ReduceOp::Max:
      return !is_complex(dtype);
    default:
      return is_integral(dtype, /*include_bool=*/true);
  }
}

Tensor combine(ReduceOp op, const Tensor& a, const Tensor& b) {
  switch (op) {
    case ReduceOp::Sum:
    case ReduceOp::Avg:
      return add(a, b);
    case ReduceOp::Product:
      return mul(a, b);
    case ReduceOp::Min:
      return minimum(a, b);
    case ReduceOp::Max:
      return maximum(a, b);
    case ReduceOp::BitAnd:
      return bitwise_and(a, b);
    case ReduceOp::BitOr:
      return bitwise_or(a, b);
    case ReduceOp::BitXor:
      return bitwise_xor(a, b);
  }
  return {};
}

Tensor combine_all(ReduceOp op, absl::Span<const Tensor> parts) {
  const size_t n = parts.size();
  if (n == 1) return parts[0];
  const size_t half = std::bit_ceil(n) / 2;
  return combine(op, combine_all(op, parts.first(half)), combine_all(op, parts.subspan(half)));
}

}  // namespace

ReduceOp parse_reduce_op(std::string_view name, DType dtype, std::string_view blame) {
  for (const auto& [known, op] : kNames) {
    if (name != known) continue;
    SB_CHECK_TYPE(has_reduction(op, dtype), blame, "reduction '", name, "' is not for ",
                  to_string(dtype));
    return op;
  }
  SB_THROW(RuntimeError, blame,
           "expected sum, avg, product, min, max, band, bor or bxor as reduction, got '", name,
           "'");
}

Tensor reduce_tree(ReduceOp op, std::vector<Tensor> parts) {
  Tensor result = combine_all(op, parts);
  if (op != ReduceOp::Avg || parts.size() == 1) return result;
  return div_Scalar(result, static_cast<int64_t>(parts.size()));
}

}  // namespace sb
