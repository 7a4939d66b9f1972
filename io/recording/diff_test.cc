#include "switchboard/io/recording/diff.h"

#include <map>
#include <random>
#include <string>

#include "catch2/catch.hpp"
#include "switchboard/io/recording/call_tree.h"
#include "switchboard/io/recording/test_support.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"

namespace sb::io {
namespace {

using Cause = RunDifference::Cause;
using Kind = RecordedValue::Kind;

// A program of some hundred kernels, with a call less if asked for.
RecordedRun run_of(int skipped = -1) {
  const Tensor x = full({4, 5}, 0.5), w = full({5}, 2);
  return record(
      [&] {
        Tensor y = x;
        for (int i = 0; i < 12; ++i) {
          if (i == skipped) continue;
          y = mul(add(y, w, i), y);
          const Tensor z = empty({5, 4});
          copy_(z, t(y));
          y = clone(t(neg(z)));
        }
        sum(y);
      },
      {.elements = Elements::Hashes});
}

std::string text_of(const RecordedRun& a, const RecordedRun& b,
                    const RunDiffOptions& options = {}) {
  const auto difference = diff_runs(a, b, options);
  return difference ? to_string(a, b, *difference) : "";
}

TEST_CASE("Two recordings of one program do not differ", "[io][recording]") {
  const RecordedRun a = run_of();
  for (int i = 0; i < 20; ++i) CHECK(text_of(a, run_of()) == "");
}

TEST_CASE("A call that one of two runs leaves out is named", "[io][recording]") {
  const RecordedRun whole = run_of(), part = run_of(5);
  const auto missing = diff_runs(whole, part);
  REQUIRE(missing);
  CHECK(missing->cause == Cause::MissingCall);
  CHECK_THAT(to_string(whole, whole.events[missing->first]),
             Catch::StartsWith("aten::add.Tensor("));
  CHECK(missing->second == RecordedEvent::kNone);
  const auto added = diff_runs(part, whole);
  REQUIRE(added);
  CHECK(added->cause == Cause::AddedCall);
  CHECK(added->second == missing->first);
}

TEST_CASE("A call in the place of another is named with both", "[io][recording]") {
  const auto run_with = [](bool other) {
    const Tensor x = ones({2});
    return record([&] {
      neg(x);
      other ? exp(x) : add(x, x);
      neg(x);
      add(x, x);
    });
  };
  const RecordedRun a = run_with(false), b = run_with(true);
  const auto found = diff_runs(a, b);
  REQUIRE(found);
  CHECK(found->cause == Cause::OtherCall);
  CHECK(a.site(a.events[found->first]).op == "aten::add.Tensor");
  CHECK(b.site(b.events[found->second]).op == "aten::exp");
}

TEST_CASE("With a tolerance, numbers that both files have may differ by it", "[io][recording]") {
  const auto run_with = [](double by, Elements elements) {
    return record([&] { add(ones({2, 2}), full({}, by)); }, {.elements = elements});
  };
  const RunDiffOptions loose{.tolerance = 1e-3};
  const RecordedRun a = run_with(1, Elements::All), b = run_with(1.0001, Elements::All);
  CHECK(diff_runs(a, b));
  // The number itself is an argument, and is no element.
  const auto of_full = diff_runs(a, b, loose);
  REQUIRE(of_full);
  CHECK(a.site(a.events[of_full->first]).op == "aten::full");
  const Tensor x = ones({2, 2}), y = full({2, 2}, 1.0001), z = full({2, 2}, 1.1);
  const auto sum_with = [&](const Tensor& t, Elements elements) {
    return record([&] { add(x, t); }, {.elements = elements});
  };
  const RecordedRun with_x = sum_with(ones({2, 2}), Elements::All);
  CHECK(text_of(with_x, sum_with(y, Elements::All)) != "");
  CHECK(text_of(with_x, sum_with(y, Elements::All), loose) == "");
  CHECK_THAT(text_of(with_x, sum_with(z, Elements::All), loose),
             Catch::Contains("element [0, 0]: 1 and 1.1"));
  CHECK(text_of(with_x, sum_with(y, Elements::Hashes), loose) != "");
}

// Faults are put into a copy of a recording, where they are known to be. The call that is named
// must be the one.
class Faults {
 public:
  explicit Faults(const RecordedRun& run) : run_(run), calls_(run) {}

  // Another kernel at some key.
  RecordedRun other_kernel(uint32_t event) const {
    RecordedRun run = run_;
    RecordedSite site = run.site(run.events[event]);
    site.where = "ops/other.cc:1";
    run.events[event].site = static_cast<uint32_t>(run.sites.size());
    run.sites.push_back(site);
    return run;
  }
  // What the kernel of an event gave, and all that was given of it, have other bits. A caller's
  // result is its kernel's.
  RecordedRun other_bits(uint32_t event) const {
    return change_result(event, [](RecordedRun&, RecordedTensor& t) { t.hash ^= 1; });
  }
  RecordedRun other_stride(uint32_t event) const {
    return change_result(event, [](RecordedRun& run, RecordedTensor& t) {
      RecordedMeta meta = run.meta(t);
      if (meta.strides.empty()) meta.strides.push_back(1);
      ++meta.strides[0];
      t.meta = static_cast<uint32_t>(run.metas.size());
      run.metas.push_back(meta);
    });
  }
  // Without a call and all that its kernel called.
  RecordedRun skipped(uint32_t event) const {
    RecordedRun run = run_;
    std::vector<uint32_t> place(run_.events.size());
    std::vector<bool> gone(run_.events.size());
    run.events.clear();
    for (uint32_t i = 0; i < run_.events.size(); ++i) {
      RecordedEvent e = run_.events[i];
      gone[i] = i == event || (e.parent != RecordedEvent::kNone && gone[e.parent]);
      if (gone[i]) continue;
      place[i] = static_cast<uint32_t>(run.events.size());
      if (e.parent != RecordedEvent::kNone) e.parent = place[e.parent];
      run.events.push_back(e);
    }
    return run;
  }
  bool has_result(uint32_t event) const {
    const auto results = run_.results(run_.events[event]);
    return !results.empty() && results[0].kind == Kind::Tensor;
  }

 private:
  template <class F>
  RecordedRun change_result(uint32_t event, F&& change) const {
    RecordedRun run = run_;
    const uint64_t id = run.tensor(run.results(run.events[event])[0]).id;
    // Of the event's own result, and every later sight of the tensor.
    const uint64_t from = run.events[event].first_result;
    for (uint64_t v = from; v < run.values.size(); ++v)
      if (run.values[v].kind == Kind::Tensor && run.tensor(run.values[v]).id == id)
        change(run, run.tensors[run.values[v].index()]);
    return run;
  }

  const RecordedRun& run_;
  CallTree calls_;
};

TEST_CASE("Of a thousand faults each is found at the call that has it", "[io][recording]") {
  const RecordedRun run = run_of();
  const Faults faults(run);
  std::mt19937 random(1);
  std::map<Cause, int> causes;
  for (int placed = 0; placed < 1000;) {
    const uint32_t event = static_cast<uint32_t>(random() % run.events.size());
    const int kind = placed % 4;
    // What nobody wrote to has no bits of its own.
    if (kind == 1 && (!faults.has_result(event) ||
                      run.site(run.events[event]).op.find("empty") != std::string::npos))
      continue;
    if (kind == 2 && !faults.has_result(event)) continue;
    ++placed;
    const RecordedRun other = kind == 0   ? faults.other_kernel(event)
                              : kind == 1 ? faults.other_bits(event)
                              : kind == 2 ? faults.other_stride(event)
                                          : faults.skipped(event);
    const auto difference = diff_runs(run, other);
    REQUIRE(difference);
    ++causes[difference->cause];
    INFO("fault " << kind << " at call " << event << " " << to_string(run, run.events[event])
                  << "\nfound: " << to_string(run, other, *difference));
    CHECK(difference->first == event);
  }
  CHECK(causes[Cause::OtherKernel] == 250);
  CHECK(causes[Cause::OtherBits] == 250);
  CHECK(causes[Cause::OtherResult] == 250);
  CHECK(causes[Cause::MissingCall] == 250);
}

TEST_CASE("Runs on two devices are compared by the program's own calls", "[io][recording]") {
  const auto on = [](Device device) {
    return record([&] {
      const Tensor x = empty({2, 3}, TensorOptions(device));
      add(t(x), ones({2}, TensorOptions(device)));
    });
  };
  const RecordedRun cpu = on(Device("cpu")), meta = on(Device("meta"));
  CHECK(text_of(cpu, meta) != "");
  CHECK(text_of(cpu, meta, {.ignore_kernels = true, .ignore_devices = true}) == "");
}

}  // namespace
}  // namespace sb::io
