#include "switchboard/custom_ops/register_autocast.h"

#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"

namespace sb {
namespace {

using Catch::Contains;

Tensor of(DType dtype) { return ones({2}, TensorOptions(dtype, Device("cpu"))); }

// Notes what it was given.
struct Probe {
  std::vector<DType> seen;
  bool enabled = false;
  CustomOp op = custom_op("autocast_test::probe", "(Tensor x, Tensor[] ys) -> Tensor",
                          [this](const Tensor& x, TensorList ys) {
                            seen = {x.dtype()};
                            for (const Tensor& y : ys) seen.push_back(y.dtype());
                            enabled = is_autocast_enabled(DeviceType::CPU);
                            return clone(x);
                          });
  std::vector<DType> run(DType x, std::vector<Tensor> ys = {}) {
    op(of(x), ys);
    return seen;
  }
};
using DTypes = std::vector<DType>;

TEST_CASE("under autocast an operator gets its tensors in the dtype that was registered") {
  Probe probe;
  probe.op.register_autocast("cpu", DType::BFloat16);
  CHECK(probe.run(DType::Float32) == DTypes{DType::Float32});
  const AutocastGuard autocast("cpu", DType::Float16);
  CHECK(probe.run(DType::Float32, {of(DType::Float16), of(DType::Float64), of(DType::Int64)}) ==
        DTypes{DType::BFloat16, DType::BFloat16, DType::Float64, DType::Int64});
  CHECK_FALSE(probe.enabled);  // it runs with autocast off
  CHECK(is_autocast_enabled(DeviceType::CPU));
}

TEST_CASE("the newest registration counts, and one by name goes with its handle") {
  Probe probe;
  const AutocastGuard autocast("cpu");
  {
    const RegistrationHandle half =
        register_autocast("autocast_test::probe", "cpu", DType::Float16);
    CHECK(probe.run(DType::Float32) == DTypes{DType::Float16});
    Library lib(Library::Kind::Fragment, "autocast_test");
    register_autocast("autocast_test::probe", "cpu", DType::BFloat16, lib);
    CHECK(probe.run(DType::Float32) == DTypes{DType::BFloat16});
  }
  CHECK(probe.run(DType::Float32) == DTypes{DType::Float32});
}

TEST_CASE("tensors of other devices than the autocast's stay as they are") {
  Probe probe;
  probe.op.register_autocast("cuda", DType::Float16);
  const AutocastGuard autocast("cuda");
  CHECK(probe.run(DType::Float32) == DTypes{DType::Float32});
}

TEST_CASE("a write to a tensor that autocast would cast is refused, not lost") {
  const CustomOp op = custom_op("autocast_test::fill", "(Tensor(a!) x) -> ()", [](const Tensor&) {
                      }).register_autocast("cpu", DType::BFloat16);
  const AutocastGuard autocast("cpu");
  CHECK_NOTHROW(op.call<void>(of(DType::BFloat16)));
  CHECK_THROWS_WITH(op.call<void>(of(DType::Float32)),
                    Contains("autocast_test::fill: argument 'x' is written to"));
}

TEST_CASE("a device type without autocast is refused") {
  Probe probe;
  CHECK_THROWS_AS(probe.op.register_autocast("meta", DType::Float16), ValueError);
  CHECK_THROWS_WITH(probe.op.register_autocast("tpu", DType::Float16),
                    "autocast: expected a device type that has it, got 'tpu'");
}

}  // namespace
}  // namespace sb
