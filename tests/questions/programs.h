// What the programs of questions are made of.

#ifndef SWITCHBOARD_TESTS_QUESTIONS_PROGRAMS_H_
#define SWITCHBOARD_TESTS_QUESTIONS_PROGRAMS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/error.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/objects/op_overload.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/testing/places.h"

namespace sb::questions {

using Catch::Contains;
using Catch::StartsWith;
using Tensors = std::vector<Tensor>;
using Program = std::function<Tensors(const Tensors&)>;
using Values = std::vector<double>;
using K = DispatchKey;
using test::values_of;

inline Tensor numbers(const Values& values) {
  return test::tensor_of({static_cast<int64_t>(values.size())}, values);
}
inline Tensor leaf(const Values& values) {
  const Tensor x = numbers(values);
  set_requires_grad(x);
  return x;
}
inline Tensor truth(bool value) { return test::tensor_of({}, {value ? 1.0 : 0.0}, DType::Bool); }
inline Tensor integer(int64_t value) {
  return test::tensor_of({}, {static_cast<double>(value)}, DType::Int64);
}

// "no error", or "TypeError: what it says".
inline std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return std::string(error.kind()) + ": " + error.what();
  }
  return "no error";
}

// The elements of the gradient that backward through the sum of y leaves in x; empty if none.
inline Values gradient(const Tensor& y, const Tensor& x) {
  backward(sum_all(y));
  return grad_of(x).defined() ? values_of(grad_of(x)) : Values{};
}

// The first result, a tensor.
template <class... A>
Tensor call(const OpOverload& op, A&&... arguments) {
  return op(std::forward<A>(arguments)...)[0].to_tensor();
}

// A kernel that gives as many numbers as it is given, all of them `value`.
inline auto giving(double value) {
  return [value](const Tensor& x) { return x * 0 + value; };
}

}  // namespace sb::questions

#endif  // SWITCHBOARD_TESTS_QUESTIONS_PROGRAMS_H_
