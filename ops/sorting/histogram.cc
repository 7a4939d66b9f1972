#include "switchboard/ops/sorting/histogram.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/size_lists.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

constexpr const char* kOp = "histogramdd";

using OptionalTensor = std::optional<Tensor>;
using Edges = std::vector<Tensor>;
using HistogramAndEdges = std::tuple<Tensor, Edges>;

bool is_given(const OptionalTensor& t) { return t && t->defined(); }

template <class F>
void visit_float(DType dtype, const F& f) {
  SB_CHECK_NOT_IMPLEMENTED(dtype == DType::Float32 || dtype == DType::Float64, kOp,
                           ": not implemented for ", to_string(dtype));
  if (dtype == DType::Float32)
    f.template operator()<float>();
  else
    f.template operator()<double>();
}

int64_t rank_of(const Tensor& points) { return points.sym_size(-1).guard_int(); }

void check_points(const Tensor& points, size_t dimensions, const OptionalTensor& weight) {
  check_defined(kOp, points);
  SB_CHECK(points.dim() >= 2, kOp, ": argument self: expected at least 2 dimensions, got ",
           points.describe());
  SB_CHECK(rank_of(points) > 0 && static_cast<int64_t>(dimensions) == rank_of(points), kOp,
           ": argument bins: expected one for each of self's last size, ", rank_of(points),
           ", got ", dimensions);
  if (!is_given(weight)) return;
  SB_CHECK(weight->dtype() == points.dtype(), kOp, ": argument weight: expected ",
           to_string(points.dtype()), ", got ", weight->describe());
  const SymIntArrayRef sizes = points.sym_sizes();
  SB_CHECK(equal_sizes<SymInt>(weight->sym_sizes(), sizes.first(sizes.size() - 1)), kOp,
           ": argument weight: expected self's shape without the last dimension, ",
           points.describe(), ", got ", weight->describe());
}
void check_edges(const Tensor& points, TensorList edges) {
  for (const Tensor& t : edges) {
    check_defined(kOp, t);
    SB_CHECK(t.dtype() == points.dtype() && t.dim() == 1, kOp,
             ": argument bins: expected vectors of ", to_string(points.dtype()), ", got ",
             t.describe());
    SB_CHECK(t.sym_size(0) > 1, kOp, ": argument bins: expected at least 2 edges, got ",
             t.describe());
  }
}

// The points in rows, one after the other. Their elements are read once in a known place.
Tensor rows_of(const Tensor& points) {
  return clone(reshape(points, {-1, rank_of(points)}), MemoryFormat::Contiguous);
}

using Range = std::pair<double, double>;

// The least and the largest number of column d.
template <class T>
Range extent(const Tensor& rows, int64_t d) {
  const int64_t n = rows.size(0), step = rows.size(1);
  if (n == 0) return {0, 1};
  const T* const at = rows.data<T>() + d;
  Range result = {at[0], at[0]};
  for (int64_t i = 0; i < n; ++i) {
    const double x = at[i * step];
    if (std::isnan(x)) return {x, x};
    result = {std::min(result.first, x), std::max(result.second, x)};
  }
  return result;
}

Tensor edges_between(Range range, int64_t bins, size_t d, const Tensor& points) {
  auto& [low, high] = range;
  SB_CHECK(std::isfinite(low) && std::isfinite(high), kOp, ": dimension ", d, ": the range from ",
           low, " to ", high, " is not finite");
  SB_CHECK(low <= high, kOp, ": dimension ", d, ": the range from ", low, " to ", high,
           " is empty");
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  return linspace(low, high, bins + 1, points.dtype(), std::nullopt, points.device(), std::nullopt);
}

template <bool with_data>
Edges bin_edges(const Tensor& self, IntArrayRef bins, const OptionalDoubleArrayRef& range,
                const OptionalTensor& weight, bool) {
  check_points(self, bins.size(), weight);
  SB_CHECK(!range || range->size() == 2 * bins.size(), kOp, ": argument range: expected ",
           2 * bins.size(), " numbers, got ", range ? range->size() : 0);
  for (const int64_t n : bins)
    SB_CHECK(n > 0, kOp, ": argument bins: expected positive numbers, got ", n);
  const Tensor rows = with_data && !range ? rows_of(self) : Tensor();
  Edges result;
  visit_float(self.dtype(), [&]<class T>() {
    for (size_t d = 0; d < bins.size(); ++d) {
      Range ends = {0, 1};
      if (range)
        ends = {(*range)[2 * d], (*range)[2 * d + 1]};
      else if (with_data)
        ends = extent<T>(rows, static_cast<int64_t>(d));
      result.push_back(edges_between(ends, bins[d], d, self));
    }
  });
  return result;
}

// In which box x is; none where it is outside or NaN.
template <class T>
std::optional<int64_t> box_of(T x, const T* edges, int64_t count) {
  if (!(x >= edges[0] && x <= edges[count - 1])) return std::nullopt;
  const int64_t above = std::upper_bound(edges, edges + count, x) - edges;
  return std::clamp<int64_t>(above - 1, 0, count - 2);
}

// Divides by the sum, and by the lengths of the boxes.
template <class T>
void make_density(const std::vector<Tensor>& edges, std::vector<double>* sums) {
  double total = 0;
  for (const double sum : *sums) total += sum;
  for (double& sum : *sums) sum /= total;
  int64_t step = static_cast<int64_t>(sums->size());
  for (const Tensor& t : edges) {
    const int64_t boxes = t.numel() - 1;
    step /= boxes;
    const T* const at = t.data<T>();
    for (size_t i = 0; i < sums->size(); ++i) {
      const int64_t k = static_cast<int64_t>(i) / step % boxes;
      (*sums)[i] /= static_cast<double>(at[k + 1] - at[k]);
    }
  }
}

template <class T>
void count_points(const Tensor& self, const Edges& edges, const OptionalTensor& weight,
                  bool density, const Tensor& result) {
  const Tensor rows = rows_of(self);
  const Tensor weights = is_given(weight) ? clone(*weight, MemoryFormat::Contiguous) : Tensor();
  std::vector<double> sums(static_cast<size_t>(result.numel()), 0);
  const auto rank = static_cast<int64_t>(edges.size());
  for (int64_t i = 0; i < rows.size(0); ++i) {
    int64_t place = 0;
    bool inside = true;
    for (int64_t d = 0; d < rank && inside; ++d) {
      const Tensor& of_d = edges[static_cast<size_t>(d)];
      const auto box = box_of(rows.data<T>()[i * rank + d], of_d.data<T>(), of_d.numel());
      inside = box.has_value();
      place = place * (of_d.numel() - 1) + box.value_or(0);
    }
    if (inside) sums[static_cast<size_t>(place)] += weights.defined() ? weights.data<T>()[i] : 1;
  }
  if (density) make_density<T>(edges, &sums);
  std::ranges::transform(sums, result.data<T>(), [](double x) { return static_cast<T>(x); });
}

template <bool with_data>
Tensor from_edges(const Tensor& self, TensorList bins, const OptionalTensor& weight, bool density) {
  check_points(self, bins.size(), weight);
  check_edges(self, bins);
  SymDimVector sizes;
  for (const Tensor& t : bins) sizes.push_back(t.sym_size(0) - 1);
  const SymIntArrayRef all = sizes;
  if (!with_data && any_symbolic(all)) return empty_with_symbols(all, {}, self.dtype());
  const Tensor result = empty_on(self.device(), all.expect_ints(), self.dtype());
  Edges edges;
  if (with_data) {
    for (const Tensor& t : bins) edges.push_back(clone(t, MemoryFormat::Contiguous));
  }
  visit_float(self.dtype(), [&]<class T>() {
    if (with_data) count_points<T>(self, edges, weight, density, result);
  });
  return result;
}
template <bool with_data>
Tensor from_counts(const Tensor& self, IntArrayRef bins, const OptionalDoubleArrayRef& range,
                   const OptionalTensor& weight, bool density) {
  return from_edges<with_data>(self, bin_edges<with_data>(self, bins, range, weight, density),
                               weight, density);
}

// All elements, as points of one dimension.
Tensor numbers_of(const Tensor& self) {
  check_defined("histogram", self);
  return reshape(self, {-1, 1});
}
OptionalTensor weights_of(const Tensor& self, const OptionalTensor& weight) {
  if (!is_given(weight)) return std::nullopt;
  SB_CHECK(weight->sym_numel() == self.sym_numel(),
           "histogram: argument weight: expected one for each element of ", self.describe(),
           ", got ", weight->describe());
  return reshape(*weight, {-1});
}

template <bool with_data>
std::tuple<Tensor, Tensor> histogram_in(const Tensor& self, int64_t bins,
                                        const OptionalDoubleArrayRef& range,
                                        const OptionalTensor& weight, bool density) {
  const Tensor points = numbers_of(self);
  const OptionalTensor weights = weights_of(self, weight);
  const Edges edges = bin_edges<with_data>(points, {bins}, range, weights, density);
  return {from_edges<with_data>(points, edges, weights, density), edges[0]};
}
template <bool with_data>
std::tuple<Tensor, Tensor> histogram_of(const Tensor& self, const Tensor& bins,
                                        const OptionalTensor& weight, bool density) {
  const Tensor points = numbers_of(self);
  const OptionalTensor weights = weights_of(self, weight);
  const Tensor result = from_edges<with_data>(points, {&bins, 1}, weights, density);
  return {result, clone(bins, MemoryFormat::Contiguous)};
}

HistogramAndEdges histogramdd_of(const Tensor& self, IntArrayRef bins,
                                 const OptionalDoubleArrayRef& range, const OptionalTensor& weight,
                                 bool density) {
  return {_histogramdd_from_bin_cts(self, bins, range, weight, density),
          _histogramdd_bin_edges(self, bins, range, weight, density)};
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, _histogramdd_bin_edges).cpu(bin_edges<true>).meta(bin_edges<false>).out("out");
  define(m, _histogramdd_from_bin_cts).cpu(from_counts<true>).meta(from_counts<false>).out("out");
  define(m, _histogramdd_from_bin_tensors).cpu(from_edges<true>).meta(from_edges<false>).out("out");
  define(m, histogramdd).composed(histogramdd_of);
  define(m, histogramdd_int_bins)
      .composed([](const Tensor& self, int64_t bins, const OptionalDoubleArrayRef& range,
                   const OptionalTensor& weight, bool density) {
        check_defined(kOp, self);
        SB_CHECK(self.dim() > 0, kOp, ": argument self: expected dimensions, got ",
                 self.describe());
        const DimVector all(static_cast<size_t>(rank_of(self)), bins);
        return histogramdd_of(self, all, range, weight, density);
      });
  define(m, histogramdd_TensorList_bins)
      .composed([](const Tensor& self, TensorList bins, const OptionalDoubleArrayRef&,
                   const OptionalTensor& weight, bool density) {
        return HistogramAndEdges(_histogramdd_from_bin_tensors(self, bins, weight, density),
                                 Edges(bins.begin(), bins.end()));
      });
  // First, as a packet asks its overloads in order: a tensor of one number is also a number.
  define(m, histogram_bins_tensor)
      .cpu(histogram_of<true>)
      .meta(histogram_of<false>)
      .out("bins_tensor_out", {"hist", "bin_edges"}, kStructuredOut);
  define(m, histogram_bin_ct)
      .cpu(histogram_in<true>)
      .meta(histogram_in<false>)
      .out("bin_ct_out", {"hist", "bin_edges"}, kStructuredOut);
}

}  // namespace sb
