// What the second derivative of fused attention needs.

#ifndef SWITCHBOARD_OPS_ATTENTION_FLASH_BACKWARD_H_
#define SWITCHBOARD_OPS_ATTENTION_FLASH_BACKWARD_H_

#include <optional>

#include "switchboard/core/tensor.h"

namespace sb::internal {

// `logsumexp`, as fused attention gave it, computed of query and key by operators that have
// derivatives. 0 for a query that may look at nothing.
Tensor traceable_logsumexp(const Tensor& query, const Tensor& key, bool is_causal,
                           const std::optional<Tensor>& mask, std::optional<double> scale,
                           const Tensor& logsumexp);

}  // namespace sb::internal

#endif  // SWITCHBOARD_OPS_ATTENTION_FLASH_BACKWARD_H_
