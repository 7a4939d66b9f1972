// Ranks that part, fail, end or wait in a circle: an error that names who did what where, on all of
// them, and no hang. And arguments that do not fit.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/distributed/device_mesh.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/operators.h"
#include "switchboard/distributed/testing/ranks.h"
#include "switchboard/distributed/world.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Contains;
using test::error_of, test::on_ranks;
namespace c10d = c10d_functional;

std::string here(int line) { return str_cat(" at ", __FILE__, ":", line); }

// The error of each rank.
std::vector<std::string> errors_on(int64_t size, const std::function<void(int64_t)>& program) {
  return on_ranks<std::string>(size,
                               [&](int64_t rank) { return error_of([&] { program(rank); }); });
}

TEST_CASE(
    "other operators, reductions, dtypes or sizes are an error on all ranks, with the lines") {
  const int line = __LINE__ + 3;
  const std::string all = "DistError: the ranks of group '0' part: ";
  const auto parted = [&](int64_t r) {
    r == 1 ? all_reduce(ones({2}), "max") : all_reduce(ones({2}), "sum");
  };
  for (const std::string& error : errors_on(3, parted))
    CHECK(error == str_cat(all,
                           "ranks 0, 2: call 1 of group '0', _c10d_functional::all_reduce("
                           "float32[2], sum)",
                           here(line),
                           "; rank 1: call 1 of group '0', "
                           "_c10d_functional::all_reduce(float32[2], max)",
                           here(line)));
  for (const std::string& error : errors_on(
           2, [](int64_t r) { r == 0 ? all_reduce(ones({2}), "sum") : broadcast(ones({2}), 0); })) {
    CHECK_THAT(error, Contains("rank 0: call 1 of group '0', _c10d_functional::all_reduce("));
    CHECK_THAT(error, Contains("rank 1: call 1 of group '0', _c10d_functional::broadcast("));
  }
  for (const std::string& error : errors_on(2, [](int64_t r) {
         all_reduce(ones({2}, r == 0 ? DType::Float32 : DType::Float64), "sum");
       }))
    CHECK_THAT(error, Contains("(float32[2], sum)") && Contains("(float64[2], sum)"));
  for (const std::string& error :
       errors_on(4, [](int64_t r) { all_gather_tensor(ones({r == 3 ? 3 : 2}), 0); }))
    CHECK_THAT(error, Contains("ranks 0, 1, 2: call 1") && Contains("rank 3: call 1") &&
                          Contains("(float32[3])"));
}

TEST_CASE("another order of the same calls is found at the first that parts") {
  for (const std::string& error : errors_on(2, [](int64_t r) {
         const Tensor x = ones({2}), y = ones({3});
         all_reduce(x, "sum");
         all_reduce(r == 0 ? x : y, "sum");
         all_reduce(r == 0 ? y : x, "sum");
       }))
    CHECK_THAT(error, Contains("rank 0: call 2 of group '0'") && Contains("rank 1: call 2"));
}

TEST_CASE("a rank that makes a call more finds the others ended") {
  const std::string error = error_of([] {
    run_ranks(3, [] {
      all_reduce(ones({1}), "sum");
      if (get_rank() == 2) all_reduce(ones({1}), "sum");
    });
  });
  CHECK_THAT(error, Contains("rank 2: call 2 of group '0'") &&
                        Contains("no rank can go on: rank 0 has ended; rank 1 has ended; rank 2 "
                                 "waits in call 2 of group '0'") &&
                        Contains("for ranks 0, 1"));
}

TEST_CASE("a rank's own error is what the program throws, and ends the waits of the others") {
  std::vector<std::string> errors(3);
  const std::string error = error_of([&] {
    run_ranks(3, [&] {
      const size_t rank = static_cast<size_t>(get_rank());
      if (rank == 1) SB_THROW(IndexError, "nothing there");
      errors[rank] = error_of([] { all_reduce(ones({1}), "sum"); });
    });
  });
  CHECK(error == "IndexError: rank 1: nothing there");
  CHECK_THAT(errors[0], Contains("DistError: call 1 of group '0'") &&
                            Contains("rank 1 failed: nothing there"));
  CHECK_THAT(errors[2], Contains("rank 1 failed: nothing there"));
}

TEST_CASE("two groups that wait for each other are named at once") {
  const std::string error = error_of([] {
    run_ranks(2, [] {
      const GroupPtr a = new_group({0, 1}, "a"), b = new_group({0, 1}, "b");
      all_reduce(ones({1}), "sum", get_rank() == 0 ? a : b);
      all_reduce(ones({1}), "sum", get_rank() == 0 ? b : a);
    });
  });
  CHECK_THAT(error, Contains("no rank can go on: rank 0 waits in call 1 of group 'a'") &&
                        Contains("for rank 1; rank 1 waits in call 1 of group 'b'"));
}

TEST_CASE("a message that nobody sends, and one of another shape") {
  CHECK_THAT(error_of([] {
               run_ranks(2, [] {
                 if (get_rank() == 0) receive(empty({2}), 1, 7);
               });
             }),
             Contains("receives float32[2] with tag 7 in group '0' from rank 1") &&
                 Contains("rank 1 has ended"));
  const int line = __LINE__ + 2;
  const auto mismatch = [] {
    run_ranks(2, [] { get_rank() == 0 ? receive(empty({2}), 1) : send(ones({3}), 0); });
  };
  CHECK_THAT(error_of(mismatch),
             Contains("rank 0 of group '0': receives float32[2]") &&
                 Contains(str_cat("which sends float32[3] with tag 0 in group '0'", here(line))));
}

// Two ranks that agree about every call, and whose data never comes.
class LosesData final : public Engine {
 public:
  std::string_view name() const override { return "loses"; }
  int64_t rank() const override { return 0; }
  int64_t size() const override { return 2; }
  double timeout() const override { return 1; }
  void exchange(const Meeting&, absl::Span<const ConstBytes> sends,
                absl::Span<const Bytes> receives) override {
    if (++exchanges_ % 2 == 0) SB_THROW(DistError, "lost");
    for (size_t i = 0; i < sends.size(); ++i)
      std::copy(sends[i].begin(), sends[i].end(), receives[i].begin());
  }
  void send(int64_t, int64_t, ConstBytes) override {}
  void receive(int64_t, int64_t, Bytes, const Meeting&) override {}
  void fail(std::string_view) noexcept override {}

 private:
  int exchanges_ = 0;
};

TEST_CASE("memory that an engine may still write to is never freed") {
  World world(std::make_shared<LosesData>());
  const WorldGuard guard(&world);
  for (const int64_t numel : {100, 1'000'000}) {
    Tensor x = ones({numel}), gathered = empty({2 * numel});
    const WeakIntrusivePtr<StorageImpl> reduced(x.storage().get()), out(gathered.storage().get());
    CHECK_THAT(error_of([&] { all_reduce_(x, "sum"); }), Contains("lost"));
    CHECK_THAT(error_of([&] { c10d::all_gather_into_tensor_out(x, 2, "0", gathered); }),
               Contains("lost"));
    x = gathered = Tensor();
    CHECK_FALSE(reduced.expired());
    CHECK_FALSE(out.expired());
  }
}

TEST_CASE("a rank that computes too long is named when the time is over") {
  const auto begin = std::chrono::steady_clock::now();
  const std::string error = error_of([] {
    run_ranks(2,
              [] {
                if (get_rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(600));
                all_reduce(ones({1}), "sum");
              },
              {.timeout = 0.1});
  });
  CHECK_THAT(error, Contains("nobody came in 0.1 s: rank 0 waits in call 1 of group '0'") &&
                        Contains("for rank 1; rank 1 computes"));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
}

TEST_CASE("rows that are sent and taken agree, or all ranks say who does not") {
  for (const std::string& error : errors_on(2, [](int64_t r) {
         const std::vector<int64_t> sends = {1, 2}, takes = {r == 0 ? 1 : 3, r == 0 ? 1 : 2};
         all_to_all_single(ones({3}), IntArrayRef(takes), IntArrayRef(sends));
       }))
    CHECK_THAT(error, Contains("rank 0 sends 2 rows to rank 1, which expects 3"));
}

TEST_CASE("arguments that do not fit name rank, operator and shapes") {
  const auto error_on_1 = [](const std::function<void()>& f) {
    return errors_on(2, [&](int64_t r) {
      if (r == 1) f();
    })[1];
  };
  const std::string blame = "rank 1 of group '0': ";
  const auto starts = [&](std::string_view kind, std::string_view op) {
    return Catch::StartsWith(str_cat(kind, ": _c10d_functional::", op, ": ", blame));
  };
  const std::string odd = error_on_1([] { c10d::reduce_scatter_tensor(ones({3}), "sum", 2, "0"); });
  CHECK_THAT(odd, starts("RuntimeError", "reduce_scatter_tensor"));
  CHECK_THAT(odd, Contains("expected a first dimension that 2 ranks can divide, got float32[3]"));
  CHECK_THAT(error_on_1([] { c10d::reduce_scatter_tensor(ones({}), "sum", 2, "0"); }),
             Contains("expected a tensor with a dimension to divide, got float32[]"));
  CHECK_THAT(error_on_1([] { c10d::all_gather_into_tensor(ones({3}), 3, "0"); }),
             Contains("group_size is 3, and the group has 2 ranks"));
  const std::string strided = error_on_1([] { c10d::all_reduce_(t(ones({2, 3})), "sum", "0"); });
  CHECK_THAT(strided, starts("RuntimeError", "all_reduce_"));
  CHECK_THAT(strided, Contains("expected contiguous memory to write to, got float32[3, 2]"));
  CHECK_THAT(error_on_1([] {
               c10d::broadcast_(t(ones({2, 3})), 0, "0");
             }),
             Contains("expected contiguous memory"));
  CHECK_THAT(error_on_1([] { c10d::broadcast(ones({1}), 2, "0"); }),
             Contains("expected src from 0 to 1, got 2"));
  CHECK_THAT(error_on_1([] { c10d::all_gather_into_tensor_out(ones({3}), 2, "0", empty({5})); }),
             Contains("expected out to be float32[6] on cpu, got float32[5] on cpu"));
  CHECK_THAT(error_on_1([] {
               c10d::all_to_all_single(ones({3}), {1, 1}, {1, 1}, "0");
             }),
             Contains("input_split_sizes that make up dimension 0 of float32[3] on cpu, got 2"));
  CHECK_THAT(error_on_1([] { c10d::all_to_all_single(ones({3}), {1}, {3}, "0"); }),
             Contains("expected 2 input_split_sizes, one for each rank, got 1"));
  CHECK_THAT(error_on_1([] {
               dtensor::shard_dim_alltoall(ones({2, 3}), 0, 1, "0");
             }),
             Contains("expected dimension 1 to be one that 2 ranks can divide, got float32[2, 3]"));
}

TEST_CASE("a reduction that a dtype does not have is refused, and a name that is none") {
  const auto error = [](DType dtype, std::string_view op) {
    return errors_on(1, [&](int64_t) { all_reduce(ones({1}, dtype), op); })[0];
  };
  const std::string blame = "_c10d_functional::all_reduce: rank 0 of group '0': ";
  CHECK(error(DType::Int64, "avg") ==
        str_cat("TypeError: ", blame, "reduction 'avg' is not for int64"));
  CHECK(error(DType::Complex64, "max") ==
        str_cat("TypeError: ", blame, "reduction 'max' is not for complex64"));
  CHECK(error(DType::Float32, "bor") ==
        str_cat("TypeError: ", blame, "reduction 'bor' is not for float32"));
  CHECK(error(DType::Float32, "SUM") ==
        str_cat("RuntimeError: ", blame,
                "expected sum, avg, product, min, max, band, bor or bxor as reduction, got 'SUM'"));
}

TEST_CASE("groups are known, and have this rank in them") {
  CHECK_THAT(error_of([] { c10d::all_reduce(ones({1}), "sum", "0"); }),
             Contains("no ranks were started on this thread"));
  CHECK_THAT(errors_on(1, [](int64_t) { all_reduce(ones({1}), "sum", "other"); })[0],
             Contains("expected a group or the name of one, got 'other'"));
  CHECK_THAT(errors_on(2,
                       [](int64_t r) {
                         const GroupPtr first = new_group({0});
                         if (r == 1) all_reduce(ones({1}), "sum", first);
                       })[1],
             Contains("rank 1 of group 'ranks 0' is not in it: it has ranks 0"));
  CHECK(errors_on(2, [](int64_t) {
          new_group({0, 2});
        })[0] == "ValueError: new_group: expected ranks from 0 to 1, got 0,2");
  CHECK(errors_on(2, [](int64_t) {
          new_group({0, 0});
        })[0] == "ValueError: new_group: rank 0 occurs twice in 0,0");
  CHECK(errors_on(2, [](int64_t) {
          new_group({0}, "a");
          new_group({1}, "a");
        })[0] == "ValueError: new_group: 'a' is the name of ranks 0 already, and not of 1");
  CHECK(errors_on(2, [](int64_t) {
          DeviceMesh({{"data", 3}});
        })[0] == "ValueError: DeviceMesh: the sizes make up 3 ranks, and the group has 2");
  CHECK(error_of([] { run_ranks(0, [] {}); }) ==
        "ValueError: run_ranks: expected at least one rank, got 0");
}

}  // namespace
}  // namespace sb
