#include "switchboard/transforms/higher_order/wrap_with_autocast.h"

#include <optional>
#include <string_view>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/ops/autocast/autocast.h"

namespace sb {
namespace {

constexpr std::string_view kName = "higher_order::wrap_with_autocast";

void check(const std::vector<IValue>& arguments) {
  SB_CHECK_TYPE(arguments[0].is_String(), kName, ": device_type: expected a string, got ",
                arguments[0].tag_name());
  SB_CHECK_TYPE(arguments[1].is_None() || arguments[1].is_DType(), kName,
                ": dtype: expected a dtype or None, got ", arguments[1].tag_name());
  for (const size_t i : {2, 3})
    SB_CHECK_TYPE(arguments[i].is_Bool(), kName, i == 2 ? ": enabled" : ": cache_enabled",
                  ": expected a bool, got ", arguments[i].tag_name());
}

void with_autocast(const std::vector<IValue>& arguments, absl::FunctionRef<void()> call) {
  std::optional<DType> dtype;
  if (!arguments[1].is_None()) dtype = arguments[1].to_dtype();
  std::optional<AutocastGuard> guard;
  try {
    guard.emplace(arguments[0].to_string_view(), dtype, arguments[2].to_bool());
  } catch (const Error& error) {
    rethrow_with_context(error, str_cat(kName, ": device_type or dtype: "));
  }
  call();
}

}  // namespace

const higher_order::BaseHop& wrap_with_autocast_hop() {
  static const auto* const hop = new higher_order::BaseHop(
      {.name = "wrap_with_autocast",
       .parameters = {"device_type", "dtype", "enabled", "cache_enabled", "wrapped_func", "args"},
       .function = 4,
       .operands = 5,
       .graph_name = "wrap_body",
       .check = check,
       .around = with_autocast});
  return *hop;
}

namespace {
// So that it is found by its name from the start.
[[maybe_unused]] const auto& autocast_at_start = wrap_with_autocast_hop();
}  // namespace

}  // namespace sb
