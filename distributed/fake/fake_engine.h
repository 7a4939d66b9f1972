// Ranks that are not there: for programs on fake tensors, which ask how many ranks there are and
// which one they are, and send nothing.
//
//   World world(fake_engine(/*rank=*/3, /*size=*/1024));
//   WorldGuard guard(&world);
//   FakeTensorMode fake;
//   all_gather_tensor(fake.from_tensor(x), 0);  // 1024 times as many rows

#ifndef SWITCHBOARD_DISTRIBUTED_FAKE_FAKE_ENGINE_H_
#define SWITCHBOARD_DISTRIBUTED_FAKE_FAKE_ENGINE_H_

#include <cstdint>
#include <memory>

#include "switchboard/distributed/engine.h"

namespace sb {

// Collectives give fake tensors of the right shapes, and refuse real ones: their values would be
// wrong. ValueError for a rank that is not one of `size`.
std::shared_ptr<Engine> fake_engine(int64_t rank, int64_t size);

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_FAKE_FAKE_ENGINE_H_
