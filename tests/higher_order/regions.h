// For tests of operators that call one function: each of them, called alike.

#ifndef SWITCHBOARD_TESTS_HIGHER_ORDER_REGIONS_H_
#define SWITCHBOARD_TESTS_HIGHER_ORDER_REGIONS_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "switchboard/tests/control_flow/gradient_cases.h"
#include "switchboard/transforms/higher_order/derivatives/checkpoint.h"
#include "switchboard/transforms/higher_order/foreach_map.h"
#include "switchboard/transforms/higher_order/hints_wrapper.h"
#include "switchboard/transforms/higher_order/invoke_subgraph.h"
#include "switchboard/transforms/higher_order/run_const_graph.h"
#include "switchboard/transforms/higher_order/strict_mode.h"
#include "switchboard/transforms/higher_order/wrap.h"
#include "switchboard/transforms/higher_order/wrap_with_autocast.h"

namespace sb::test {

struct Region {
  std::string name;
  std::function<Tensors(Program function, Tensors operands)> call;
};

inline std::vector<Region> regions() {
  return {
      {"strict_mode", [](Program f, Tensors x) { return strict_mode(std::move(f), std::move(x)); }},
      {"hints_wrapper",
       [](Program f, Tensors x) {
         return hints_wrapper(std::move(f), std::move(x), {{"level", 3}, {"name", "fast"}});
       }},
      {"wrap", [](Program f, Tensors x) { return wrap(std::move(f), std::move(x)); }},
      {"wrap_with_set_grad_enabled",
       [](Program f, Tensors x) {
         return wrap_with_set_grad_enabled(true, std::move(f), std::move(x));
       }},
      {"wrap_with_autocast",
       [](Program f, Tensors x) {
         return wrap_with_autocast("cpu", std::nullopt, true, std::move(f), std::move(x));
       }},
      {"invoke_subgraph",
       [](Program f, Tensors x) { return invoke_subgraph(std::move(f), "block", std::move(x)); }},
      {"wrap_activation_checkpoint",
       [](Program f, Tensors x) { return wrap_activation_checkpoint(std::move(f), std::move(x)); }},
      {"foreach_map",
       [](Program f, Tensors x) {
         return foreach_map_hop()(tensor_callable("subgraph", std::move(f)), std::move(x));
       }},
      {"run_const_graph",
       [](Program f, Tensors x) {
         return run_const_graph_hop()(tensor_callable("graph", std::move(f)), std::move(x));
       }},
  };
}

// A program as a function of what calls its functions.
struct RegionProgram {
  std::string name;
  std::function<Tensors(const Region& region, const Tensors& in)> run;
};

// Programs of x of shape [3, 2] and w of shape [2].
inline std::vector<RegionProgram> region_programs() {
  return {
      {"of what is given",
       [](const Region& region, const Tensors& in) {
         return region.call(
             [](const Tensors& t) {
               return Tensors{exp(t[0] * t[1]) + t[0], t[1] * 2};
             },
             in);
       }},
      {"of what is captured",
       [](const Region& region, const Tensors& in) {
         const Tensor y = in[0] * in[1];
         return region.call([y](const Tensors& t) { return Tensors{t[0] * y * y}; }, {in[0]});
       }},
      {"that gives what it was given",
       [](const Region& region, const Tensors& in) {
         const Tensor y = in[0] * 2;
         return region.call([](const Tensors& t) { return Tensors{t[0], t[0] * t[0]}; }, {y});
       }},
      {"that writes to what it makes",
       [](const Region& region, const Tensors& in) {
         return region.call(
             [](const Tensors& t) {
               const Tensor y = t[0] * t[1];
               y += t[0];
               return Tensors{y * y};
             },
             in);
       }},
      {"in itself, in cond and in scan",
       [](const Region& region, const Tensors& in) {
         const auto step = [&](const Tensor& carry, const Tensor& row) {
           const Tensor next = cond(
               sum(carry) > 1.5,
               [&](const Tensor& c) {
                 return region.call(
                     [region, row](const Tensors& t) {
                       return region.call(
                           [](const Tensors& u) { return Tensors{exp(u[0] * -0.3)}; },
                           {t[0] * row});
                     },
                     {c});
               },
               [&](const Tensor& c) { return Tensors{c * 0.5 + row}; }, {carry})[0];
           return Tensors{next, next * row};
         };
         return scan(step, {in[1]}, {in[0]});
       }},
      {"around control flow",
       [](const Region& region, const Tensors& in) {
         return region.call(
             [](const Tensors& t) {
               const Tensor none = sum(t[0]) * 0;
               return while_loop([](const Tensor& i, const Tensor&) { return i < 2; },
                                 [&](const Tensor& i, const Tensor& x) {
                                   return Tensors{i + 1, x * x + t[1]};
                                 },
                                 {none, t[0]});
             },
             in);
       }},
  };
}

// Calls the function, and nothing else.
inline const Region kNoRegion{"none", [](const Program& f, const Tensors& x) { return f(x); }};

}  // namespace sb::test

#endif  // SWITCHBOARD_TESTS_HIGHER_ORDER_REGIONS_H_
