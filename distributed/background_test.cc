// Collectives with large results, which go on while the program does.

#include <cstdint>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/operators.h"
#include "switchboard/distributed/testing/ranks.h"
#include "switchboard/distributed/world.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/item.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Catch::Contains;
using test::error_of, test::on_ranks, test::tensors_on;
namespace c10d = c10d_functional;

// More bytes than a call that is made at once has.
constexpr int64_t kMany = 50'000;
constexpr int64_t kRows = kMany / 2;

Tensor numbers(int64_t rank) { return add_Scalar(arange(kMany, DType::Float32), rank); }
double at(const Tensor& t, int64_t i) { return item(select(view(t, {-1}), 0, i)).to<double>(); }

TEST_CASE("a rank goes on where the others have not come yet, up to the first read") {
  std::latch started(1);
  const std::vector<double> sums = on_ranks<double>(2, [&](int64_t r) {
    if (r == 1) started.wait();  // comes only after rank 0 has gone on
    const Tensor sum = all_reduce(numbers(r), "sum");
    if (r == 0) started.count_down();
    return at(sum, 3);
  });
  CHECK(sums == std::vector<double>{7, 7});
}

TEST_CASE("every collective with fresh results goes on so, and gives the same as at once") {
  const std::vector<std::string> texts = on_ranks<std::string>(3, [&](int64_t r) {
    const Tensor x = numbers(r), rows = view(narrow(x, 0, 0, 3 * (kRows / 3)), {3, -1});
    const Tensor avg = all_reduce(x, "avg");
    const Tensor all = all_gather_tensor(x, 0);
    const Tensor part = reduce_scatter_tensor(rows, "sum", 0);
    const Tensor parts = all_to_all_single(rows);
    const Tensor given = broadcast(x, 2);
    const std::vector<Tensor> pair = all_reduce_coalesced({x, narrow(x, 0, 0, 2)}, "max");
    return str_cat(at(avg, 5), " ", at(all, 2 * kMany), " ", at(part, 1), " ",
                   at(select(parts, 0, 1), 0), " ", at(given, 4), " ", at(pair[0], 0), " ",
                   at(pair[1], 1), " ", all.size(0));
  });
  const int64_t row = kRows / 3;
  for (int64_t r = 0; r < 3; ++r)
    CHECK(texts[static_cast<size_t>(r)] == str_cat(6, " ", 2, " ", 3 * (r * row + 1) + 3, " ",
                                                   r * row + 1, " ", 6, " ", 2, " ", 3, " ",
                                                   3 * kMany));
}

TEST_CASE("what is written to an argument afterwards is not part of the call") {
  std::latch written(1);
  const std::vector<double> firsts = on_ranks<double>(2, [&](int64_t r) {
    if (r == 1) written.wait();
    const Tensor x = numbers(r);
    const Tensor all = all_gather_tensor(x, 0), part = reduce_scatter_tensor(x, "sum", 0);
    zero_(x);
    if (r == 0) written.count_down();
    return at(all, 1) + at(part, 0);
  });
  CHECK(firsts == std::vector<double>{1 + 1, 1 + 2 * kRows + 1});
}

TEST_CASE("calls of a rank come in their order, large or small") {
  for (const std::vector<double>& values :
       on_ranks<std::vector<double>>(2, [](int64_t r) -> std::vector<double> {
         const Tensor first = all_reduce(numbers(r), "sum");
         const Tensor small = all_reduce(full({1}, r + 1), "sum");
         const Tensor second = all_reduce(mul_Scalar(numbers(r), 2), "sum");
         r == 0 ? send(full({1}, 5), 1) : receive(small, 0);
         barrier();
         return {at(second, 1), at(first, 1)};
       }))
    CHECK(values == std::vector<double>{6, 3});
}

TEST_CASE("views, writes, new shapes and derivatives wait for the result") {
  for (const std::vector<double>& values :
       on_ranks<std::vector<double>>(2, [](int64_t r) -> std::vector<double> {
         const Tensor viewed = view(all_reduce(numbers(r), "sum"), {2, kRows});
         const Tensor written = all_reduce(numbers(r), "sum");
         add_(written, ones({1}));
         const Tensor grown = all_reduce(numbers(r), "sum");
         resize_(grown, {kMany + 1});
         const Tensor x = numbers(r);
         set_requires_grad(x);
         backward(sum(mul(all_reduce(x, "sum"), x)));
         return {at(viewed, kRows), at(written, 1), at(grown, 2), at(grad_of(x), 1)};
       }))
    CHECK(values[0] + values[1] + values[2] == 2 * kRows + 1 + 4 + 5);
}

TEST_CASE("a result whose memory was given back has none, and not the memory that it had") {
  for (const bool none : on_ranks<bool>(2, [](int64_t r) {
         const Tensor read = all_reduce(numbers(r), "sum"), unread = all_reduce(read, "max");
         read.storage()->resize(0);
         unread.storage()->resize(0);
         return !read.storage()->data() && !unread.storage()->data();
       }))
    CHECK(none);
}

TEST_CASE("reduce_scatter's out may overlap what it reduces in part") {
  for (const double value : on_ranks<double>(2, [](int64_t r) {
         const Tensor memory = numbers(r);
         c10d::reduce_scatter_tensor_out(memory, "sum", 2, "0", narrow(memory, 0, 1, kRows));
         return at(memory, 1);
       }))
    CHECK((value == 1 || value == 2 * kRows + 1));
}

TEST_CASE("two threads may read a result first") {
  tensors_on(2, [](int64_t r) {
    const Tensor sum = all_reduce(numbers(r), "sum");
    double first = 0, second = 0;
    std::thread other([&] { first = static_cast<const float*>(sum.data_ptr())[1]; });
    second = static_cast<const float*>(sum.data_ptr())[1];
    other.join();
    if (first != 3 || second != 3) throw std::logic_error("read too early");
    return sum;
  });
}

TEST_CASE("inference tensors are filled in the background, too") {
  for (const Tensor& t : tensors_on(2, [](int64_t r) {
         const InferenceModeGuard inference;
         return all_reduce(numbers(r), "sum");
       })) {
    CHECK(t.impl()->is_inference());
    CHECK(at(t, 1) == 3);
  }
}

TEST_CASE("an error of the call comes at each read, names the line, and the rank goes on after") {
  const int line = __LINE__ + 3;
  const auto errors = on_ranks<std::string>(2, [](int64_t r) {
    std::string text;
    const Tensor sum = all_reduce(numbers(r), r == 0 ? "sum" : "max");
    for (int i = 0; i < 2; ++i) text += error_of([&] { sum.data_ptr(); }) + "\n";
    return text + str_cat(at(all_reduce(full({1}, 1), "sum"), 0));
  });
  for (const std::string& text : errors) {
    const std::string once = text.substr(0, text.find('\n'));
    CHECK_THAT(once, Contains("DistError: the ranks of group '0' part: rank 0: call 1 of group "
                              "'0', _c10d_functional::all_reduce(float32[50000], sum)") &&
                         Contains(str_cat(" at ", __FILE__, ":", line)));
    CHECK(text == str_cat(once, "\n", once, "\n2"));
  }
}

TEST_CASE("a call whose argument is a result that failed does not count") {
  for (const std::string& text : on_ranks<std::string>(2, [](int64_t r) {
         const Tensor sum = all_reduce(numbers(r), r == 0 ? "sum" : "max");
         const std::string error = error_of([&] { all_gather_tensor(sum, 0); });
         const GroupPtr group = world().group();
         return str_cat(error.substr(0, 9), " ", group->calls());
       }))
    CHECK(text == "DistError 1");
}

TEST_CASE("an error that nobody reads is one of the next call, or of the program's end") {
  CHECK_THAT(error_of([] {
               run_ranks(2, [] { all_reduce(numbers(0), get_rank() == 0 ? "sum" : "max"); });
             }),
             Contains("DistError: rank 0: the ranks of group '0' part"));
  for (const std::string& error : on_ranks<std::string>(2, [](int64_t r) {
         all_reduce(numbers(r), r == 0 ? "sum" : "max");
         return error_of([] { barrier(); });
       }))
    CHECK_THAT(error, Contains("float32[50000], max"));
}

TEST_CASE("a rank that fails ends what it has in the background, and that of others") {
  for (const int64_t failing : {0, 1}) {
    const std::string error = error_of([&] {
      run_ranks(2, [&] {
        const int64_t r = get_rank();
        Tensor sum;
        if (r == 0) sum = all_reduce(numbers(r), "sum");
        if (r == failing) throw RuntimeError("had enough");
        r == 0 ? void(at(sum, 0)) : barrier();
      });
    });
    CHECK(error == str_cat("RuntimeError: rank ", failing, ": had enough"));
  }
}

TEST_CASE("ranks whose calls in the background nobody will meet are told at once") {
  const std::string error = error_of([] {
    run_ranks(2, [] {
      if (get_rank() == 0) at(all_reduce(numbers(0), "sum"), 0);
    });
  });
  CHECK_THAT(error, Contains("no rank can go on: rank 0 waits in call 1 of group '0'") &&
                        Contains("rank 1 has ended"));
}

}  // namespace
}  // namespace sb
