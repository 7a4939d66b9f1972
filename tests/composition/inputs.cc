#include "switchboard/tests/composition/inputs.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sb::composition {
namespace {

using internal::ArgumentPlan;
using internal::MemoryPlan;
using internal::TensorPlan;
using internal::ValuePlan;

DType random_dtype(Random& random) {
  constexpr DType kOthers[] = {DType::Float16, DType::BFloat16, DType::Int32,
                               DType::UInt8,   DType::Int16,    DType::Complex128};
  const size_t n = random.pick(100);
  if (n < 40) return DType::Float64;
  if (n < 70) return DType::Float32;
  if (n < 83) return DType::Int64;
  if (n < 89) return DType::Bool;
  if (n < 94) return DType::Complex64;
  return random.one_of(kOthers);
}

std::complex<double> random_element(DType dtype, Random& random) {
  if (dtype == DType::Bool) return random.chance(50) ? 1 : 0;
  if (is_integral(dtype)) return static_cast<double>(random.between(0, 2));
  const double x = static_cast<double>(random.between(-7, 9)) / 4;
  return is_complex(dtype) ? std::complex<double>(x, static_cast<double>(random.between(-3, 3)) / 2)
                           : x;
}

class Inputs {
 public:
  explicit Inputs(Random& random) : random_(random) {
    sizes_ = {random_.between(1, 3), random_.between(1, 4)};
    if (random_.chance(10)) sizes_[random_.pick(2)] = 0;
    dtype_ = random_dtype(random_);
  }

  ArgumentPlan make() {
    const size_t n = 1 + random_.pick(3) + random_.pick(2);
    for (size_t i = 0; i < n; ++i) {
      ValuePlan value;
      value.kind = ValuePlan::Kind::Tensor;
      // Now and then one tensor twice.
      if (i > 0 && random_.chance(3)) {
        value.tensors = {random_.pick(plan_.tensors.size())};
      } else {
        value.tensors = {plan_.tensors.size()};
        plan_.tensors.push_back(random_.chance(20) && i > 0 ? on_old_memory() : on_new_memory());
      }
      plan_.values.push_back(std::move(value));
    }
    return std::move(plan_);
  }

 private:
  TensorPlan shaped() {
    TensorPlan t;
    for (size_t rank = random_.pick(8) < 6 ? 1 + random_.pick(2) : random_.pick(4); rank > 0;
         --rank)
      t.sizes.push_back(random_.chance(12) ? 1 : random_.one_of(sizes_));
    std::vector<size_t> order(t.sizes.size());
    std::iota(order.begin(), order.end(), 0);
    if (random_.chance(20)) std::reverse(order.begin(), order.end());
    t.strides.resize(order.size());
    int64_t stride = random_.chance(8) ? 2 : 1;
    for (size_t k = order.size(); k-- > 0;) {
      if (random_.chance(3)) {
        t.strides[order[k]] = 0;
        continue;
      }
      t.strides[order[k]] = stride;
      stride *= std::max<int64_t>(t.sizes[order[k]], 1);
    }
    if (random_.chance(10)) t.offset = random_.between(1, 2);
    return t;
  }
  static int64_t reach(const TensorPlan& t) {
    int64_t end = t.offset;
    for (size_t d = 0; d < t.sizes.size(); ++d)
      end += std::max<int64_t>(t.sizes[d] - 1, 0) * t.strides[d];
    return t.numel() == 0 ? t.offset : end + 1;
  }

  TensorPlan on_new_memory() {
    TensorPlan t = shaped();
    t.memory = plan_.memories.size();
    MemoryPlan memory;
    memory.dtype = random_.chance(65) ? dtype_ : random_dtype(random_);
    memory.device = DeviceType::CPU;
    for (int64_t i = reach(t) + (random_.chance(10) ? 2 : 0); i > 0; --i)
      memory.elements.push_back(random_element(memory.dtype, random_));
    plan_.memories.push_back(std::move(memory));
    return t;
  }
  TensorPlan on_old_memory() {
    for (int i = 0; i < 10; ++i) {
      TensorPlan t = shaped();
      t.memory = random_.pick(plan_.memories.size());
      if (reach(t) <= static_cast<int64_t>(plan_.memories[t.memory].elements.size())) return t;
    }
    return on_new_memory();
  }

  Random& random_;
  std::vector<int64_t> sizes_;
  DType dtype_;
  ArgumentPlan plan_;
};

}  // namespace

ArgumentPlan random_inputs(Random& random) { return Inputs(random).make(); }

}  // namespace sb::composition
