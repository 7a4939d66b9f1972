#include "switchboard/io/recording/extract.h"

#include <algorithm>

#include "catch2/catch.hpp"
#include "switchboard/autograd/grad_mode.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/io/recording/test_support.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

namespace sb::io {
namespace {

RecordedRun run_of_many_kinds() {
  const Tensor x = rand({3, 4}), w = rand({40, 50});
  return record(
      [&] {
        for (int i = 0; i < 12; ++i) {
          const Tensor y = mul(add(x, t(contiguous(t(x))), 0.5), x);
          fill_(slice(y, 0, 0, 2), 2.5);
          sum(mul(w, w));
          mul(w, rand({1, 50}));  // the one has many elements, the other few
          copy_(empty({4, 3}), t(y));
          const NoGradGuard off;
          neg(arange(5));
          rand({2});
        }
      },
      {.elements = Elements::All});
}

TEST_CASE("Every call of a run of one and two inputs becomes a program of at most thirty lines",
          "[io][recording]") {
  const RecordedRun run = run_of_many_kinds();
  REQUIRE(run.events.size() > 200);
  for (uint32_t i = 0; i < run.events.size(); ++i) {
    INFO(to_string(run, run.events[i]));
    CHECK(holds_inputs(run, i));
    const Extract cpp = extract_cpp(run, i, "repro.bin");
    INFO(cpp.source);
    CHECK(std::count(cpp.source.begin(), cpp.source.end(), '\n') <= 30);
    CHECK(cpp.source.find(run.site(run.events[i]).op) != std::string::npos);
    CHECK(cpp.data.empty() == (cpp.source.find("repro.bin") == std::string::npos));
    CHECK_FALSE(extract_python(run, i, "repro.bin").source.empty());
  }
}

TEST_CASE("A small input stands in the source, with its strides and offset", "[io][recording]") {
  const Tensor x = view(arange(6), {2, 3});
  const RecordedRun run = record([&] { neg(select(x, 0, 1)); }, {.elements = Elements::Inputs});
  uint32_t call = 0;
  while (run.site(run.events[call]).op != "aten::neg") ++call;
  const std::string source = extract_cpp(run, call, "repro.bin").source;
  CHECK_THAT(source, Catch::Contains("bytes<int64_t>({3, 4, 5})"));
  CHECK_THAT(source, Catch::Contains("{3}, {1}, 0)"));
  const std::string python = extract_python(run, call, "repro.bin").source;
  CHECK_THAT(python, Catch::Contains("print(torch.ops.aten.neg.default(x0))"));
}

TEST_CASE("A program for PyTorch has lazy bits, numbers and fake tensors", "[io][recording]") {
  const auto python_of = [](const auto& program) {
    const RecordedRun run = record(program, {.elements = Elements::All});
    return extract_python(run, 0, "repro.bin").source;
  };
  const Tensor c = conj(full({2}, std::complex<double>(1, 2)));
  CHECK_THAT(python_of([&] { sin(c); }), Catch::Contains("x0 = s") && Catch::Contains(".conj()\n"));
  const Tensor x = ones({2}), negated = _neg_view(x), number = full({}, 2.5);
  number.impl()->set_wrapped_number(true);
  CHECK_THAT(python_of([&] { sin(negated); }), Catch::Contains("x0 = torch._neg_view(s"));
  CHECK_THAT(python_of([&] { mul(x, number); }), Catch::Contains(".item()\n"));
  FakeTensorMode mode;
  const Tensor fake = mode.from_tensor(x);
  CHECK_THAT(python_of([&] { sin(fake); }), Catch::Contains(".to('meta')\n"));
}

TEST_CASE("Inputs without elements are zeros, and the first line says so", "[io][recording]") {
  const Tensor x = ones({2});
  const RecordedRun run = record([&] { neg(x); });
  CHECK_FALSE(holds_inputs(run, 0));
  CHECK_THAT(extract_cpp(run, 0, "repro.bin").source,
             Catch::Contains("which does not hold all inputs: zeros"));
}

TEST_CASE("An operator that is not ATen's has no Python program", "[io][recording]") {
  RecordedRun run;
  run.sites.emplace_back().op = "demo::f";
  run.contexts.emplace_back();
  run.events.emplace_back();
  CHECK_THROWS_WITH(extract_python(run, 0, ""), "demo::f is no operator of PyTorch's");
}

}  // namespace
}  // namespace sb::io
