// A call begins with the union of the keys of all its tensors; which argument brought a key does
// not matter.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("keys of all arguments count alike") {
  Recorder f;
  f.ends_at({K::CPU, K::Meta});
  const Tensor cpu = tensor_on(DeviceType::CPU), meta = tensor_on(DeviceType::Meta);
  CHECK(f.call({std::vector<Tensor>{cpu}}) == Log{"CPU"});
  CHECK(f.call({std::vector<Tensor>{cpu, meta}}) == Log{"Meta"});
  CHECK(f.call({std::vector<Tensor>{meta, cpu}}) == Log{"Meta"});
  CHECK(f.call({std::vector<Tensor>{cpu}, meta}) == Log{"Meta"});
}

}  // namespace
}  // namespace sb
