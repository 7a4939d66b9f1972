// A call goes to one slot: that of the highest functionality among its keys. If that functionality
// exists once a backend, the highest backend among the keys completes the slot's name.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("the highest functionality decides, whatever the order of the arguments") {
  Recorder f;
  f.ends_at({K::CPU, K::SparseCPU, K::AutogradCPU, K::Tracer});
  CHECK(f.call({K::CPU}) == Log{"CPU"});
  CHECK(f.call({K::SparseCPU, K::CPU}) == Log{"SparseCPU"});
  CHECK(f.call({K::CPU, K::AutogradCPU, K::SparseCPU}) == Log{"AutogradCPU"});
  CHECK(f.call({K::AutogradCPU, K::Tracer, K::CPU}) == Log{"Tracer"});
}

TEST_CASE("among backends the highest decides, and Meta is above them all") {
  Recorder f;
  f.ends_at({K::CPU, K::CUDA, K::Meta, K::PrivateUse1});
  CHECK(f.call({K::CUDA, K::CPU}) == Log{"CUDA"});
  CHECK(f.call({K::CUDA, K::Meta, K::CPU}) == Log{"Meta"});
  CHECK(f.call({K::PrivateUse1, K::CUDA}) == Log{"PrivateUse1"});
  CHECK(f.call({K::PrivateUse1, K::Meta}) == Log{"Meta"});
}

TEST_CASE("a functionality without backends takes no notice of them") {
  Recorder f;
  f.ends_at({K::Tracer, K::FPGA});
  CHECK(f.call({K::Tracer, K::CUDA}) == Log{"Tracer"});
  CHECK(f.call({K::FPGA, K::CPU}) == Log{"FPGA"});
}

}  // namespace
}  // namespace sb
