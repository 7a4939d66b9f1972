#include "switchboard/custom_ops/opcheck/vary.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "switchboard/autograd/variable.h"

namespace sb::internal {
namespace {

class Variations {
 public:
  Variations(const FunctionSchema& schema, const ArgumentPlan& plan)
      : schema_(schema), plan_(plan) {}

  std::vector<ArgumentPlan> make() {
    sizes();
    strides();
    dtypes();
    sharing();
    plain_values();
    gradients();
    return std::move(made_);
  }

 private:
  // Adds a copy of the plan after f has changed it.
  template <class F>
  void add(const F& f) {
    ArgumentPlan plan = plan_;
    f(&plan);
    made_.push_back(std::move(plan));
  }

  void sizes() {
    for (int64_t size : distinct_sizes(plan_)) {
      for (int64_t to : {int64_t{0}, int64_t{1}, size + 1, size + 7}) {
        if (to == size) continue;
        add([&](ArgumentPlan* p) { replace_size(p, size, to, true); });
        add([&](ArgumentPlan* p) { replace_size(p, size, to, false); });
      }
    }
    for (size_t i = 0; i < plan_.tensors.size(); ++i) {
      const std::vector<int64_t>& sizes = plan_.tensors[i].sizes;
      for (size_t d = 0; d < sizes.size(); ++d) {
        std::vector<int64_t> one = sizes, without = sizes;
        one[d] = 1;
        without.erase(without.begin() + static_cast<std::ptrdiff_t>(d));
        if (sizes[d] != 1) add([&](ArgumentPlan* p) { p->lay_out(i, one); });
        add([&](ArgumentPlan* p) { p->lay_out(i, without); });
      }
      std::vector<int64_t> more = sizes;
      more.insert(more.begin(), 2);
      add([&](ArgumentPlan* p) { p->lay_out(i, more); });
    }
  }

  // Strides of the sizes with dimensions in this order, the first the outermost, and `gap` between
  // elements of the innermost.
  static std::vector<int64_t> strides_in_order(const std::vector<int64_t>& sizes,
                                               const std::vector<size_t>& order, int64_t gap) {
    std::vector<int64_t> strides(sizes.size());
    int64_t stride = gap;
    for (size_t k = order.size(); k-- > 0;) {
      strides[order[k]] = stride;
      stride *= std::max<int64_t>(sizes[order[k]], 1);
    }
    return strides;
  }

  void strides_of(size_t i) {
    const TensorPlan& t = plan_.tensors[i];
    const size_t rank = t.sizes.size();
    std::vector<size_t> order(rank);
    for (size_t d = 0; d < rank; ++d) order[d] = d;
    const auto lay_out = [&](const std::vector<int64_t>& strides, int64_t offset) {
      add([&](ArgumentPlan* p) { p->lay_out_strided(i, strides, offset); });
    };
    lay_out(strides_in_order(t.sizes, order, 2), 0);
    lay_out(strides_in_order(t.sizes, order, 1), 3);
    std::vector<size_t> reversed(order.rbegin(), order.rend());
    if (rank > 1) lay_out(strides_in_order(t.sizes, reversed, 1), 0);
    if (rank > 2) {
      std::rotate(reversed.begin(), reversed.begin() + 1, reversed.end());
      lay_out(strides_in_order(t.sizes, reversed, 1), 0);
    }
    // Expanded: all elements along a dimension are one.
    for (size_t d = 0; d < rank; ++d) {
      if (t.sizes[d] < 2) continue;
      std::vector<int64_t> strides = strides_in_order(t.sizes, order, 1);
      for (size_t k = 0; k < d; ++k) strides[k] /= t.sizes[d];
      strides[d] = 0;
      lay_out(strides, 0);
    }
  }
  void strides() {
    for (size_t i = 0; i < plan_.tensors.size(); ++i) strides_of(i);
  }

  void dtypes() {
    std::set<DType> there;
    for (const MemoryPlan& m : plan_.memories) there.insert(m.dtype);
    constexpr DType kOthers[] = {DType::Float64, DType::Float16, DType::BFloat16,  DType::Int64,
                                 DType::UInt8,   DType::Bool,    DType::Complex64, DType::Float32};
    for (DType from : there)
      for (DType to : kOthers)
        if (to != from) add([&](ArgumentPlan* p) { replace_dtype(p, from, to); });
    if (plan_.memories.size() < 2) return;
    for (size_t m = 0; m < plan_.memories.size(); ++m) {
      const DType to = plan_.memories[m].dtype == DType::Float64 ? DType::Float32 : DType::Float64;
      add([&](ArgumentPlan* p) {
        // Of this memory alone.
        MemoryPlan& memory = p->memories[m];
        memory.dtype = to;
      });
    }
  }

  void sharing() {
    for (size_t i = 0; i < plan_.tensors.size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        const TensorPlan &a = plan_.tensors[k], &b = plan_.tensors[i];
        if (plan_.memory_of(a).dtype != plan_.memory_of(b).dtype || a.memory == b.memory) continue;
        if (a.sizes == b.sizes) {
          add([&](ArgumentPlan* p) {  // one tensor twice
            for (ValuePlan& value : p->values)
              for (std::optional<size_t>& t : value.tensors)
                if (t == i) t = k;
            p->drop_unused();
          });
        }
        add([&](ArgumentPlan* p) { overlap(p, k, i); });
      }
    }
  }
  // Puts tensor b on the memory of tensor a, one element further on.
  static void overlap(ArgumentPlan* p, size_t a, size_t b) {
    p->lay_out(b, p->tensors[b].sizes);
    TensorPlan& t = p->tensors[b];
    const std::vector<std::complex<double>> own = p->elements_of(t);
    t.memory = p->tensors[a].memory;
    t.offset = p->tensors[a].offset + 1;
    const size_t needed = static_cast<size_t>(t.offset) + own.size();
    std::vector<std::complex<double>>& shared = p->memories[t.memory].elements;
    const size_t offset = static_cast<size_t>(t.offset);
    for (size_t i = shared.size(); i < needed; ++i)
      shared.push_back(own.empty() ? 1 : own[i < offset ? 0 : i - offset]);
    p->drop_unused();
  }

  void plain_values() {
    for (size_t i = 0; i < plan_.values.size(); ++i) {
      if (plan_.values[i].kind != ValuePlan::Kind::Plain &&
          !schema_.arguments[i].type.is_optional())
        continue;
      for (const IValue& value : other_values(schema_.arguments[i], plan_.values[i]))
        add([&](ArgumentPlan* p) {
          p->values[i] = ValuePlan();
          p->values[i].plain = value;
          p->drop_unused();
        });
    }
  }
  static std::vector<IValue> other_values(const Argument& argument, const ValuePlan& value) {
    std::vector<IValue> others;
    if (argument.default_value) others.push_back(*argument.default_value);
    if (argument.type.is_optional()) others.push_back(IValue());
    const IValue& plain = value.plain;
    if (value.kind != ValuePlan::Kind::Plain) return others;
    if (plain.is_Int()) {
      for (int64_t n : {int64_t{0}, int64_t{1}, int64_t{-1}, plain.to_int() + 1})
        others.emplace_back(n);
    } else if (plain.is_Double()) {
      for (double x : {0.0, 1.0, -plain.to_double(), 2 * plain.to_double()}) others.emplace_back(x);
    } else if (plain.is_Bool()) {
      others.emplace_back(!plain.to_bool());
    } else if (plain.is_DType()) {
      others.emplace_back(DType::Float64);
      others.emplace_back(DType::Int64);
    }
    return others;
  }

  void gradients() {
    bool any = false;
    for (const TensorPlan& t : plan_.tensors) any = any || t.requires_grad;
    for (size_t i = 0; i < plan_.tensors.size(); ++i) {
      if (!is_differentiable(plan_.memory_of(plan_.tensors[i]).dtype)) continue;
      // Only for operators that were given one: others may have no derivative.
      if (any)
        add([&](ArgumentPlan* p) { p->tensors[i].requires_grad = !p->tensors[i].requires_grad; });
    }
  }

  const FunctionSchema& schema_;
  const ArgumentPlan& plan_;
  std::vector<ArgumentPlan> made_;
};

}  // namespace

std::vector<ArgumentPlan> variations(const FunctionSchema& schema, const ArgumentPlan& plan) {
  return Variations(schema, plan).make();
}

std::vector<int64_t> distinct_sizes(const ArgumentPlan& plan) {
  std::set<int64_t, std::greater<>> sizes;
  for (const TensorPlan& t : plan.tensors) sizes.insert(t.sizes.begin(), t.sizes.end());
  return {sizes.begin(), sizes.end()};
}

void replace_size(ArgumentPlan* plan, int64_t from, int64_t to, bool lists) {
  for (size_t i = 0; i < plan->tensors.size(); ++i) {
    std::vector<int64_t> sizes = plan->tensors[i].sizes;
    std::replace(sizes.begin(), sizes.end(), from, to);
    if (sizes != plan->tensors[i].sizes) plan->lay_out(i, std::move(sizes));
  }
  if (!lists) return;
  for (ValuePlan& value : plan->values) {
    if (!value.plain.is_IntList()) continue;
    const IntArrayRef list = value.plain.to_int_list();
    std::vector<int64_t> replaced(list.begin(), list.end());
    std::replace(replaced.begin(), replaced.end(), from, to);
    value.plain = std::move(replaced);
  }
}

void replace_dtype(ArgumentPlan* plan, DType from, DType to) {
  for (MemoryPlan& m : plan->memories) {
    if (m.dtype != from) continue;
    m.dtype = to;
    for (std::complex<double>& z : m.elements) {
      if (!is_complex(to)) z = z.real();
      if (is_integral(to)) z = std::floor(z.real());
      if (to == DType::UInt8) z = std::abs(z.real());
      if (to == DType::Bool) z = z.real() != 0;
    }
  }
  for (TensorPlan& t : plan->tensors)
    if (!is_differentiable(plan->memory_of(t).dtype)) t.requires_grad = false;
}

}  // namespace sb::internal
