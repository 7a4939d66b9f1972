// Programs of control flow for tests of gradients, and their gradients as programs.

#ifndef SWITCHBOARD_TESTS_CONTROL_FLOW_GRADIENT_CASES_H_
#define SWITCHBOARD_TESTS_CONTROL_FLOW_GRADIENT_CASES_H_

#include <string>
#include <utility>
#include <vector>

#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/elementwise/unary_math.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/control_flow/places.h"
#include "switchboard/transforms/control_flow/associative_scan.h"
#include "switchboard/transforms/control_flow/cond.h"
#include "switchboard/transforms/control_flow/map.h"
#include "switchboard/transforms/control_flow/scan.h"
#include "switchboard/transforms/control_flow/while_loop.h"

namespace sb::test {

struct GradientCase {
  std::string name;
  Program program;
};

// Each takes x of shape [3, 2] and w of shape [2], which most use without giving it to the
// operator. Of what_differs() one takes the other way, or as many trips.
inline std::vector<GradientCase> gradient_cases() {
  std::vector<GradientCase> cases;
  const auto add = [&](std::string name, Program program) {
    cases.push_back({std::move(name), std::move(program)});
  };
  add("cond", [](const Tensors& in) {
    const Tensor &x = in[0], &w = in[1];
    return cond(
        sum(x) > 4, [&](const Tensor& t) { return exp(t * w) + t; },
        [&](const Tensor& t) { return t * t; }, {x});
  });
  add("cond that gives what it was given", [](const Tensors& in) {
    const Tensor y = in[0] * in[1];
    return cond(
        sum(y) > 4,
        [](const Tensor& t) {
          return Tensors{t, t * 2};
        },
        [](const Tensor& t) {
          return Tensors{t * 3, t};
        },
        {y});
  });
  add("cond that captures alone", [](const Tensors& in) {
    const Tensor y = in[0] * in[1], z = in[0] + y;
    return cond(
        sum(in[0]) > 4, [&] { return Tensors{y * z}; }, [&] { return Tensors{z + 0}; });
  });
  add("map", [](const Tensors& in) {
    return sb::map(
        [&](const Tensor& row) {
          return Tensors{exp(row) * in[1], sum(row * in[1])};
        },
        {in[0]});
  });
  add("map with what is given to each", [](const Tensors& in) {
    return sb::map([](const Tensor& row, const Tensor& x, const Tensor& w) { return row * x * w; },
                   {in[0] * in[0]}, {in[0], in[1]});
  });
  add("map of cond", [](const Tensors& in) {
    const Tensor& w = in[1];
    return sb::map(
        [&](const Tensor& row) {
          return cond(
              sum(row) > 1.2, [&](const Tensor& t) { return t * w * w; },
              [&](const Tensor& t) { return t * t; }, {row});
        },
        {in[0]});
  });
  add("while_loop", [](const Tensors& in) {
    const Tensor& w = in[1];
    return while_loop([](const Tensor& x, const Tensor&) { return sum(x) < 20; },
                      [&](const Tensor& x, const Tensor& a) { return x * x + w * w + a; }, {in[0]},
                      {in[0]});
  });
  add("while_loop that counts", [](const Tensors& in) {
    const Tensor none = sum(in[0]) * 0;
    return while_loop([](const Tensor& i, const Tensor&, const Tensor& x) { return i < sum(x); },
                      [&](const Tensor& i, const Tensor& total, const Tensor& x) {
                        return Tensors{i + 1, total + exp(-i) * sum(x * in[1]), x * 0.9};
                      },
                      {none, none, in[0]});
  });
  add("loops that carry what has no gradient, too", [](const Tensors& in) {
    const Tensor one = detach(in[1]) * 0 + 1;
    Tensors r = scan(
        [](const Tensor& count, const Tensor& carry, const Tensor& x) {
          return Tensors{count + 1, carry * x, count * 2, carry};
        },
        {one, in[1]}, {in[0]});
    const Tensors loop = while_loop([](const Tensor& i, const Tensor&) { return sum(i) < 7; },
                                    [](const Tensor& i, const Tensor& x) {
                                      return Tensors{i + 1, x * i};
                                    },
                                    {one, in[0]});
    r.insert(r.end(), loop.begin(), loop.end());
    return r;
  });
  add("scan", [](const Tensors& in) {
    return scan(
        [](const Tensor& carry, const Tensor& x, const Tensor& w) {
          return Tensors{carry * w + x, carry * x};
        },
        {in[1] * 2}, {in[0]}, {in[1]});
  });
  add("scan in reverse", [](const Tensors& in) {
    return scan(
        [&](const Tensor& carry, const Tensor& x) {
          return Tensors{exp(carry * in[1] * 0.3), carry + x};
        },
        {in[1] * 0}, {in[0]}, {}, /*reverse=*/true);
  });
  add("associative_scan", [](const Tensors& in) {
    return associative_scan([&](const Tensor& a, const Tensor& b) { return a * b * in[1]; },
                            {in[0]});
  });
  add("cond in scan in map", [](const Tensors& in) {
    const Tensor& w = in[1];
    return sb::map(
        [&](const Tensor& row) {
          return scan(
              [&](const Tensor& carry, const Tensor& x) {
                const Tensor next = cond(
                    sum(carry) > 1, [&](const Tensor& c) { return c * x + w; },
                    [&](const Tensor& c) { return c * c + x; }, {carry})[0];
                return Tensors{next, next * x};
              },
              {row * 1}, {in[0]});
        },
        {in[0]});
  });
  add("while_loop in cond in while_loop", [](const Tensors& in) {
    const Tensor& w = in[1];
    return while_loop([](const Tensor& x) { return sum(x) < 30; },
                      [&](const Tensor& x) {
                        return cond(
                            sum(x) > 8, [&](const Tensor& t) { return t * t + w * w; },
                            [&](const Tensor& t) {
                              return while_loop(
                                  [](const Tensor& u) { return sum(u) < 9; },
                                  [&](const Tensor& u) { return u * 1.5 + w * w * t; }, {t * 1})[0];
                            },
                            {x});
                      },
                      {in[0]});
  });
  return cases;
}

// Inputs of which the programs take different ways.
inline std::vector<Tensors> different_inputs() {
  const auto inputs = [](const Numbers& x, const Numbers& w) {
    return Tensors{tensor_of({3, 2}, x, DType::Float64), tensor_of({2}, w, DType::Float64)};
  };
  return {inputs({0.5, 1.2, -0.3, 0.4, 1.1, 0.9}, {1.5, -0.7}),
          inputs({1.5, 1.2, 0.7, 0.4, 1.3, 0.9}, {0.8, 1.1}),
          inputs({6.5, 9.2, 4.3, 3.4, 5.1, 2.9}, {0.2, -0.3})};
}

inline Tensors as_leaves(Tensors tensors) {
  for (Tensor& t : tensors) {
    t = clone(t);
    set_requires_grad(t);
  }
  return tensors;
}

// The gradients of a program's results by its inputs, which require them: those of the sum of their
// squares. Of order 2, the same of the gradients.
inline Program gradients_of(Program program, int order = 1) {
  return [program = std::move(program), order](const Tensors& in) {
    Tensors values = program(in);
    for (int i = 1;; ++i) {
      Tensor loss;
      for (const Tensor& value : values) {
        if (!value.defined() || !requires_grad(value)) continue;
        const Tensor part = sum(value * value);
        loss = loss.defined() ? loss + part : part;
      }
      values = grad({loss}, in, {}, {.create_graph = i < order, .allow_unused = true});
      if (i == order) break;
    }
    for (size_t i = 0; i < values.size(); ++i)
      if (!values[i].defined()) values[i] = in[i] * 0;
    return values;
  };
}

// Throws what Catch takes for a failure where numbers differ by more than rounding.
inline void check_close(const Tensors& got, const Tensors& expected) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CHECK(got[i].describe() == expected[i].describe());
    const Numbers a = numbers_in(got[i]), b = numbers_in(expected[i]);
    for (size_t k = 0; k < a.size(); ++k) CHECK(a[k] == Approx(b[k]).epsilon(1e-9).margin(1e-9));
  }
}

}  // namespace sb::test

#endif  // SWITCHBOARD_TESTS_CONTROL_FLOW_GRADIENT_CASES_H_
