// What each collective gives on 1, 2, 3 and 4 ranks.

#include <cstdint>
#include <string_view>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/distributed/device_mesh.h"
#include "switchboard/distributed/functional_collectives.h"
#include "switchboard/distributed/operators.h"
#include "switchboard/distributed/testing/ranks.h"
#include "switchboard/distributed/world.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using test::on_ranks, test::sizes_of, test::Sizes, test::strides_of, test::tensor_of,
    test::tensors_on, test::values_of;
using Values = std::vector<double>;
namespace c10d = c10d_functional;

int64_t any_size() { return GENERATE(1, 2, 3, 4); }

// Rank r has [r + 1, 10 (r + 1)].
Tensor pair_of(int64_t rank, DType dtype = DType::Float32) {
  const double r = static_cast<double>(rank + 1);
  return tensor_of({2}, {r, 10 * r}, dtype);
}
double sum_to(int64_t n) { return static_cast<double>(n * (n + 1) / 2); }

TEST_CASE("all_reduce gives every rank the sum") {
  const int64_t n = any_size();
  for (const Tensor& t : tensors_on(n, [](int64_t r) { return all_reduce(pair_of(r), "sum"); }))
    CHECK(values_of(t) == Values{sum_to(n), 10 * sum_to(n)});
}

TEST_CASE("reductions are sum, avg, product, min, max, band, bor and bxor") {
  const auto reduced = [](std::string_view op, DType dtype) {
    return values_of(tensors_on(3, [&](int64_t r) {
      return all_reduce(tensor_of({1}, {static_cast<double>(r + 1)}, dtype), op);
    })[1]);
  };
  CHECK(reduced("sum", DType::Int32) == Values{6});
  CHECK(reduced("avg", DType::Float64) == Values{2});
  CHECK(reduced("product", DType::Int64) == Values{6});
  CHECK(reduced("min", DType::UInt8) == Values{1});
  CHECK(reduced("max", DType::Float16) == Values{3});
  CHECK(reduced("band", DType::Int32) == Values{0});
  CHECK(reduced("bor", DType::Int16) == Values{3});
  CHECK(reduced("bxor", DType::Int8) == Values{0});
}

TEST_CASE("every dtype is reduced and gathered") {
  const int64_t n = any_size();
  const DType dtype = GENERATE(DType::UInt8, DType::Int8, DType::Int16, DType::Int32, DType::Int64,
                               DType::Float16, DType::BFloat16, DType::Float32, DType::Float64,
                               DType::Complex64, DType::Complex128);
  for (const Tensor& t :
       tensors_on(n, [&](int64_t r) { return all_reduce(pair_of(r, dtype), "sum"); })) {
    CHECK(t.dtype() == dtype);
    CHECK(values_of(t) == Values{sum_to(n), 10 * sum_to(n)});
  }
  for (const Tensor& t :
       tensors_on(n, [&](int64_t r) { return all_gather_tensor(pair_of(r, dtype), 0); })) {
    CHECK(t.dtype() == dtype);
    CHECK(values_of(t)[static_cast<size_t>(2 * n - 1)] == 10 * static_cast<double>(n));
  }
}

TEST_CASE("bool is added as PyTorch adds it: any rank's true is true") {
  const std::vector<Tensor> sums = tensors_on(3, [](int64_t r) {
    return all_reduce(tensor_of({2}, {r == 1 ? 1.0 : 0.0, 0}, DType::Bool), "sum");
  });
  CHECK(values_of(sums[2]) == Values{1, 0});
}

TEST_CASE("large tensors are reduced in parts, small ones at once, to the same bits") {
  const int64_t n = any_size();
  // More than goes to everyone at once, and not divisible by any number of ranks above.
  const int64_t many = 12'007;
  const auto rank_values = [&](int64_t r) {
    return div(add_Scalar(arange(many, DType::Float32), 1),
               full({many}, static_cast<double>(3 * r + 7), DType::Float32));
  };
  const Tensor large =
      tensors_on(n, [&](int64_t r) { return all_reduce(rank_values(r), "sum"); })[0];
  const Tensor small = tensors_on(n, [&](int64_t r) {
    return all_reduce(narrow(rank_values(r), 0, many - 100, 100), "sum");
  })[0];
  CHECK(values_of(narrow(large, 0, many - 100, 100)) == values_of(small));
}

TEST_CASE("a reduction adds by a fixed tree, the same on all ranks") {
  // (1e8 + 1) + (-1e8 + 1) in float32: 1e8 + -1e8 = 0. From left to right it would be 1.
  const Values ranks = {1e8, 1, -1e8, 1};
  for (const Tensor& t : tensors_on(4, [&](int64_t r) {
         return all_reduce(tensor_of({}, {ranks[static_cast<size_t>(r)]}), "sum");
       }))
    CHECK(values_of(t) == Values{0});
}

TEST_CASE("all_reduce_ writes into the tensor, and returns it") {
  const int64_t n = any_size();
  for (const Tensor& t : tensors_on(n, [](int64_t r) {
         Tensor x = pair_of(r);
         const Tensor y = c10d::all_reduce_(x, "max", "0");
         return y.is_same(x) ? x : Tensor();
       }))
    CHECK(values_of(t) == Values{static_cast<double>(n), 10 * static_cast<double>(n)});
}

TEST_CASE("all_gather joins the ranks' tensors in their order") {
  const int64_t n = any_size();
  for (const Tensor& t :
       tensors_on(n, [](int64_t r) { return all_gather_tensor(pair_of(r), 0); })) {
    Values expected;
    for (int64_t r = 0; r < n; ++r) {
      expected.push_back(static_cast<double>(r + 1));
      expected.push_back(static_cast<double>(10 * (r + 1)));
    }
    CHECK(values_of(t) == expected);
  }
  const std::vector<Tensor> columns = tensors_on(2, [](int64_t r) {
    return all_gather_tensor(view(pair_of(r), {2, 1}), 1);
  });
  CHECK(values_of(columns[0]) == Values{1, 2, 10, 20});
}

TEST_CASE("gathered numbers make a vector") {
  const Tensor t = tensors_on(3, [](int64_t r) {
    return all_gather_tensor(tensor_of({}, {static_cast<double>(r)}), 0);
  })[2];
  CHECK(sizes_of(t) == Sizes{3});
  CHECK(values_of(t) == Values{0, 1, 2});
}

TEST_CASE("reduce_scatter gives each rank its part of the sum") {
  const int64_t n = any_size();
  const std::vector<Tensor> parts = tensors_on(n, [&](int64_t r) {
    const Tensor rows = add_Scalar(arange(2 * n, DType::Float32), r);
    return reduce_scatter_tensor(view(rows, {n, 2}), "sum", 0);
  });
  for (int64_t r = 0; r < n; ++r) {
    const Tensor& part = parts[static_cast<size_t>(r)];
    const double offset = sum_to(n - 1), rank = static_cast<double>(r),
                 size = static_cast<double>(n);
    CHECK(sizes_of(part) == Sizes{1, 2});
    CHECK(values_of(part) == Values{2 * rank * size + offset, (2 * rank + 1) * size + offset});
  }
  const Tensor column = tensors_on(2, [](int64_t r) {
    return reduce_scatter_tensor(view(add_Scalar(arange(4, DType::Float32), r), {2, 2}), "sum", 1);
  })[1];
  CHECK(values_of(column) == Values{3, 7});
}

TEST_CASE("all_to_all sends rows, as many as it is told") {
  const int64_t n = any_size();
  // Rank r sends r + 1 rows to every rank, each with its own number and the receiver's.
  const std::vector<Tensor> got = tensors_on(n, [&](int64_t r) {
    Values values;
    for (int64_t to = 0; to < n; ++to)
      for (int64_t i = 0; i <= r; ++i) values.push_back(static_cast<double>(10 * r + to));
    std::vector<int64_t> from(static_cast<size_t>(n));
    for (int64_t s = 0; s < n; ++s) from[static_cast<size_t>(s)] = s + 1;
    return all_to_all_single(tensor_of({(r + 1) * n}, values), IntArrayRef(from),
                             IntArrayRef(std::vector<int64_t>(static_cast<size_t>(n), r + 1)));
  });
  for (int64_t r = 0; r < n; ++r) {
    Values expected;
    for (int64_t from = 0; from < n; ++from)
      for (int64_t i = 0; i <= from; ++i) expected.push_back(static_cast<double>(10 * from + r));
    CHECK(values_of(got[static_cast<size_t>(r)]) == expected);
  }
}

TEST_CASE("broadcast gives every rank what one has") {
  const int64_t n = any_size();
  for (const Tensor& t : tensors_on(n, [&](int64_t r) { return broadcast(pair_of(r), n - 1); }))
    CHECK(values_of(t) == Values{static_cast<double>(n), 10 * static_cast<double>(n)});
  for (const Tensor& t : tensors_on(n, [](int64_t r) {
         const Tensor x = pair_of(r);
         broadcast_(x, 0);
         return x;
       }))
    CHECK(values_of(t) == Values{1, 10});
}

TEST_CASE("shard_dim_alltoall moves the sharding from one dimension to another") {
  // The whole is [[0, 1, 2, 3], [10, 11, 12, 13]]: first a row each, then two columns each.
  const std::vector<Tensor> got = tensors_on(2, [](int64_t r) {
    const Tensor row = view(add_Scalar(arange(4, DType::Float32), 10 * r), {1, 4});
    return dtensor::shard_dim_alltoall(row, 0, 1, "0");
  });
  CHECK(sizes_of(got[0]) == Sizes{2, 2});
  CHECK(values_of(got[0]) == Values{0, 1, 10, 11});
  CHECK(values_of(got[1]) == Values{2, 3, 12, 13});
}

TEST_CASE("coalesced forms take lists of tensors, of several dtypes and shapes") {
  const int64_t n = any_size();
  const auto inputs = [](int64_t r) {
    return std::vector<Tensor>{pair_of(r), view(pair_of(r, DType::Int64), {2, 1})};
  };
  for (const auto& list : on_ranks<std::vector<Tensor>>(
           n, [&](int64_t r) { return all_reduce_coalesced(inputs(r), "sum"); })) {
    REQUIRE(list.size() == 2);
    CHECK(values_of(list[0]) == Values{sum_to(n), 10 * sum_to(n)});
    CHECK(list[1].dtype() == DType::Int64);
    CHECK(sizes_of(list[1]) == Sizes{2, 1});
  }
  for (const auto& list : on_ranks<std::vector<Tensor>>(n, [&](int64_t r) {
         std::vector<Tensor> in_place = inputs(r);
         c10d::all_reduce_coalesced_(in_place, "sum", "0");
         return in_place;
       }))
    CHECK(values_of(list[1]) == Values{sum_to(n), 10 * sum_to(n)});
  for (const auto& list : on_ranks<std::vector<Tensor>>(
           n, [&](int64_t r) { return c10d::all_gather_into_tensor_coalesced(inputs(r), n, "0"); }))
    CHECK(sizes_of(list[1]) == Sizes{2 * n, 1});
  for (const auto& list : on_ranks<std::vector<Tensor>>(n, [&](int64_t) {
         return c10d::reduce_scatter_tensor_coalesced({ones({2 * n}), ones({n, 3}, DType::Int32)},
                                                      "sum", n, "0");
       })) {
    CHECK(values_of(list[0]) == Values{static_cast<double>(n), static_cast<double>(n)});
    CHECK(sizes_of(list[1]) == Sizes{1, 3});
  }
}

TEST_CASE("out= forms fill the tensor that they are given") {
  const int64_t n = any_size();
  const std::vector<Tensor> gathered = tensors_on(n, [&](int64_t r) {
    const Tensor out = empty({2 * n});
    return c10d::all_gather_into_tensor_out(pair_of(r), n, "0", out).is_same(out) ? out : Tensor();
  });
  CHECK(values_of(gathered[0])[0] == 1);
  const std::vector<Tensor> scattered = tensors_on(n, [&](int64_t) {
    const Tensor out = empty({1});
    return c10d::reduce_scatter_tensor_out(ones({n}), "sum", n, "0", out);
  });
  CHECK(values_of(scattered[0]) == Values{static_cast<double>(n)});
}

TEST_CASE("tensors without elements go through every collective") {
  const int64_t n = any_size();
  for (const Tensor& t : tensors_on(n, [](int64_t) { return all_reduce(empty({0, 3}), "sum"); }))
    CHECK(sizes_of(t) == Sizes{0, 3});
  for (const Tensor& t : tensors_on(n, [](int64_t) { return all_gather_tensor(empty({0, 3}), 0); }))
    CHECK(sizes_of(t) == Sizes{0, 3});
  for (const Tensor& t : tensors_on(n, [](int64_t) {
         return reduce_scatter_tensor(empty({0, 3}), "sum", 0);
       }))
    CHECK(sizes_of(t) == Sizes{0, 3});
  for (const Tensor& t : tensors_on(n, [](int64_t) { return all_to_all_single(empty({0, 3})); }))
    CHECK(sizes_of(t) == Sizes{0, 3});
  for (const Tensor& t : tensors_on(n, [](int64_t) { return broadcast(empty({2, 0}), 0); }))
    CHECK(sizes_of(t) == Sizes{2, 0});
  for (const Tensor& t : tensors_on(n, [](int64_t) {
         return dtensor::shard_dim_alltoall(empty({2, 0}), 0, 1, "0");
       }))
    CHECK(sizes_of(t) == Sizes{2 * n, 0});
}

TEST_CASE("functional forms take tensors of any strides, and give contiguous ones") {
  const auto transposed = [](int64_t r) {
    return t(view(add_Scalar(arange(4, DType::Float32), 10 * r), {2, 2}));
  };
  const Tensor sum = tensors_on(2, [&](int64_t r) { return all_reduce(transposed(r), "sum"); })[0];
  CHECK(values_of(sum) == Values{10, 14, 12, 16});
  CHECK(strides_of(sum) == Sizes{2, 1});
  CHECK(values_of(tensors_on(2, [&](int64_t r) {
          return all_gather_tensor(transposed(r), 0);
        })[1]) == Values{0, 2, 1, 3, 10, 12, 11, 13});
  CHECK(values_of(tensors_on(2, [&](int64_t r) {
          return reduce_scatter_tensor(transposed(r), "sum", 0);
        })[1]) == Values{12, 16});
  CHECK(values_of(tensors_on(2, [&](int64_t r) { return all_to_all_single(transposed(r)); })[0]) ==
        Values{0, 2, 10, 12});
  CHECK(values_of(tensors_on(2, [&](int64_t r) { return broadcast(transposed(r), 1); })[0]) ==
        Values{10, 12, 11, 13});
}

TEST_CASE("messages go from rank to rank, in the order in which they were sent") {
  const std::vector<Tensor> got = tensors_on(3, [](int64_t r) {
    const Tensor x = full({2}, static_cast<double>(r)), first = empty({2}), second = empty({2});
    send(x, (r + 1) % 3);
    send(add_Scalar(x, 0.5), (r + 1) % 3);
    receive(first, (r + 2) % 3);
    receive(second, (r + 2) % 3);
    return sub(second, first);
  });
  for (const Tensor& t : got) CHECK(values_of(t) == Values{0.5, 0.5});
}

TEST_CASE("a batch of messages waits for nobody who sends later") {
  const std::vector<Tensor> got = tensors_on(2, [](int64_t r) {
    const Tensor in = zeros({1});
    const std::vector<IValue> ops = {IValue("irecv"), IValue("isend")};
    const std::vector<int64_t> peers = {1 - r, 1 - r}, tags = {0, 0};
    const std::vector<Tensor> tensors = {in, full({1}, static_cast<double>(r + 1))};
    const std::vector<Tensor> results = default_dispatcher()
                                            .find_op_or_throw("_c10d_functional::batch_p2p_ops")
                                            .call({IValue(ops), peers, tags, tensors, "0"})[0]
                                            .to_tensor_list();
    return results[0].is_same(in) && results[1].numel() == 0 ? in : Tensor();
  });
  CHECK(values_of(got[0]) == Values{2});
  CHECK(values_of(got[1]) == Values{1});
}

TEST_CASE("groups are values, and go by name") {
  const std::vector<Tensor> got = tensors_on(4, [](int64_t r) {
    const GroupPtr even = new_group({0, 2}), odd = new_group({3, 1}, "odd");
    return r % 2 == 0 ? all_gather_tensor(full({1}, static_cast<double>(r)), 0, even)
                      : all_gather_tensor(full({1}, static_cast<double>(r)), 0, "odd");
  });
  CHECK(values_of(got[0]) == Values{0, 2});
  CHECK(values_of(got[2]) == Values{0, 2});
  CHECK(values_of(got[1]) == Values{3, 1});  // in the group's order
  CHECK(values_of(got[3]) == Values{3, 1});
}

TEST_CASE("a mesh gives a group for each of its dimensions") {
  const std::vector<Tensor> got = tensors_on(4, [](int64_t r) {
    const DeviceMesh mesh({{"data", 2}, {"tensor", 2}});
    const Tensor x = full({1}, static_cast<double>(r));
    const Tensor rows = all_reduce(x, "sum", mesh.group("data"));
    const Tensor place =
        full({1}, static_cast<double>(10 * mesh.coordinate("data") + mesh.coordinate("tensor")));
    return cat({rows, all_reduce(x, "sum", mesh.group("tensor")), place});
  });
  CHECK(values_of(got[0]) == Values{2, 1, 0});
  CHECK(values_of(got[1]) == Values{4, 1, 1});
  CHECK(values_of(got[2]) == Values{2, 5, 10});
  CHECK(values_of(got[3]) == Values{4, 5, 11});
}

TEST_CASE("wait_tensor gives the tensor itself") {
  const Tensor x = ones({2});
  CHECK(c10d::wait_tensor(x).is_same(x));
}

TEST_CASE("schemas are PyTorch's, word for word") {
  const auto schema = [](const auto& op) { return op.handle().schema().to_string(); };
  CHECK(schema(c10d::all_reduce_coalesced_) ==
        "_c10d_functional::all_reduce_coalesced_(Tensor[](a!) inputs, str reduce_op, Any "
        "group_name) -> Tensor[](a!)");
  CHECK(schema(c10d::reduce_scatter_tensor_out) ==
        "_c10d_functional::reduce_scatter_tensor_out(Tensor input, str reduce_op, int group_size, "
        "Any group_name, *, Tensor(a!) out) -> Tensor(a!)");
}

}  // namespace
}  // namespace sb
