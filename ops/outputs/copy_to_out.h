// Gives `out` the result of an out= form that computes apart.

#ifndef SWITCHBOARD_OPS_OUTPUTS_COPY_TO_OUT_H_
#define SWITCHBOARD_OPS_OUTPUTS_COPY_TO_OUT_H_

#include <optional>
#include <string_view>
#include <utility>

#include "absl/types/span.h"
#include "switchboard/core/dispatch_key.h"
#include "switchboard/core/tensor.h"

namespace sb {

enum class OutDType : uint8_t {
  Any,    // the result is converted
  Exact,  // RuntimeError unless it is the result's
  Cast,   // RuntimeError unless the result's can be cast to it (can_cast)
};

// The demands of an out= form that copies on its `out`.
struct OutOptions {
  OutDType dtype = OutDType::Any;
  // An out of another shape gets the strides of the result, too; else it becomes contiguous.
  bool keep_strides = false;
  // The result is broadcast to out, which keeps its shape: RuntimeError where it does not fit.
  bool keep_shape = false;
  // The key of the form, if not CompositeImplicitAutograd for an operator that is composed, and at
  // CompositeExplicitAutograd for others.
  std::optional<DispatchKey> key = std::nullopt;
  // Throws for what the operator refuses, before all else.
  void (*check)(std::string_view op, const Tensor& result, const Tensor& out) = nullptr;
};
// As the out= kernels that PyTorch generates; as those that it wrote by hand and that convert; as
// those of its structured operators.
inline constexpr OutOptions kCopiedOut = {.dtype = OutDType::Exact};
inline constexpr OutOptions kConvertedOut = {};
inline constexpr OutOptions kStructuredOut = {.dtype = OutDType::Exact, .keep_strides = true};
inline constexpr OutOptions kCastOut = {.dtype = OutDType::Cast};

// A result and the out that is to have it.
using ResultAndOut = std::pair<Tensor, Tensor>;
// Gives each out the shape and elements of its result. Throws RuntimeError where an out is
// undefined, on another device, overlaps itself, cannot grow, or is not as the options say: then
// none has changed.
void copy_results_to_outs(std::string_view op, absl::Span<const ResultAndOut> pairs,
                          const OutOptions& options = {});
void copy_result_to_out(std::string_view op, const Tensor& result, const Tensor& out,
                        const OutOptions& options = {});
// Makes its checks only, those of growing the storage aside.
void check_result_fits_out(std::string_view op, const Tensor& result, const Tensor& out,
                           const OutOptions& options = {});

}  // namespace sb

#endif  // SWITCHBOARD_OPS_OUTPUTS_COPY_TO_OUT_H_
