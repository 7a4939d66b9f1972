// How long a collective takes, by the alpha-beta model: a step costs the latency, and its bytes at
// the link's rate.

#ifndef SWITCHBOARD_DISTRIBUTED_PLAN_LINK_MODEL_H_
#define SWITCHBOARD_DISTRIBUTED_PLAN_LINK_MODEL_H_

#include "switchboard/distributed/plan/traffic.h"

namespace sb {

struct Link {
  double bytes_per_second;
  double latency = 5e-6;  // seconds
};

// For n ranks, B bytes that go in, a = latency and b = seconds a byte, h = log2(n) rounded up:
//
//                   ring                   tree
//   all_reduce      2 (n-1) (a + bB/n)     2 h (a + bB)
//   all_gather      (n-1) (a + bB)         h a + (n-1) bB
//   reduce_scatter  (n-1) (a + bB/n)       h a + (n-1) bB/n
//   all_to_all      (n-1) (a + bB/n)       h (a + bB/2)
//   broadcast       2 (n-1) (a + bB/n)     h (a + bB)
//   message         a + bB                 a + bB
//
// Every rank sends and receives at once over a link of its own. No time is counted for arithmetic.
double ring_seconds(const PlannedCall& call, const Link& link);
double tree_seconds(const PlannedCall& call, const Link& link);

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_PLAN_LINK_MODEL_H_
