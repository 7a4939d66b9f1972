// The operators of make.py, as a shared object that `sb --load` brings.

#include <string>
#include <utility>
#include <vector>

#include "switchboard/dispatch/library.h"

namespace {

using sb::IValue, sb::Tensor;

Tensor call(const char* op, std::vector<IValue> positional,
            std::vector<std::pair<std::string, IValue>> keyword = {}) {
  const sb::OperatorHandle handle = sb::default_dispatcher().find_op_or_throw(op);
  return handle.call(std::move(positional), std::move(keyword))[0].to_tensor();
}

SB_LIBRARY(writers, m) {
  m.define("add_times(Tensor(a!) x, Tensor y, int n) -> ()");
  m.impl("add_times", sb::DispatchKey::CompositeExplicitAutograd,
         [](const Tensor& x, const Tensor& y, int64_t n) {
           call("aten::add_.Tensor", {x, y}, {{"alpha", n}});
         });
  m.define("add_all(Tensor(a!)[] xs, Tensor(b!)? z, Tensor y) -> Tensor");
  m.impl("add_all", sb::DispatchKey::CompositeExplicitAutograd,
         [](sb::TensorList xs, const std::optional<Tensor>& z, const Tensor& y) {
           for (const Tensor& x : xs) call("aten::add_.Tensor", {x, y});
           if (z) call("aten::mul_.Scalar", {*z, 2});
           return call("aten::add.Scalar", {y, 1});
         });
}

}  // namespace
