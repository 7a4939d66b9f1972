// What the cache of fake mode remembers, and what it does not.

#include <iostream>

#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/views.h"

using sb::Device, sb::Tensor;

int main() {
  // doc: begin
  const auto cache = sb::FakeDispatchCache::create();
  sb::FakeTensorMode fake({.cache_use = sb::FakeCacheUse::All, .cache = cache});
  const Tensor x = fake.from_tensor(sb::ones({2, 3}), Device("cuda:0"));
  const Tensor y = fake.from_tensor(sb::ones({2, 3}), Device("cuda:0"));
  sb::mul(x, y);
  sb::mul(y, x);                // the same metadata: a hit
  sb::mul(x, x);                // one storage, not two: another call
  sb::mul(sb::t(x), sb::t(y));  // other strides; of the two calls of t, the second is a hit
  sb::split(x, 1);              // gives a list

  const sb::FakeCacheInfo info = cache->info();
  std::cout << info.hits << " hits, " << info.misses << " misses, " << info.size << " entries\n";
  for (const auto& [reason, count] : info.bypasses) std::cout << reason << ": " << count << "\n";
  // doc: end
}
