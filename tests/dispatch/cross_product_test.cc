// A key set is functionalities times backends, not a list of keys: {SparseCPU, CUDA} is also
// {SparseCUDA, CPU}. So the slot that a call goes to may be one that no argument named.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("a SparseCPU tensor with a CUDA tensor runs the SparseCUDA slot") {
  Recorder f;
  f.ends_at({K::SparseCPU, K::CUDA, K::SparseCUDA});
  CHECK(f.call({std::vector<Tensor>{tensor_with(K::SparseCPU), tensor_with(K::CUDA)}}) ==
        Log{"SparseCUDA"});
}

TEST_CASE("one tensor with autograd makes it a call with autograd on the highest backend") {
  Recorder f;
  f.ends_at({K::AutogradCPU, K::AutogradMeta, K::Meta, K::CPU});
  CHECK(f.call({std::vector<Tensor>{tensor_with({K::CPU, K::AutogradCPU}),
                                    tensor_with(K::Meta)}}) == Log{"AutogradMeta"});
}

}  // namespace
}  // namespace sb
