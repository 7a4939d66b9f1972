// After rule 6, from PyTorch 2.x: FuncTorchBatchedDecomposition serves FuncTorchBatched alone.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("it serves FuncTorchBatched and no other key") {
  Recorder f;
  f.ends_at({K::FuncTorchBatchedDecomposition});
  CHECK(f.keys_by("batched kernel") == std::vector<K>{K::FuncTorchBatched});
  CHECK(f.call({K::FuncTorchBatched, K::CPU}) ==
        Log{"FuncTorchBatchedDecomposition for FuncTorchBatched"});
}

TEST_CASE("a kernel at FuncTorchBatched goes before it, and it before a fallback") {
  Recorder f;
  CHECK(f.rule(K::FuncTorchBatched) == "backend fallback");
  f.ends_at({K::FuncTorchBatchedDecomposition});
  CHECK(f.rule(K::FuncTorchBatched) == "batched kernel");
  f.ends_at({K::FuncTorchBatched});
  CHECK(f.rule(K::FuncTorchBatched) == "kernel");
}

}  // namespace
}  // namespace sb
