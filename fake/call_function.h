// Functions of higher-order operators in a fake mode.

#ifndef SWITCHBOARD_FAKE_CALL_FUNCTION_H_
#define SWITCHBOARD_FAKE_CALL_FUNCTION_H_

#include <vector>

#include "switchboard/fake/fake_mode.h"
#include "switchboard/transforms/control_flow/control_flow.h"

namespace sb::internal {

// What the function gives with the mode active. RuntimeError, naming it and the result, unless all
// of it is fake.
std::vector<Tensor> call_in(FakeMode& mode, const control_flow::FunctionArgument& function,
                            const std::vector<Tensor>& inputs);

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_CALL_FUNCTION_H_
