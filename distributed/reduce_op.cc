#include "switchboard/distributed/reduce_op.h"

#include <bit>
#include <string>
#include <utility>

#include "absl/types/span.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/elementwise/bitwise.h"
#include "switchboard/ops/factories/factories.h"

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

void combine(ReduceOp op, const Tensor& a, const Tensor& b, const Tensor& out) {
  switch (op) {
    case ReduceOp::Sum:
    case ReduceOp::Avg:
      add_out(a, b, 1, out);
      return;
    case ReduceOp::Product:
      mul_out(a, b, out);
      return;
    case ReduceOp::Min:
      minimum_out(a, b, out);
      return;
    case ReduceOp::Max:
      maximum_out(a, b, out);
      return;
    case ReduceOp::BitAnd:
      bitwise_and_out(a, b, out);
      return;
    case ReduceOp::BitOr:
      bitwise_or_out(a, b, out);
      return;
    case ReduceOp::BitXor:
      bitwise_xor_out(a, b, out);
      return;
  }
}

// What comes of each half: one of the parts, or new.
Tensor combined(ReduceOp op, absl::Span<const Tensor> parts) {
  if (parts.size() == 1) return parts[0];
  Tensor out = empty_like(parts[0]);
  const size_t half = std::bit_ceil(parts.size()) / 2;
  combine(op, combined(op, parts.first(half)), combined(op, parts.subspan(half)), out);
  return out;
}

}  // namespace

ReduceOp parse_reduce_op(std::string_view name, DType dtype,
                         absl::FunctionRef<std::string()> blame) {
  for (const auto& [known, op] : kNames) {
    if (name != known) continue;
    SB_CHECK_TYPE(has_reduction(op, dtype), blame(), "reduction '", name, "' is not for ",
                  to_string(dtype));
    return op;
  }
  SB_THROW(RuntimeError, blame(),
           "expected sum, avg, product, min, max, band, bor or bxor as reduction, got '", name,
           "'");
}

Tensor reduce_tree(ReduceOp op, std::vector<Tensor> parts) {
  if (parts.size() == 1) return parts[0];
  Tensor out = empty_like(parts[0]);
  reduce_tree_into(op, parts, out);
  return out;
}

void reduce_tree_into(ReduceOp op, absl::Span<const Tensor> parts, const Tensor& out) {
  const size_t n = parts.size();
  if (n == 1) {
    if (!parts[0].is_same(out)) copy_(out, parts[0]);
    return;
  }
  const size_t half = std::bit_ceil(n) / 2;
  combine(op, combined(op, parts.first(half)), combined(op, parts.subspan(half)), out);
  if (op == ReduceOp::Avg) div_Scalar_(out, static_cast<int64_t>(n));
}

}  // namespace sb
