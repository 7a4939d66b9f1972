// Random programs of views and writes: the same, eager and functionalised.

#include <random>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/copying/set.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/fill.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/functionalize/programs.h"

namespace sb::test {
namespace {

// A program is its seed: what it does next depends on random numbers and on shapes, never on
// elements, so that two runs do the same if their shapes agree.
class RandomProgram {
 public:
  RandomProgram(unsigned seed, Tensors inputs) : random_(seed), tensors_(std::move(inputs)) {}

  // The results of some steps: every tensor that there is in the end. What was refused is noted.
  Tensors run(int steps, std::string* refused) {
    for (int i = 0; i < steps; ++i) {
      try {
        step();
      } catch (const Error& error) {
        *refused += std::to_string(i) + " " + std::string(error.kind()) + "\n";
      }
    }
    return tensors_;
  }

 private:
  int64_t below(int64_t n) {
    return n <= 0 ? 0 : static_cast<int64_t>(random_() % static_cast<uint64_t>(n));
  }
  const Tensor& any() {
    return tensors_[static_cast<size_t>(below(static_cast<int64_t>(tensors_.size())))];
  }
  int64_t dim_of(const Tensor& t) { return below(t.dim()); }

  void step() {
    const Tensor x = any();
    const Tensor y = any();
    switch (below(3)) {
      case 0:
        if (tensors_.size() < 12) tensors_.push_back(view_of(x, y));
        return;
      case 1:
        return write(x, y);
      default:
        return below(3) == 0 ? reshape_in_place(x) : write(x, y);
    }
  }

  Tensor view_of(const Tensor& x, const Tensor& y) {
    const int64_t d = dim_of(x);
    const int64_t size = x.dim() == 0 ? 0 : x.size(d);
    switch (below(16)) {
      case 0:
        return select(x, d, below(size));
      case 1:
        return slice(x, d, below(size), 1 + below(size), 1 + below(2));
      case 2:
        return transpose(x, d, dim_of(x));
      case 3:
        return unsqueeze(x, dim_of(x));
      case 4:
        return squeeze(x);
      case 5:
        return flatten(x);
      case 6:
        return reshape(x, y.sizes());
      case 7:
        return expand(unsqueeze(x, 0), [&] {
          std::vector<int64_t> sizes = {2};
          sizes.insert(sizes.end(), x.sizes().begin(), x.sizes().end());
          return sizes;
        }());
      case 8:
        return split(x, 1 + below(2), d)[0];
      case 9:
        return chunk(x, 2, d).back();
      case 10:
        return size == 0 ? alias(x) : unbind(x, d)[0];
      case 11:
        return as_strided(x, {2, 2}, {below(2) ? 0 : 2 + below(2), 1}, below(3));
      case 12:
        return view_dtype(x, below(2) ? DType::Int32 : DType::Int64);
      case 13:
        return detach(x);
      case 14:
        return clone(x);
      default:
        return add(x, y);
    }
  }

  // Whether x's memory has room for so many elements; it never grows here, as what else lies in it
  // decides whether it can.
  static bool has_room(const Tensor& x, int64_t numel) {
    return static_cast<size_t>(x.storage_offset() + numel) * x.itemsize() <= x.storage()->nbytes();
  }

  // Where memory is shared in part and has gaps, nobody sees the overlap, and what is written while
  // it is read depends on the order.
  static Tensor apart(const Tensor& x, const Tensor& y) {
    const bool dense =
        x.impl()->is_non_overlapping_and_dense() && y.impl()->is_non_overlapping_and_dense();
    return x.is_alias_of(y) && !dense ? clone(y) : y;
  }

  void write(const Tensor& x, const Tensor& given) {
    const Tensor y = apart(x, given);
    switch (below(10)) {
      case 0:
        add_Scalar_(x, 1 + below(9));
        return;
      case 1:
        mul_Scalar_(x, -3);
        return;
      case 2:
        add_(x, y);
        return;
      case 3:
        mul_(x, y);
        return;
      case 4:
        copy_(x, y);
        return;
      case 5:
        zero_(x);
        return;
      case 6:
        fill_(x, 42);
        return;
      case 7:
        neg_(x);
        return;
      case 8:
        if (x.sizes() == y.sizes()) sub_out(y, x, 2, x);
        return;
      default:
        if (has_room(x, y.numel())) add_out(y, y, 1, x);
        return;
    }
  }

  void reshape_in_place(const Tensor& x) {
    switch (below(6)) {
      case 0:
        transpose_(x, dim_of(x), dim_of(x));
        return;
      case 1:
        unsqueeze_(x, dim_of(x));
        return;
      case 2:
        squeeze_(x);
        return;
      case 3:
        t_(x);
        return;
      case 4:
        if (has_room(x, 4)) resize_(x, {1 + below(2), 1 + below(2)});
        return;
      default:
        as_strided_(x, {2}, {1 + below(2)}, below(4));
        return;
    }
  }

  std::mt19937_64 random_;
  Tensors tensors_;
};

// One to three inputs, which may share memory.
Tensors random_inputs(unsigned seed, Device place) {
  const Tensor x = counting({3, 4}, place, DType::Int64);
  const Tensor y = counting({4}, place, DType::Int64);
  switch (seed % 5) {
    case 0:
      return {x};
    case 1:
      return {x, y};
    case 2:
      return {x, select(x, 0, 1), y};
    case 3:
      return {slice(x, 1, 1, 4, 2), t(x)};
    default:
      return {counting({2, 1, 3}, place, DType::Int64), y, expand(y, {2, 4})};
  }
}

struct Outcome {
  std::string text, refused;
};

Outcome run(unsigned seed, Device place, std::optional<Route> route) {
  Outcome outcome;
  const Tensors inputs = random_inputs(seed, place);
  const TensorFunction program = [&](const Tensors& given) {
    return RandomProgram(seed, given).run(25, &outcome.refused);
  };
  Tensors all = (route ? functionalized(*route, program) : program)(inputs);
  all.insert(all.end(), inputs.begin(), inputs.end());
  outcome.text = text_of(all);
  return outcome;
}

TEST_CASE("random programs of views and writes are the same, eager and functionalised") {
  const Route route = GENERATE(Route::Key, Route::Mode);
  const Device place = GENERATE(Device(DeviceType::CPU), Device(DeviceType::Meta));
  size_t refused = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    INFO("seed " << seed);
    const Outcome written = run(seed, place, std::nullopt);
    const Outcome functional = run(seed, place, route);
    REQUIRE(functional.refused == written.refused);
    REQUIRE(functional.text == written.text);
    refused += !written.refused.empty();
  }
  CHECK(refused > 100);  // programs go on after an error
}

}  // namespace
}  // namespace sb::test
