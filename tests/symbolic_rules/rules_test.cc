// Each operator with symbols, against itself with numbers.

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/ops/attention/attention.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/embedding.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/indexing/index.h"
#include "switchboard/ops/loss/dropout.h"
#include "switchboard/ops/normalization/batch_norm.h"
#include "switchboard/ops/normalization/layer_norm.h"
#include "switchboard/ops/normalization/softmax.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/random/random_factories.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/sorting/cumulative.h"
#include "switchboard/ops/sorting/sort.h"
#include "switchboard/ops/spatial/convolution.h"
#include "switchboard/ops/spatial/pooling.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/symbolic_rules/holds.h"

namespace sb {
namespace {

constexpr MemoryFormat kChannelsLast = MemoryFormat::ChannelsLast;
using OptionalTensor = std::optional<Tensor>;

// With symbols as with numbers, whatever they are.
void holds(const Program& program) {
  CHECK(guards_of(program) == "");
  CHECK(difference(program) == "");
  CHECK(difference_unbacked(program) == "");
}
// The same with questions, which say exactly for which sizes.
void holds_where(std::string guards, const Program& program) {
  CHECK(guards_of(program) == guards);
  CHECK(difference(program) == "");
  CHECK(difference_unbacked(program) == "");
}

TEST_CASE("softmax and its gradient ask nothing") {
  holds([](const Sizes& s) { return softmax(s({s.n, s.h}), 1); });
  holds([](const Sizes& s) {
    return log_softmax(s({s.n, s.h, 4}, DType::Float16), -1, DType::Float32);
  });
  holds([](const Sizes& s) {
    return _softmax_backward_data(s({s.n, s.h}), s({s.n, s.h}), 1, DType::Float32);
  });
}

TEST_CASE("lookups ask nothing") {
  holds([](const Sizes& s) { return embedding(s({10, 4}), s({s.n, s.h}, DType::Int64)); });
  holds([](const Sizes& s) { return embedding(s({s.h, 4}), s({s.n}, DType::Int64)); });
  holds([](const Sizes& s) { return index_select(s({s.n, s.h}), 0, s({s.w}, DType::Int64)); });
  holds([](const Sizes& s) { return gather(s({s.n, s.h}), 1, s({s.n, s.w}, DType::Int64)); });
  holds([](const Sizes& s) { return take_along_dim(s({s.n, s.h}), s({s.n, 1}, DType::Int64), 1); });
}

TEST_CASE("advanced indexing asks whether there is something to index") {
  const auto program = [](const Sizes& s) {
    const OptionalTensor indices[] = {std::nullopt, s({s.w}, DType::Int64)};
    return index(s({s.n, 5, s.h}), indices);
  };
  holds(program);
  holds([](const Sizes& s) {
    const OptionalTensor indices[] = {s({s.w}, DType::Int64)};
    return index_put(s({6, s.h}), indices, s({s.w, s.h}), true);
  });
  holds([](const Sizes& s) {
    const OptionalTensor indices[] = {s({s.w}, DType::Int64), std::nullopt, s({1}, DType::Int64)};
    return index(s({6, s.h, 5}), indices);
  });
}

TEST_CASE("normalisations ask nothing of the batch") {
  holds([](const Sizes& s) {
    return native_layer_norm(s({s.n, s.h, 6}), {6}, s({6}), s({6}), 1e-5);
  });
  holds([](const Sizes& s) { return native_layer_norm(s({s.n, s.h}), {s.h}, {}, {}, 1e-5); });
  holds([](const Sizes& s) { return layer_norm(s({s.n, s.h, 6}), {6}, s({6}), {}); });
  holds([](const Sizes& s) { return layer_norm(s({s.n, s.h}), {s.h}, s({s.h}), {}); });
  holds([](const Sizes& s) {
    return native_batch_norm(s({s.n, 4, s.h, s.w}), s({4}), s({4}), s({4}), s({4}), true, 0.1,
                             1e-5);
  });
  // Channels-last tensors without elements count as contiguous.
  holds_where("s2 != 0, s1 != 0, s0 != 0", [](const Sizes& s) {
    return native_batch_norm(s({s.n, 4, s.h, s.w}, DType::Float32, kChannelsLast), s({4}), s({4}),
                             s({4}), s({4}), false, 0.1, 1e-5);
  });
  holds([](const Sizes& s) {
    return _native_batch_norm_legit_no_training(s({s.n, 4, s.h, s.w}), s({4}), s({4}), s({4}),
                                                s({4}), 0.1, 1e-5);
  });
}

TEST_CASE(
    "batch_norm does something else for no elements, but of the same shape, and asks nothing") {
  const auto program = [](const Sizes& s) {
    return batch_norm(s({s.n, 4, s.h, s.w}), s({4}), s({4}), s({4}), s({4}), true, 0.1, 1e-5,
                      false);
  };
  CHECK(guards_of(program) == "");
  holds(program);
}

TEST_CASE("convolutions ask whether the kernel fits") {
  holds_where("(s0 == 0) | (s1 >= 1), s1 >= 3, (s0 == 0) | (s2 >= 1), s2 >= 3", [](const Sizes& s) {
    return conv2d(s({s.n, 3, s.h, s.w}), s({5, 3, 3, 3}), s({5}));
  });
  const int64_t two[] = {2}, one[] = {1};
  holds_where("(s0 == 0) | (s1 >= 1), (s1 + 1)//2 >= 2, (s0 == 0) | (s2 >= 1), (s2 + 1)//2 >= 2",
              [&](const Sizes& s) {
                return conv2d(s({s.n, 4, s.h, s.w}), s({6, 2, 3, 3}), {}, two, one, two, 2);
              });
  holds_where("(s0 == 0) | (s1 >= 1), (s1 + 1)//2 >= 2", [&](const Sizes& s) {
    return conv1d(s({s.n, 3, s.h}), s({5, 3, 3}), {}, two);
  });
  holds_where("(s0 == 0) | (s1 >= 1), s1 >= 1, (s0 == 0) | (s2 >= 1), s2 >= 1, s0 != 0",
              [&](const Sizes& s) {
                return conv2d(s({s.n, 3, s.h, s.w}, DType::Float32, kChannelsLast), s({5, 3, 3, 3}),
                              {}, one, one);
              });
  holds_where(
      "(s0 == 0) | (s1 >= 1), s1 >= 1, (s0 == 0) | (s2 >= 1), s2 >= 1", [&](const Sizes& s) {
        return conv_transpose2d_input(s({s.n, 3, s.h, s.w}), s({3, 5, 3, 3}), {}, two, one, one);
      });
}

TEST_CASE("pools ask whether the window fits") {
  const int64_t two[] = {2, 2}, three[] = {3, 3}, one[] = {1, 1};
  holds_where("s1 != 0, s2 != 0, s1//2 >= 1, s2//2 >= 1", [&](const Sizes& s) {
    return max_pool2d(s({s.n, 3, s.h, s.w}), two);
  });
  holds_where("s1 != 0, s2 != 0", [&](const Sizes& s) {
    return max_pool2d_with_indices(s({s.n, 3, s.h, s.w}), three, two, one, one, true);
  });
  holds_where("s1 != 0, s2 != 0, s1//2 >= 1, s2//2 >= 1, s0 != 0", [&](const Sizes& s) {
    return avg_pool2d(s({s.n, 3, s.h, s.w}, DType::Float32, kChannelsLast), two);
  });
  holds_where("s1 != 0, s2 != 0", [&](const Sizes& s) {
    return adaptive_avg_pool2d(s({s.n, 3, s.h, s.w}), {2, s.n});
  });
  holds([&](const Sizes& s) { return adaptive_avg_pool2d(s({s.n, 3, s.h, s.w}), {1, 1}); });
}

TEST_CASE("gradients have the shapes of what they are of") {
  const bool all[] = {true, true, true};
  const int64_t one[] = {1, 1}, none[] = {0, 0}, two[] = {2, 2};
  holds([&](const Sizes& s) {
    const Tensor x = s({s.n, s.h, 6}), stat = s({s.n, s.h, 1});
    return native_layer_norm_backward(x, x, {6}, stat, stat, s({6}), s({6}), all);
  });
  holds([&](const Sizes& s) {
    const Tensor x = s({s.n, 4, s.h, s.w}), stat = s({4});
    return native_batch_norm_backward(x, x, stat, {}, {}, stat, stat, true, 1e-5, all);
  });
  holds_where("(s0 == 0) | (s1 >= 1), s1 >= 3, (s0 == 0) | (s2 >= 1), s2 >= 3",
              [&](const Sizes& s) {
                return convolution_backward(s({s.n, 5, s.h - 2, s.w - 2}), s({s.n, 3, s.h, s.w}),
                                            s({5, 3, 3, 3}), std::nullopt, one, none, one, false,
                                            none, 1, all);
              });
  holds_where("s1 != 0, s2 != 0, s1//2 >= 1, s2//2 >= 1", [&](const Sizes& s) {
    return avg_pool2d_backward(s({s.n, 3, s.h / 2, s.w / 2}), s({s.n, 3, s.h, s.w}), two, two, none,
                               false, true, std::nullopt);
  });
}

TEST_CASE("products ask nothing where the sizes are the same") {
  holds([](const Sizes& s) { return matmul(s({s.n, s.h, 4}), s({4, s.w})); });
  holds([](const Sizes& s) { return matmul(s({s.n, s.h, 4}), s({s.n, 4, s.w})); });
  holds([](const Sizes& s) { return matmul(s({s.n, 2, s.h, s.w}), s({s.n, 2, s.w, s.h})); });
  holds([](const Sizes& s) { return matmul(s({2, s.h, s.w}), s({s.w})); });
  holds([](const Sizes& s) { return linear(s({s.n, s.h, 4}), s({5, 4}), s({5})); });
  holds([](const Sizes& s) { return linear(s({s.n, 4}), s({5, 4})); });
}

TEST_CASE("cat adds sizes, stack asks nothing") {
  holds([](const Sizes& s) {
    const Tensor list[] = {s({s.n, s.h}), s({s.n, s.w}), s({s.n, 2})};
    return cat(list, 1);
  });
  holds([](const Sizes& s) {
    const Tensor list[] = {s({s.n, s.h}), s({s.n, s.h})};
    return stack(list, 1);
  });
  holds_where("s2 != 0, s1 != 0, s0 != 0", [](const Sizes& s) {
    const Tensor list[] = {s({s.n, 3, s.h, s.w}, DType::Float32, kChannelsLast),
                           s({s.n, 5, s.h, s.w}, DType::Float32, kChannelsLast)};
    return cat(list, 1);
  });
}

TEST_CASE("choices broadcast") {
  holds([](const Sizes& s) {
    return where(s({s.n, s.h}, DType::Bool), s({s.n, s.h}), s({s.n, s.h}));
  });
  holds([](const Sizes& s) { return masked_fill(s({s.n, s.h}), s({s.n, s.h}, DType::Bool), 0); });
}

TEST_CASE("reductions keep what they do not reduce") {
  const int64_t last[] = {-1};
  holds([&](const Sizes& s) { return sum_dim(s({s.n, s.h}), last, true, std::nullopt); });
  holds([&](const Sizes& s) { return mean_dim(s({s.n, s.h}), last, false, std::nullopt); });
  holds_where("s1 != 0", [&](const Sizes& s) { return amax(s({s.n, s.h}), last); });
  holds_where("s1 != 0", [&](const Sizes& s) { return max_dim(s({s.n, s.h}), 1); });
  holds_where("s1 != 0", [&](const Sizes& s) { return argmax(s({s.n, s.h}), 1); });
  holds_where("s0*s1 != 0", [&](const Sizes& s) { return argmax(s({s.n, s.h})); });
}

TEST_CASE("sorts") {
  holds([](const Sizes& s) { return sort(s({s.n, s.h}), 1); });
  holds([](const Sizes& s) { return cumsum(s({s.n, s.h}), 1); });
  holds_where("s1 >= 3", [](const Sizes& s) { return topk(s({s.n, s.h}), 3); });
}

TEST_CASE("copies keep the order of the dimensions, expanded ones too") {
  // Without elements, numbers keep the strides as they are.
  const auto holds_for_some = [](const Program& program) {
    CHECK(difference_unbacked(program) == "");
  };
  holds_for_some([](const Sizes& s) { return clone(expand(s({s.n, 1, s.h}), {-1, 4, -1})); });
  holds_for_some([](const Sizes& s) { return clone(expand(s({s.n, 1}), {-1, s.h})); });
  holds_for_some([](const Sizes& s) {
    return empty_like(transpose(expand(s({s.n, s.h}), {4, -1, -1}), 0, 2));
  });
}

TEST_CASE("random numbers") {
  holds([](const Sizes& s) {
    return rand({s.n, s.h}, std::nullopt, std::nullopt, Device(DeviceType::Meta));
  });
  holds([](const Sizes& s) {
    return randint(7, {s.n, s.h}, DType::Int64, std::nullopt, Device(DeviceType::Meta));
  });
  holds([](const Sizes& s) { return dropout(s({s.n, s.h}), 0.5, true); });
}

TEST_CASE("attention keeps batch and lengths") {
  holds([](const Sizes& s) {
    return scaled_dot_product_attention(s({s.n, 2, s.h, 8}), s({s.n, 2, s.w, 8}),
                                        s({s.n, 2, s.w, 8}));
  });
}

}  // namespace
}  // namespace sb
