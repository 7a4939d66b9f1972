// The operator of printed_case_test.cc, as it is when it is right.

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"

namespace sb {
namespace {

Tensor weighted(const Tensor& x, TensorList more, double factor) {
  SB_CHECK(!more.empty(), "printed::weighted: expected tensors, got none");
  return add(mul_Scalar(x, factor), more[0]);
}

SB_LIBRARY(printed, m) {
  const OperatorHandle op =
      m.define("weighted(Tensor x, Tensor[] more, *, float factor=1.) -> Tensor");
  m.impl(op, DispatchKey::CPU, weighted);
  m.impl(op, DispatchKey::Meta, weighted);
}

}  // namespace
}  // namespace sb
