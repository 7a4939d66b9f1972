// Who of a group says what, for errors.

#ifndef SWITCHBOARD_DISTRIBUTED_PARTIES_H_
#define SWITCHBOARD_DISTRIBUTED_PARTIES_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "switchboard/distributed/text_line.h"

namespace sb {

// "ranks 0, 2: call 1 ...; rank 1: call 2 ...", in the order of their first ranks: members with one
// `key` are together, and the first of them speaks for all. One key and one line for each member.
std::string describe_parties(absl::Span<const int64_t> members, absl::Span<const uint64_t> keys,
                             absl::Span<const TextLine> lines);

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_PARTIES_H_
