#include "switchboard/dispatch/modes/logging_mode.h"

#include "catch2/catch.hpp"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/test_tensors.h"

namespace sb {
namespace {

SB_OP(join, "logged::join(Tensor x, Tensor y, *, Scalar alpha=1, str? mode=None) -> Tensor");
SB_OP(both, "logged::both(Tensor[] xs, Tensor? y=None) -> (Tensor, Tensor[])");
SB_OP(show, "logged::show(Tensor x) -> ()");
SB_OP(fail, "logged::fail(Tensor x) -> Tensor");
SB_OP(inc_, "logged::inc_(Tensor(a!) x) -> Tensor(a!)");

Tensor fresh() { return empty_on(DeviceType::CPU, {2, 3}, DType::Float32); }

struct Ops {
  Ops() : library(Library::Kind::Def, "logged") {
    library.define(join);
    library.impl(join, DispatchKey::CPU,
                 [](const Tensor&, const Tensor&, const Scalar&, std::optional<std::string_view>) {
                   return fresh();
                 });
    library.define(both);
    library.impl(both, DispatchKey::CPU, [](TensorList xs, const std::optional<Tensor>&) {
      return std::make_tuple(fresh(), std::vector<Tensor>{xs[0], fresh()});
    });
    library.define(show);
    library.impl(show, DispatchKey::CPU, [](const Tensor&) {});
    library.define(fail);
    library.impl(fail, DispatchKey::CPU,
                 [](const Tensor&) -> Tensor { throw ValueError("no such value\nand more"); });
    library.define(inc_);
    library.impl(inc_, DispatchKey::CPU, [](const Tensor& x) { return x; });
  }
  Library library;
};

TEST_CASE("a line names results and arguments; a tensor keeps its number") {
  Ops ops;
  LoggingMode log;
  const Tensor x = fresh(), y = tensor_on(DeviceType::CPU);
  {
    ModeGuard guard(&log);
    const Tensor z = join(x, y);
    const Tensor copy = z;
    join(copy, x, 2, "fast");
    show(inc_(z));
    both(std::vector<Tensor>{x, y}, x);
    both(std::vector<Tensor>{y});
  }
  join(x, y);  // after the scope
  CHECK(log.to_string() ==
        "%2: float32[2, 3] = logged::join(%0: float32[2, 3], %1: float32[1])\n"
        "%3: float32[2, 3] = logged::join(%2, %0, alpha=2, mode='fast')\n"
        "%2: float32[2, 3] = logged::inc_(%2)\n"
        "logged::show(%2)\n"
        "%4: float32[2, 3], [%0: float32[2, 3], %5: float32[2, 3]] = "
        "logged::both([%0, %1], %0)\n"
        "%6: float32[2, 3], [%1: float32[1], %7: float32[2, 3]] = logged::both([%1])\n");
  log.clear();
  {
    ModeGuard guard(&log);
    show(y);
  }
  CHECK(log.lines() == std::vector<std::string>{"logged::show(%0: float32[1])"});
}

TEST_CASE("numbers made tensors are logged as numbers, undefined tensors as such") {
  Ops ops;
  LoggingMode log;
  const Tensor two = empty_on(DeviceType::CPU, {}, DType::Int64);
  *two.data<int64_t>() = 2;
  two.impl()->set_wrapped_number(true);
  ModeGuard guard(&log);
  join(two, Tensor());
  CHECK(log.lines()[0] == "%0: float32[2, 3] = logged::join(2, undefined)");
}

TEST_CASE("a call that throws is logged with its error, which goes on") {
  Ops ops;
  std::vector<std::string> lines;
  LoggingMode log([&](const std::string& line) { lines.push_back(line); });
  ModeGuard guard(&log);
  CHECK_THROWS_AS(fail(fresh()), ValueError);
  CHECK_THROWS_AS(join(tensor_on(DeviceType::Meta), fresh()), NotImplementedError);
  show(tensor_on(DeviceType::CPU));
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "logged::fail(%0: float32[2, 3]) threw ValueError: no such value");
  CHECK_THAT(lines[1], Catch::Contains("threw NotImplementedError: logged::join"));
  CHECK(lines[2].find("  ") == std::string::npos);  // depth is back at 0
  CHECK(log.lines().empty());
}

TEST_CASE("calls that a kernel makes under the same mode are indented before its own line") {
  Ops ops;
  LoggingMode log;
  ops.library.define("outer(Tensor x) -> ()");
  ops.library.impl("outer", DispatchKey::CPU, [&](const Tensor& x) {
    show(x);  // the mode is popped
    ModeGuard again(&log);
    show(x);
  });
  const OperatorHandle outer = default_dispatcher().find_op_or_throw("logged::outer");
  ModeGuard guard(&log);
  outer.call({fresh()});
  CHECK(log.to_string() == "  logged::show(%0)\nlogged::outer(%0: float32[2, 3])\n");
}

TEST_CASE("a number is never given again, though tensors go and their memory is used again") {
  Ops ops;
  LoggingMode log;
  ModeGuard guard(&log);
  for (int i = 0; i < 5000; ++i) show(fresh());
  CHECK(log.lines()[4999] == "logged::show(%4999: float32[2, 3])");
}

TEST_CASE("two logs on one stack see a call each") {
  Ops ops;
  LoggingMode a, b;
  ModeGuard first(&a), second(&b);
  show(fresh());
  CHECK(a.lines() == b.lines());
  CHECK(a.lines().size() == 1);
}

}  // namespace
}  // namespace sb
