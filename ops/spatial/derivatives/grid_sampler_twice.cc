// The derivatives of grid_sampler's gradients. A place of the grid reads some elements along each
// dimension with weights that depend on its coordinate; the gradients have these weights and their
// slopes, and what is here their curvature, too. Composed of operators that have derivatives.

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "switchboard/autograd/derivatives.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/arithmetic/comparison.h"
#include "switchboard/ops/arithmetic/operators.h"
#include "switchboard/ops/arithmetic/unary.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/elementwise/binary_math.h"
#include "switchboard/ops/elementwise/rounding.h"
#include "switchboard/ops/elementwise/select.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/indexing/gather.h"
#include "switchboard/ops/indexing/scatter.h"
#include "switchboard/ops/reductions/reductions.h"
#include "switchboard/ops/spatial/grid_places.h"
#include "switchboard/ops/spatial/grid_sampler.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using namespace spatial;
using Tensors = std::vector<Tensor>;

// A position in elements, and how much it moves with the coordinate; see grid_places.h, of which
// this is the arithmetic for a tensor of coordinates.
struct Place {
  Tensor at, slope;
};

Tensor as_number(const Tensor& truth, DType dtype) { return to_dtype(truth, dtype); }

Place clipped(const Tensor& at, const SymInt& size) {
  const Tensor above = gt_Scalar(at, 0), below = lt_Scalar(at, size - 1);
  const Tensor high = where(below, at, full_like(at, size - 1));
  return {where_ScalarOther(above, high, 0), as_number(logical_and(above, below), at.dtype())};
}

Place reflected(const Tensor& at, double low, const SymInt& span) {
  if (span <= 0) return {zeros_like(at), zeros_like(at)};
  const Tensor from = sub_Scalar(at, low), distance = abs(from);
  const Tensor rest = fmod_Scalar(distance, span);
  const Tensor flipped = ne_Scalar(fmod_Scalar(floor(div_Scalar(distance, span)), 2), 0);
  const Tensor slope = where_Scalar(lt_Scalar(from, 0), -1.0, 1.0);
  const Tensor sign = to_dtype(slope, at.dtype());
  return {add_Scalar(where(flipped, rsub_Scalar(rest, span), rest), low),
          where(flipped, neg(sign), sign)};
}

Place padded(const Tensor& at, const SymInt& size, const GridModes& modes) {
  if (modes.padding == GridPadding::Zeros) return {at, ones_like(at)};
  if (modes.padding == GridPadding::Border) return clipped(at, size);
  const Place inner = modes.align_corners ? reflected(at, 0, size - 1) : reflected(at, -0.5, size);
  const Place edge = clipped(inner.at, size);
  return {edge.at, inner.slope * edge.slope};
}

// What the places read along one dimension: tensors of (n, places).
struct Taps {
  Tensors element;       // int64, 0 where it is outside
  Tensors inside;        // 1, or 0
  Tensors weight;        // and its derivatives by the coordinate:
  Tensors change, bend;  // bend is empty where there is none

  void add(const Tensor& at, const SymInt& size, const Tensor& of_weight) {
    const Tensor is_inside = logical_and(ge_Scalar(at, 0), lt_Scalar(at, size));
    element.push_back(to_dtype(where_ScalarOther(is_inside, at, 0), DType::Int64));
    inside.push_back(as_number(is_inside, at.dtype()));
    weight.push_back(of_weight);
  }
};

Taps linear_taps(const Tensor& at, const Tensor& slope, const SymInt& size,
                 const GridModes& modes) {
  const Place place = padded(at, size, modes);
  const Tensor first = floor(place.at), t = place.at - first, moves = slope * place.slope;
  Taps taps;
  taps.add(first, size, rsub_Scalar(t, 1));
  taps.add(add_Scalar(first, 1), size, t);
  taps.change = {neg(moves), moves};
  return taps;
}

// A polynomial of x, its highest coefficient first.
Tensor polynomial(const Tensor& x, std::initializer_list<double> coefficients) {
  Tensor sum = full_like(x, *coefficients.begin());
  for (const double* c = coefficients.begin() + 1; c != coefficients.end(); ++c)
    sum = add_Scalar(sum * x, *c);
  return sum;
}

Taps cubic_taps(const Tensor& at, const Tensor& slope, const SymInt& size, const GridModes& modes) {
  constexpr double a = -0.75;
  const Tensor first = floor(at), t = at - first, bends = slope * slope;
  Taps taps;
  for (int k = 0; k < 4; ++k) {
    // The distance to the element, which grows with the coordinate for the first two.
    const Tensor x = k < 2 ? add_Scalar(t, 1.0 - k) : rsub_Scalar(t, k - 1.0);
    const Tensor moves = k < 2 ? slope : neg(slope);
    const bool near = k == 1 || k == 2;
    taps.add(
        padded(add_Scalar(first, k - 1.0), size, modes).at, size,
        near ? polynomial(x, {a + 2, -(a + 3), 0, 1}) : polynomial(x, {a, -5 * a, 8 * a, -4 * a}));
    taps.change.push_back(moves * (near ? polynomial(x, {3 * (a + 2), -2 * (a + 3), 0})
                                        : polynomial(x, {3 * a, -10 * a, 8 * a})));
    taps.bend.push_back(bends * (near ? polynomial(x, {6 * (a + 2), -2 * (a + 3)})
                                      : polynomial(x, {6 * a, -10 * a})));
  }
  return taps;
}

Taps nearest_tap(const Tensor& at, const SymInt& size, const GridModes& modes) {
  const Tensor whole = round(padded(at, size, modes).at);
  Taps taps;
  taps.add(whole, size, ones_like(whole));
  return taps;
}

// Of the coordinates (n, places).
Taps taps_along(const Tensor& coordinate, const SymInt& size, const GridModes& modes) {
  const SymFloat half_span = sym_float(modes.align_corners ? size - 1 : size) * 0.5;
  const Tensor slope = full_like(coordinate, half_span);
  const Tensor moved = add_Scalar(coordinate, 1) * slope;
  const Tensor at = modes.align_corners ? moved : sub_Scalar(moved, 0.5);
  switch (modes.interpolation) {
    case GridInterpolation::Linear:
      return linear_taps(at, slope, size, modes);
    case GridInterpolation::Cubic:
      return cubic_taps(at, slope, size, modes);
    case GridInterpolation::Nearest:
      return nearest_tap(at, size, modes);
  }
  SB_ASSERT(false);
}

// Sums, of which what was never added is nothing.
void add_to(Tensor* sum, const Tensor& term) { *sum = sum->defined() ? *sum + term : term; }

// What is made of the gradients of grid_sampler's gradients by input and by grid, either of which
// may be undefined.
class SamplerTwice {
 public:
  SamplerTwice(const Tensor& grad_output, const Tensor& input, const Tensor& grid,
               const GridModes& modes)
      : input_(input), grid_(grid), out_(flat(grad_output, 2)), in_(flat(input, 2)) {
    const int64_t rank = grid.dim() - 2;
    for (int64_t d = 0; d < rank; ++d)
      taps_.push_back(
          taps_along(flat(select(grid, -1, rank - 1 - d), 1), input.sym_size(2 + d), modes));
  }

  std::array<Tensor, 3> gradients(const Tensor& by_input, const Tensor& by_grid,
                                  const Tensor& grad_output) {
    const size_t rank = taps_.size();
    const Tensor cotangent = by_input.defined() ? flat(by_input, 2) : Tensor();
    Tensors moves;  // of each coordinate, slowest dimension first
    for (size_t d = 0; by_grid.defined() && d < rank; ++d)
      moves.push_back(flat(select(by_grid, -1, static_cast<int64_t>(rank - 1 - d)), 1));
    Tensor of_output, of_input;
    Tensors of_grid(rank);
    std::vector<size_t> tap(rank, 0);
    do {
      const auto [index, inside] = element(tap);
      const auto read = [&](const Tensor& plane) {
        return gather(plane, 2, expand(index, out_.sym_sizes())) * inside;
      };
      Tensor along;  // how much the weight changes with the moves
      for (size_t d = 0; d < moves.size(); ++d)
        if (const Tensor c = derivative(tap, d); c.defined()) add_to(&along, moves[d] * c);
      if (cotangent.defined()) {
        const Tensor values = read(cotangent), sums = sum_dim(values * out_, {1});
        add_to(&of_output, values * unsqueeze(weight(tap), 1));
        for (size_t e = 0; e < rank; ++e)
          if (const Tensor c = derivative(tap, e); c.defined()) add_to(&of_grid[e], sums * c);
      }
      if (!along.defined()) continue;
      const Tensor values = read(in_), sums = sum_dim(values * out_, {1});
      const Tensor change = unsqueeze(along, 1);
      add_to(&of_output, values * change);
      const Tensor zeros = of_input.defined() ? of_input : zeros_like(in_);
      of_input = scatter_add(zeros, 2, expand(index, out_.sym_sizes()), out_ * change * inside);
      for (size_t e = 0; e < rank; ++e)
        for (size_t d = 0; d < moves.size(); ++d)
          if (const Tensor c = derivative(tap, d, e); c.defined())
            add_to(&of_grid[e], sums * moves[d] * c);
    } while (next(&tap));
    return {shaped(of_output, grad_output), shaped(of_input, input_), stacked(of_grid)};
  }

 private:
  // With the dimensions from `first` on as one.
  static Tensor flat(const Tensor& t, size_t first) {
    SymDimVector sizes(t.sym_sizes().begin(), t.sym_sizes().begin() + static_cast<int64_t>(first));
    sizes.push_back(sym_product(t.sym_sizes().subspan(first)));
    return reshape(t, SymIntArrayRef(sizes));
  }
  static Tensor shaped(const Tensor& t, const Tensor& like) {
    return t.defined() ? reshape(t, like.sym_sizes()) : t;
  }
  bool next(std::vector<size_t>* tap) const {
    for (size_t d = 0; d < tap->size(); ++d) {
      if (++(*tap)[d] < taps_[d].weight.size()) return true;
      (*tap)[d] = 0;
    }
    return false;
  }
  // The element in a plane, and whether it is inside: (n, 1, places).
  std::pair<Tensor, Tensor> element(const std::vector<size_t>& tap) const {
    Tensor index = taps_[0].element[tap[0]], inside = taps_[0].inside[tap[0]];
    for (size_t d = 1; d < tap.size(); ++d) {
      index = index * input_.sym_size(static_cast<int64_t>(2 + d)) + taps_[d].element[tap[d]];
      inside = inside * taps_[d].inside[tap[d]];
    }
    return {unsqueeze(index, 1), unsqueeze(inside, 1)};
  }
  Tensor weight(const std::vector<size_t>& tap) const {
    Tensor product = taps_[0].weight[tap[0]];
    for (size_t d = 1; d < tap.size(); ++d) product = product * taps_[d].weight[tap[d]];
    return product;
  }
  // Of the weight by one coordinate, or by two; undefined where it is 0.
  Tensor derivative(const std::vector<size_t>& tap, size_t by,
                    std::optional<size_t> and_by = std::nullopt) const {
    Tensor product;
    for (size_t d = 0; d < tap.size(); ++d) {
      const bool first = d == by, second = and_by && d == *and_by;
      const Tensors& factors = first && second   ? taps_[d].bend
                               : first || second ? taps_[d].change
                                                 : taps_[d].weight;
      if (factors.empty()) return Tensor();
      product = product.defined() ? product * factors[tap[d]] : factors[tap[d]];
    }
    return product;
  }
  Tensor stacked(const Tensors& of_grid) const {
    Tensor result;
    for (size_t d = 0; d < of_grid.size(); ++d) {
      if (!of_grid[d].defined()) continue;
      if (!result.defined()) result = zeros_like(grid_);
      const auto last = static_cast<int64_t>(of_grid.size() - 1 - d);
      const SymIntArrayRef places = grid_.sym_sizes().subspan(0, of_grid.size() + 1);
      copy_(select(result, -1, last), reshape(of_grid[d], places));
    }
    return result;
  }

  const Tensor& input_;
  const Tensor& grid_;
  const Tensor out_, in_;  // (n, channels, places), (n, channels, elements)
  std::vector<Taps> taps_;
};

std::array<Tensor, 3> sampler_gradients(absl::Span<const Tensor> grads, const Tensor& grad_output,
                                        const Tensor& input, const Tensor& grid,
                                        int64_t interpolation_mode, int64_t padding_mode,
                                        bool align_corners) {
  const GridModes modes = {static_cast<GridInterpolation>(interpolation_mode),
                           static_cast<GridPadding>(padding_mode), align_corners};
  return SamplerTwice(grad_output, input, grid, modes).gradients(grads[0], grads[1], grad_output);
}

SB_LIBRARY_IMPL(aten, Autograd, m) {
  derive(m, grid_sampler_2d_backward,
         SB_GRAD((grad_output, input, grid),
                 (grads, grad_output, input, grid, interpolation_mode, padding_mode, align_corners),
                 sampler_gradients(grads, grad_output, input, grid, interpolation_mode,
                                   padding_mode, align_corners)));
  derive(m, grid_sampler_3d_backward,
         SB_GRAD((grad_output, input, grid),
                 (grads, grad_output, input, grid, interpolation_mode, padding_mode, align_corners),
                 sampler_gradients(grads, grad_output, input, grid, interpolation_mode,
                                   padding_mode, align_corners)));
}

}  // namespace
}  // namespace sb
