// For errors about a name that does not exist: those that somebody may have meant.

#ifndef SWITCHBOARD_DISPATCH_SCHEMA_NEAR_NAMES_H_
#define SWITCHBOARD_DISPATCH_SCHEMA_NEAR_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

namespace sb::internal {

// Those of `names` that differ from `wanted` by at most a third of its letters (inserted, left out
// or replaced; two at least) or begin with it; at most five, the nearest first.
std::vector<std::string> near_names(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_SCHEMA_NEAR_NAMES_H_
