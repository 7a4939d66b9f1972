// Describes how fake tensors differ from the real ones that they stand for.

#ifndef SWITCHBOARD_CUSTOM_OPS_OPCHECK_COMPARE_FAKES_H_
#define SWITCHBOARD_CUSTOM_OPS_OPCHECK_COMPARE_FAKES_H_

#include <optional>
#include <string>
#include <vector>

#include "switchboard/custom_ops/opcheck/checked_call.h"

namespace sb::internal {

// "result 0 has strides [2, 1], not [1, 3]", named as in `real`; "" where nothing differs. What of
// the fakes' sizes is a symbol counts as what it stands for; where nobody knows that, it does not
// count. The fakes are on `device`, or on the real tensors' own.
std::string differing_fakes(const std::vector<NamedTensor>& real,
                            const std::vector<NamedTensor>& fake, std::optional<Device> device);

}  // namespace sb::internal

#endif  // SWITCHBOARD_CUSTOM_OPS_OPCHECK_COMPARE_FAKES_H_
