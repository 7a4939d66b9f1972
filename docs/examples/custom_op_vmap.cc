// A rule for vmap: what an operator does with all examples at once.

#include <cmath>
#include <iostream>

#include "switchboard/core/print/tensor_print.h"
#include "switchboard/core/print/warning.h"
#include "switchboard/custom_ops/custom_op.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/vmap/vmap.h"

using sb::Tensor;

// doc: begin
// The larger of each element and of `least`, by a loop over elements.
Tensor at_least_cpu(const Tensor& x, double least) {
  std::cout << "  runs on " << x.describe() << "\n";
  const Tensor y = sb::clone(x, sb::MemoryFormat::Contiguous);
  for (int64_t i = 0; i < y.numel(); ++i)
    y.data<float>()[i] = std::fmax(y.data<float>()[i], static_cast<float>(least));
  return y;
}
// doc: end

int main() {
  // doc: begin
  sb::CustomOp at_least =
      sb::custom_op("demo::at_least", "(Tensor x, float least) -> Tensor", at_least_cpu);
  const Tensor x = sb::reshape(sb::arange(6, sb::DType::Float32), {3, 2});
  const auto run = [&] {
    std::cout << sb::vmap([&](const Tensor& row) { return at_least(row, 2.5); }, {x})[0] << "\n";
  };
  sb::set_warning_handler([](const std::string& text) { std::cout << text << "\n"; });
  run();

  at_least.register_vmap([&](const sb::VmapInfo& info, const std::vector<sb::BatchDims>& in_dims,
                             const std::vector<sb::IValue>& args) -> sb::VmapResults {
    std::cout << "the rule gets " << info.batch_size << " examples in dimension "
              << *in_dims[0].dim() << "\n";
    return {{at_least(args[0], args[1])}, {in_dims[0]}};
  });
  run();
  // doc: end
}
