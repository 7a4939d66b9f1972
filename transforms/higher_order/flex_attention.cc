#include "switchboard/transforms/higher_order/flex_attention.h"

#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/autocast/autocast.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/indexing/repeat_interleave.h"
#include "switchboard/ops/normalization/softmax.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/statistics/summaries.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/control_flow/tensor_callable.h"

namespace sb {
namespace {

constexpr std::string_view kName = "higher_order::flex_attention";

void check_scale(const std::vector<IValue>& arguments) {
  SB_CHECK_TYPE(arguments[2].is_Double(), kName, ": scale: expected a float, got ",
                arguments[2].tag_name());
}

// Sizes that are symbols are for the products and the broadcasting to check.
bool may_agree(const SymInt& a, const SymInt& b) { return statically_known(a == b).value_or(true); }

void check_inputs(const Tensor& query, const Tensor& key, const Tensor& value, bool enable_gqa) {
  const auto got = [&] {
    return str_cat("; got query ", query.describe(), ", key ", key.describe(), ", value ",
                   value.describe());
  };
  for (const Tensor* t : {&query, &key, &value}) {
    SB_CHECK_VALUE(t->defined(), kName, ": expected a tensor, got an undefined one");
    SB_CHECK_VALUE(t->dim() == 4, kName, ": expected [batch, heads, length, embedding]", got());
    SB_CHECK_VALUE(t->dtype() == query.dtype() && is_floating_point(t->dtype()), kName,
                   ": expected one floating dtype", got());
    SB_CHECK_VALUE(t->device() == query.device(), kName, ": expected one device", got());
  }
  SB_CHECK_VALUE(may_agree(query.sym_size(3), key.sym_size(3)), kName,
                 ": expected query and key of one embedding", got());
  SB_CHECK_VALUE(may_agree(key.sym_size(0), value.sym_size(0)) &&
                     may_agree(key.sym_size(1), value.sym_size(1)) &&
                     may_agree(key.sym_size(2), value.sym_size(2)),
                 kName, ": expected key and value of one batch, heads and length", got());
  SB_CHECK_VALUE(key.sym_size(2).maybe_int() != 0, kName, ": key: expected at least one", got());
  SB_CHECK_VALUE(may_agree(query.sym_size(0), key.sym_size(0)) || key.sym_size(0).maybe_int() == 1,
                 kName, ": expected a key for each query of the batch, or one for all", got());
  if (enable_gqa) {
    SB_CHECK_VALUE(key.sym_size(1).maybe_int() != 0 &&
                       may_agree(query.sym_size(1) % key.sym_size(1), SymInt(0)),
                   kName, ": expected heads of query that are a multiple of those of key", got());
  } else {
    SB_CHECK_VALUE(may_agree(query.sym_size(1), key.sym_size(1)), kName,
                   ": expected as many heads of key as of query, or enable_gqa", got());
  }
}

// What a function gave, in the shape of the scores.
Tensor fit(std::string_view function, const Tensor& got, const Tensor& scores) {
  SB_CHECK(got.defined(), kName, ": ", function, ": expected a tensor, got an undefined one");
  try {
    return expand_as(got, scores);
  } catch (const Error& error) {
    rethrow_with_context(error, str_cat(kName, ": ", function,
                                        ": expected a pointwise function, "
                                        "whose result broadcasts to the scores ",
                                        scores.describe(), ", got ", got.describe(), ": "));
  }
}

ScorePlace places(const Tensor& scores) {
  std::vector<Tensor> at;
  for (int64_t d = 0; d < 4; ++d) {
    std::vector<SymInt> shape(4, 1);
    shape[static_cast<size_t>(d)] = scores.sym_size(d);
    at.push_back(view(arange(Scalar(scores.sym_size(d)), DType::Int64, std::nullopt,
                             scores.device(), std::nullopt),
                      shape));
  }
  return {at[0], at[1], at[2], at[3]};
}

std::vector<Tensor> attend(const Tensor& query, Tensor key, Tensor value, double scale,
                           const FlexAttentionOptions& options) {
  if (options.enable_gqa) {
    const SymInt group = query.sym_size(1) / key.sym_size(1);
    key = repeat_interleave(key, group, 1);
    value = repeat_interleave(value, group, 1);
  }
  const DType wide = query.dtype() == DType::Float64 ? DType::Float64 : DType::Float32;
  const auto to_wide = [&](const Tensor& t) {
    return to_dtype(t, wide, false, false, std::nullopt);
  };
  Tensor scores = matmul(to_wide(query), transpose(to_wide(key), -2, -1)) * scale;
  const ScorePlace at = places(scores);
  const double none = -std::numeric_limits<double>::infinity();
  Tensor changed = scores;
  if (options.score_mod) changed = to_wide(fit("score_mod", options.score_mod(scores, at), scores));
  if (options.mask_mod) {
    const Tensor mask = fit("mask_mod", options.mask_mod(at), scores);
    SB_CHECK(mask.dtype() == DType::Bool, kName, ": mask_mod: expected bools, got ",
             mask.describe());
    changed = where_ScalarOther(mask, changed, none);
  }
  const Tensor output = matmul(
      to_dtype(_safe_softmax(changed, -1, std::nullopt), query.dtype(), false, false, std::nullopt),
      value);
  return {output, logsumexp(changed, {-1}), amax(changed, {-1})};
}

}  // namespace

const higher_order::BaseHop& flex_attention_hop() {
  static const auto* const hop =
      new higher_order::BaseHop({.name = "flex_attention",
                                 .parameters = {"attention", "operands", "scale"},
                                 .function = 0,
                                 .operands = 1,
                                 .graph_name = "flex_attention_graph",
                                 .check = check_scale});
  return *hop;
}

FlexAttentionResults flex_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    FlexAttentionOptions options) {
  check_inputs(query, key, value, options.enable_gqa);
  const DeviceType device = query.device().type;
  if (is_autocast_available(device) && is_autocast_enabled(device) &&
      query.dtype() != DType::Float64) {
    const DType low = autocast_dtype(device);
    const AutocastGuard off(to_string(device), std::nullopt, /*enabled=*/false);
    return flex_attention(to_dtype(query, low, false, false, std::nullopt),
                          to_dtype(key, low, false, false, std::nullopt),
                          to_dtype(value, low, false, false, std::nullopt), std::move(options));
  }
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(query.size(3))));
  const auto attention = [scale, options = std::move(options)](const std::vector<Tensor>& in) {
    return attend(in.at(0), in.at(1), in.at(2), scale, options);
  };
  const std::vector<Tensor> results = flex_attention_hop()(
      tensor_callable(str_cat(kName, ": attention"), attention), {query, key, value}, {scale});
  return {results.at(0), results.at(1), results.at(2)};
}

namespace {
// So that it is found by its name from the start.
[[maybe_unused]] const auto& flex_attention_at_start = flex_attention_hop();
}  // namespace

}  // namespace sb
