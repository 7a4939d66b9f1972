// Replays of programs below layers, and with operators of all families.

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/memory/allocator.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/io/recording/replay.h"
#include "switchboard/io/recording/test_support.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/elementwise/clamp.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/normalization/layer_norm.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/functionalization/functionalize.h"
#include "switchboard/transforms/vmap/vmap.h"

namespace sb::io {
namespace {

TEST_CASE("A replay has the tensors that backward has saved and no call of the program gave",
          "[io][recording]") {
  const Tensor x = rand({3, 4});
  set_requires_grad(x);
  CHECK(replayed([&] {
          // What clamp_ compares in backward is a copy that its kernel has made.
          const Tensor y = mul(x, full({}, 2));
          clamp_(y, 0.25, 1);
          backward(sum(layer_norm(y, {4})));
        }) == "");
}

TEST_CASE("A replay has storages that are arguments", "[io][recording]") {
  const Tensor x = zeros({2}), source = rand({4});
  const Storage nothing = make_storage(0, get_allocator(DeviceType::CPU), DeviceType::CPU);
  const auto call = [](const std::string& op, const std::vector<IValue>& arguments) {
    default_dispatcher().find_op_or_throw(op).call(arguments);
  };
  CHECK(replayed([&] {
          call("aten::set_.source_Storage_storage_offset",
               {x, source.storage(), 0, std::vector<int64_t>{4}, std::vector<int64_t>{1}});
          neg(x);
          call("aten::set_.source_Storage", {x, nothing});
        }) == "");
}

TEST_CASE("What functionalisation and vmap made of calls is replayed below them",
          "[io][recording]") {
  const Tensor x = rand({4, 3});
  const auto program = [](const std::vector<Tensor>& in) {
    const Tensor y = mul(in[0], in[0]);
    fill_(select(y, 0, 1), 7);
    return std::vector<Tensor>{sum(y)};
  };
  CHECK(replayed([&] { functionalize(program)({x}); }) == "");
  CHECK(replayed([&] { vmap(program, {x}); }) == "");
}

}  // namespace
}  // namespace sb::io
