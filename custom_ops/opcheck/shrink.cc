// What makes a plan of arguments simpler.

#include <algorithm>
#include <cmath>

#include "switchboard/custom_ops/opcheck/vary.h"
#include "switchboard/dispatch/inspect/call_text.h"

namespace sb::internal {
namespace {

// float32 first, as that is what tests are written in.
int rank_of(DType dtype) {
  switch (dtype) {
    case DType::Float32:
      return 0;
    case DType::Float64:
      return 1;
    case DType::Int64:
      return 2;
    default:
      return 3 + static_cast<int>(dtype);
  }
}

bool is_given(const Argument& argument, const ValuePlan& value) {
  if (value.kind != ValuePlan::Kind::Plain) return true;
  if (value.plain.is_None()) return false;
  return !argument.default_value || !is_same_constant(*argument.default_value, value.plain);
}

double magnitude(double x) {
  if (!std::isfinite(x)) return 100;
  return std::min(std::abs(x), 50.0) + (x == std::floor(x) ? 0 : 1) + (x < 0 ? 0.5 : 0);
}
double magnitude(const IValue& value) {
  if (value.is_Int()) return magnitude(static_cast<double>(value.to_int()));
  if (value.is_Double()) return magnitude(value.to_double());
  if (!value.is_IntList()) return 0;
  double sum = 0;
  for (int64_t n : value.to_int_list()) sum += 1 + magnitude(static_cast<double>(n));
  return sum;
}

class Simplifications {
 public:
  Simplifications(const FunctionSchema& schema, const ArgumentPlan& plan)
      : schema_(schema), plan_(plan) {}

  std::vector<ArgumentPlan> make() {
    leave_out();
    smaller_sizes();
    plainer_tensors();
    plainer_numbers();
    const double now = complexity(schema_, plan_);
    std::erase_if(made_, [&](const ArgumentPlan& p) { return complexity(schema_, p) >= now; });
    return std::move(made_);
  }

 private:
  template <class F>
  void add(const F& f) {
    ArgumentPlan plan = plan_;
    f(&plan);
    made_.push_back(std::move(plan));
  }
  void set_plain(size_t i, const IValue& value) {
    add([&](ArgumentPlan* p) {
      p->values[i] = ValuePlan();
      p->values[i].plain = value;
      p->drop_unused();
    });
  }

  void leave_out() {
    for (size_t i = 0; i < plan_.values.size(); ++i) {
      const Argument& argument = schema_.arguments[i];
      const ValuePlan& value = plan_.values[i];
      if (is_given(argument, value)) {
        if (argument.default_value) set_plain(i, *argument.default_value);
        if (argument.type.is_optional()) set_plain(i, IValue());
      }
      if (value.kind == ValuePlan::Kind::Plain || value.kind == ValuePlan::Kind::Tensor) continue;
      for (size_t k = 0; k < value.tensors.size(); ++k)
        add([&](ArgumentPlan* p) {
          auto& tensors = p->values[i].tensors;
          tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(k));
          p->drop_unused();
        });
    }
  }

  void smaller_sizes() {
    // Dimensions of all tensors at once, counted from the last, so that they go on to fit.
    size_t most = 0;
    for (const TensorPlan& t : plan_.tensors) most = std::max(most, t.sizes.size());
    for (size_t back = 1; back <= most; ++back)
      add([&](ArgumentPlan* p) {
        for (size_t i = 0; i < p->tensors.size(); ++i) drop_dim(p, i, back);
      });
    for (size_t i = 0; i < plan_.tensors.size(); ++i)
      for (size_t back = 1; back <= plan_.tensors[i].sizes.size(); ++back)
        add([&](ArgumentPlan* p) { drop_dim(p, i, back); });
    for (size_t i = 0; i < plan_.tensors.size(); ++i)
      for (size_t d = 0; d < plan_.tensors[i].sizes.size(); ++d)
        if (plan_.tensors[i].sizes[d] == 1) add([&](ArgumentPlan* p) { squeeze(p, i, d); });
    for (int64_t size : distinct_sizes(plan_)) {
      for (int64_t to : {int64_t{0}, int64_t{1}, size / 2, size - 1}) {
        if (to >= size || to < 0) continue;
        add([&](ArgumentPlan* p) { replace_size_in_layout(p, size, to); });
        add([&](ArgumentPlan* p) { replace_size(p, size, to, true); });
        add([&](ArgumentPlan* p) { replace_size(p, size, to, false); });
      }
    }
    for (size_t i = 0; i < plan_.tensors.size(); ++i)
      for (size_t d = 0; d < plan_.tensors[i].sizes.size(); ++d)
        if (plan_.tensors[i].sizes[d] > 1)
          add([&](ArgumentPlan* p) {
            std::vector<int64_t> sizes = p->tensors[i].sizes;
            sizes[d] = 1;
            p->lay_out(i, std::move(sizes));
          });
  }
  static void drop_dim(ArgumentPlan* p, size_t i, size_t back) {
    std::vector<int64_t> sizes = p->tensors[i].sizes;
    if (sizes.size() < back) return;
    sizes.erase(sizes.end() - static_cast<std::ptrdiff_t>(back));
    p->lay_out(i, std::move(sizes));
  }
  // Takes a dimension of size 1 away and leaves the elements where they are.
  static void squeeze(ArgumentPlan* p, size_t i, size_t d) {
    TensorPlan& t = p->tensors[i];
    t.sizes.erase(t.sizes.begin() + static_cast<std::ptrdiff_t>(d));
    t.strides.erase(t.strides.begin() + static_cast<std::ptrdiff_t>(d));
  }
  // Takes elements off the ends of dimensions and leaves strides as they are.
  static void replace_size_in_layout(ArgumentPlan* p, int64_t from, int64_t to) {
    for (TensorPlan& t : p->tensors) std::replace(t.sizes.begin(), t.sizes.end(), from, to);
    for (size_t m = 0; m < p->memories.size(); ++m) {
      // What no tensor reaches any more goes.
      size_t end = 0;
      for (const TensorPlan& t : p->tensors) {
        if (t.memory != m) continue;
        int64_t last = t.offset;
        for (size_t d = 0; d < t.sizes.size(); ++d)
          last += std::max<int64_t>(t.sizes[d] - 1, 0) * t.strides[d];
        end = std::max(end, static_cast<size_t>(last) + (t.numel() > 0 ? 1 : 0));
      }
      p->memories[m].elements.resize(std::min(end, p->memories[m].elements.size()));
    }
  }

  void plainer_tensors() {
    for (size_t i = 0; i < plan_.tensors.size(); ++i) {
      const TensorPlan& t = plan_.tensors[i];
      add([&](ArgumentPlan* p) { p->lay_out(i, p->tensors[i].sizes); });
      add([&](ArgumentPlan* p) { p->lay_out_strided(i, tight_strides(t), 0); });
      std::vector<int64_t> halves = t.strides;
      for (int64_t& stride : halves) stride = (stride + 1) / 2;
      add([&](ArgumentPlan* p) { p->lay_out_strided(i, halves, 0); });
      add([&](ArgumentPlan* p) { p->lay_out_strided(i, p->tensors[i].strides, 0); });
      add([&](ArgumentPlan* p) { p->tensors[i].requires_grad = false; });
    }
    for (const MemoryPlan& m : plan_.memories) {
      const DType from = m.dtype;
      for (DType to : {DType::Float32, DType::Float64, DType::Int64})
        add([&](ArgumentPlan* p) { replace_dtype(p, from, to); });
    }
  }
  // Without gaps, and with dimensions in the same order.
  static std::vector<int64_t> tight_strides(const TensorPlan& t) {
    std::vector<size_t> order(t.sizes.size());
    for (size_t d = 0; d < order.size(); ++d) order[d] = d;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return t.strides[a] > t.strides[b]; });
    std::vector<int64_t> strides(t.sizes.size());
    int64_t stride = 1;
    for (size_t k = order.size(); k-- > 0;) {
      const size_t d = order[k];
      strides[d] = t.strides[d] == 0 ? 0 : stride;
      if (t.strides[d] != 0) stride *= std::max<int64_t>(t.sizes[d], 1);
    }
    return strides;
  }

  void plainer_numbers() {
    for (size_t i = 0; i < plan_.values.size(); ++i) {
      const IValue& plain = plan_.values[i].plain;
      if (plain.is_Int())
        for (int64_t n : {int64_t{0}, int64_t{1}, plain.to_int() / 2}) set_plain(i, n);
      if (plain.is_Double())
        for (double x : {0.0, 1.0, 2.0, std::floor(plain.to_double())}) set_plain(i, x);
    }
    for (size_t m = 0; m < plan_.memories.size(); ++m) {
      const auto elements = [&](auto&& f) {
        add([&](ArgumentPlan* p) {
          double i = 0;
          for (std::complex<double>& z : p->memories[m].elements) z = f(z, i++);
        });
      };
      elements([](std::complex<double>, double) { return 0.0; });
      elements([](std::complex<double>, double) { return 1.0; });
      elements([](std::complex<double>, double i) { return i; });
      elements([](std::complex<double>, double i) { return i + 1; });
      elements([](std::complex<double> z, double) { return std::floor(z.real()); });
    }
  }

  const FunctionSchema& schema_;
  const ArgumentPlan& plan_;
  std::vector<ArgumentPlan> made_;
};

}  // namespace

std::vector<ArgumentPlan> simplifications(const FunctionSchema& schema, const ArgumentPlan& plan) {
  return Simplifications(schema, plan).make();
}

// Each kind of thing weighs more than all that come after it, for small arguments.
double complexity(const FunctionSchema& schema, const ArgumentPlan& plan) {
  double sum = 0;
  for (size_t i = 0; i < plan.values.size(); ++i) {
    if (is_given(schema.arguments[i], plan.values[i])) sum += 1e6;
    sum += magnitude(plan.values[i].plain);
  }
  sum += 1e6 * static_cast<double>(plan.tensors.size());
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const TensorPlan& t = plan.tensors[i];
    sum += 1e4 * static_cast<double>(t.sizes.size());
    for (int64_t size : t.sizes) sum += 500 * static_cast<double>(size);
    for (int64_t stride : t.strides) sum += 10 * static_cast<double>(stride);
    if (!t.is_contiguous()) sum += 4000;
    if (t.offset != 0) sum += 3000 + static_cast<double>(t.offset);
    if (plan.shares_memory(i)) sum += 2000;
    if (t.requires_grad) sum += 1000;
  }
  for (const MemoryPlan& m : plan.memories) {
    sum += 300 * rank_of(m.dtype) + 100 * static_cast<double>(m.elements.size());
    for (const std::complex<double>& z : m.elements)
      sum += magnitude(z.real()) + (z.imag() != 0 ? 1 + magnitude(z.imag()) : 0);
  }
  return sum;
}

}  // namespace sb::internal
