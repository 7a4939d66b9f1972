#include "switchboard/ops/spatial/grid_sampler.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/factories/ranges.h"
#include "switchboard/ops/products/matmul.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/spatial/grid_kernels.h"
#include "switchboard/ops/spatial/grid_places.h"
#include "switchboard/ops/spatial/spatial.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using namespace spatial;

GridModes grid_modes(const char* op, int64_t interpolation, int64_t padding, bool align_corners,
                     int rank) {
  SB_CHECK(interpolation >= 0 && interpolation <= (rank == 2 ? 2 : 1), op,
           ": argument interpolation_mode: expected 0 (linear), 1 (nearest)",
           rank == 2 ? " or 2 (cubic)" : "", ", got ", interpolation);
  SB_CHECK(padding >= 0 && padding <= 2, op,
           ": argument padding_mode: expected 0 (zeros), 1 (border) or 2 (reflection), got ",
           padding);
  return {static_cast<GridInterpolation>(interpolation), static_cast<GridPadding>(padding),
          align_corners};
}

// The result's sizes.
template <SizeType Int>
SizeVector<Int> sampled_sizes(const char* op, const Tensor& input, const Tensor& grid, int rank) {
  check_defined(op, input);
  check_defined(op, grid);
  SB_CHECK(input.dim() == rank + 2 && grid.dim() == rank + 2, op,
           ": expected an input and a grid of ", rank + 2, " dimensions, got ", input.describe(),
           " and ", grid.describe());
  check_dtype(op, "grid", grid, input.dtype());
  computed_in_float(op, input.dtype());
  const SizesRef<Int> in = sizes_of<Int>(input), places = sizes_of<Int>(grid);
  SB_CHECK(places[0] == in[0], op, ": grid: expected the batch of the input, ", input.describe(),
           ", got ", grid.describe());
  SB_CHECK(places.back() == Int(rank), op, ": grid: expected ", rank,
           " coordinates in the last dimension, got ", grid.describe());
  for (const Int& size : in.subspan(2)) {
    SB_CHECK(size > Int(0), op, ": expected an input without empty dimensions of space, got ",
             input.describe());
  }
  SizeVector<Int> sizes = {in[0], in[1]};
  sizes.insert(sizes.end(), places.begin() + 1, places.end() - 1);
  return sizes;
}

template <int rank>
constexpr const char* kSampler = rank == 2 ? "grid_sampler_2d" : "grid_sampler_3d";
template <int rank>
constexpr const char* kSamplerBackward =
    rank == 2 ? "grid_sampler_2d_backward" : "grid_sampler_3d_backward";

template <int rank, SizeType Int>
BasicTensorMeta<Int> grid_rule(const Tensor& input, const Tensor& grid, int64_t interpolation,
                               int64_t padding, bool align_corners) {
  grid_modes(kSampler<rank>, interpolation, padding, align_corners, rank);
  return {sampled_sizes<Int>(kSampler<rank>, input, grid, rank), input.dtype()};
}

template <class T>
const GridKernels<T>& kernels() {
  if constexpr (std::is_same_v<T, float>) return *grid_kernels_float;
  if constexpr (std::is_same_v<T, double>) return *grid_kernels_double;
}

// Calls f(piece, batch, first place) for pieces of the dense grid, several at once: each has
// `places` of a batch, but for the last. All is dense.
template <int rank, class T, class F>
void for_each_piece(const Tensor& input, const Tensor& grid, const GridModes& modes, int64_t places,
                    const F& f) {
  const int64_t batches = grid.size(0), channels = input.size(1);
  const int64_t planes = batches * channels;
  if (planes == 0 || grid.numel() == 0) return;
  const int64_t all = grid.numel() / rank / batches, pieces = (all + places - 1) / places;
  const T* const coordinates = grid.data<T>();
  parallel_for(0, batches * pieces, 1, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const int64_t batch = i / pieces, first = i % pieces * places;
      f(GridPiece<T>{modes, rank, input.sizes().data() + 2,
                     coordinates + (batch * all + first) * rank, std::min(places, all - first),
                     channels, input.numel() / planes, all},
        batch, first);
    }
  });
}

// How many places make a piece, where places do not write to one another's elements.
int64_t places_of_piece(int64_t channels) {
  return std::max<int64_t>(64, kElementGrain / 4 / std::max<int64_t>(channels, 1) / 64 * 64);
}

void check_planes(const char* op, const Tensor& input) {
  int64_t elements = 1;
  for (int64_t size : input.sizes().subspan(2)) elements *= size;
  SB_CHECK(elements <= std::numeric_limits<int32_t>::max(), op,
           ": expected an input of less than 2^31 elements in a channel, got ", input.describe());
}

template <int rank>
void grid_kernel(const Tensor& input, const Tensor& grid, int64_t interpolation, int64_t padding,
                 bool align_corners, const Tensor& out) {
  if (out.numel() == 0) return;
  check_planes(kSampler<rank>, input);
  const GridModes modes = grid_modes(kSampler<rank>, interpolation, padding, align_corners, rank);
  const DType dtype = computed_in_float(kSampler<rank>, input.dtype());
  const DenseOutput dense(out, dtype);
  const Tensor from = dense_input(input, dtype), places = dense_input(grid, dtype);
  visit_float(dtype, [&]<class T>(T) {
    T* const to = dense.tensor().template data<T>();
    for_each_piece<rank, T>(from, places, modes, places_of_piece(input.size(1)),
                            [&](const GridPiece<T>& piece, int64_t batch, int64_t first) {
                              const int64_t plane = batch * piece.channels;
                              kernels<T>().read(piece,
                                                from.template data<T>() + plane * piece.input_step,
                                                to + plane * piece.output_step + first);
                            });
  });
  dense.finish();
}

using TwoTensors = std::tuple<Tensor, Tensor>;

template <int rank, SizeType Int>
TwoTensors new_grid_gradients(const Tensor& grad_output, const Tensor& input, const Tensor& grid,
                              int64_t interpolation, int64_t padding, bool align_corners,
                              absl::Span<const bool> output_mask) {
  const char* op = kSamplerBackward<rank>;
  const Device device =
      internal::check_arguments(op, internal::tensors_of(grad_output, input, grid));
  SB_CHECK(output_mask.size() == 2, op, ": output_mask: expected 2 elements, got ",
           output_mask.size());
  grid_modes(op, interpolation, padding, align_corners, rank);
  const SizeVector<Int> sizes = sampled_sizes<Int>(op, input, grid, rank);
  SB_CHECK_VALUE(equal_sizes<Int>(sizes_of<Int>(grad_output), sizes), op,
                 ": grad_output: expected shape ", shape_text(SizesRef<Int>(sizes)), ", got ",
                 grad_output.describe());
  check_dtype(op, "grad_output", grad_output, input.dtype());
  const auto gradient = [&](bool wanted, const Tensor& of) {
    if (!wanted) return Tensor();
    const SizesRef<Int> like = sizes_of<Int>(of);
    return internal::make_result(BasicTensorMeta<Int>{{like.begin(), like.end()}, of.dtype()},
                                 device);
  };
  return {gradient(output_mask[0], input), gradient(output_mask[1], grid)};
}

template <int rank>
TwoTensors grid_backward_meta(const Tensor& grad_output, const Tensor& input, const Tensor& grid,
                              int64_t interpolation, int64_t padding, bool align_corners,
                              absl::Span<const bool> output_mask) {
  return by_size(any_symbolic(grad_output, input, grid), [&]<class Int>() {
    return new_grid_gradients<rank, Int>(grad_output, input, grid, interpolation, padding,
                                         align_corners, output_mask);
  });
}

template <int rank>
TwoTensors grid_backward_cpu(const Tensor& grad_output, const Tensor& input, const Tensor& grid,
                             int64_t interpolation, int64_t padding, bool align_corners,
                             absl::Span<const bool> output_mask) {
  const TwoTensors results = new_grid_gradients<rank, int64_t>(
      grad_output, input, grid, interpolation, padding, align_corners, output_mask);
  const auto& [by_input, by_grid] = results;
  const GridModes modes =
      grid_modes(kSamplerBackward<rank>, interpolation, padding, align_corners, rank);
  const DType dtype = computed_in_float(kSamplerBackward<rank>, input.dtype());
  const Tensor grads = dense_input(grad_output, dtype);
  const Tensor from = dense_input(input, dtype), places = dense_input(grid, dtype);
  const auto with_dense = [&](const Tensor& result, const auto& f) {
    if (!result.defined() || result.numel() == 0) return;
    const DenseOutput dense(result, dtype);
    visit_float(dtype, [&]<class T>(T) {
      T* const to = dense.tensor().template data<T>();
      std::fill_n(to, result.numel(), T(0));
      if (grads.numel() != 0) f(to);
    });
    dense.finish();
  };
  check_planes(kSamplerBackward<rank>, input);
  with_dense(by_input, [&]<class T>(T* to) {
    // All places of a batch: several may write to an element.
    const int64_t all = std::numeric_limits<int64_t>::max() / 2;
    for_each_piece<rank, T>(
        from, places, modes, all, [&](const GridPiece<T>& piece, int64_t batch, int64_t) {
          const int64_t plane = batch * piece.channels;
          kernels<T>().spread(piece, grads.data<T>() + plane * piece.output_step,
                              to + plane * piece.input_step);
        });
  });
  with_dense(by_grid, [&]<class T>(T* to) {
    for_each_piece<rank, T>(from, places, modes, places_of_piece(input.size(1)),
                            [&](const GridPiece<T>& piece, int64_t batch, int64_t first) {
                              const int64_t plane = batch * piece.channels;
                              kernels<T>().change(
                                  piece, grads.data<T>() + plane * piece.output_step + first,
                                  from.data<T>() + plane * piece.input_step,
                                  to + (batch * piece.output_step + first) * rank);
                            });
  });
  return results;
}

Tensor sample(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
              int64_t padding_mode, bool align_corners) {
  check_defined("grid_sampler", input);
  SB_CHECK(input.dim() == 4 || input.dim() == 5, "grid_sampler: expected an input of 4 or 5 ",
           "dimensions, got ", input.describe());
  if (input.dim() == 4)
    return grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners);
  return grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners);
}

// The places of a result's elements, (elements, rank + 1), with a column of ones behind them.
Tensor base_grid(const Tensor& like, SymIntArrayRef size, bool align_corners) {
  const SymIntArrayRef space = size.subspan(2);
  std::vector<Tensor> columns;
  for (size_t d = space.size(); d-- > 0;) {
    const int64_t steps = space[d].guard_int();
    Tensor places = linspace(-1, 1, steps, like.dtype(), std::nullopt, like.device());
    if (steps <= 1) places = zeros_like(places);
    if (!align_corners && steps > 1)
      places = mul_Scalar(places, static_cast<double>(steps - 1) / static_cast<double>(steps));
    SymDimVector row(space.size(), SymInt(1));
    row[d] = steps;
    columns.push_back(expand(view(places, SymIntArrayRef(row)), space));
  }
  columns.push_back(ones(space, like.dtype(), std::nullopt, like.device()));
  return reshape(stack(columns, -1), {-1, static_cast<int64_t>(columns.size())});
}

void check_affine(const char* op, SymIntArrayRef size) {
  SB_CHECK(size.size() == 4 || size.size() == 5, op, ": argument size: expected 4 or 5 sizes, got ",
           shape_text(size));
  for (const SymInt& s : size) {
    SB_CHECK(s > 0, op, ": argument size: expected sizes greater than 0, got ", shape_text(size));
  }
}

Tensor affine_grid(const Tensor& theta, SymIntArrayRef size, bool align_corners) {
  const char* op = "affine_grid_generator";
  check_defined(op, theta);
  check_affine(op, size);
  const auto rank = static_cast<int64_t>(size.size()) - 2;
  SB_CHECK(theta.dim() == 3 && theta.sym_size(0) == size[0] && theta.sym_size(1) == rank &&
               theta.sym_size(2) == rank + 1,
           op, ": argument theta: expected (", size[0].to_string(), ", ", rank, ", ", rank + 1,
           "), got ", theta.describe());
  SB_CHECK(is_floating_point(theta.dtype()), op, ": argument theta: expected floating point, got ",
           theta.describe());
  const Tensor grid = matmul(base_grid(theta, size, align_corners), transpose(theta, 1, 2));
  SymDimVector sizes = {size[0]};
  sizes.insert(sizes.end(), size.begin() + 2, size.end());
  sizes.push_back(rank);
  return view(grid, SymIntArrayRef(sizes));
}

Tensor affine_grid_backward(const Tensor& grad, SymIntArrayRef size, bool align_corners) {
  const char* op = "affine_grid_generator_backward";
  check_defined(op, grad);
  check_affine(op, size);
  const auto rank = static_cast<int64_t>(size.size()) - 2;
  const SymInt rows[] = {size[0], SymInt(-1), SymInt(rank)};
  const Tensor by_place = reshape(grad, SymIntArrayRef(rows, 3));
  const Tensor base = base_grid(grad, size, align_corners);
  return transpose(matmul(transpose(base, 0, 1), by_place), 1, 2);
}

template <int rank, auto& op, auto& backward>
void define_sampler(Library& m) {
  define(m, op)
      .template structured<by_size_rule<grid_rule<rank, int64_t>, grid_rule<rank, SymInt>>,
                           grid_kernel<rank>>()
      .out("out", kStructuredOut);
  define(m, backward)
      .cpu(grid_backward_cpu<rank>)
      .meta(grid_backward_meta<rank>)
      .out("out", kStructuredOut);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, grid_sampler).composed(sample);
  define(m, affine_grid_generator).composite_explicit(affine_grid).out("out");
  define(m, affine_grid_generator_backward).composed(affine_grid_backward);
  define_sampler<2, grid_sampler_2d, grid_sampler_2d_backward>(m);
  define_sampler<3, grid_sampler_3d, grid_sampler_3d_backward>(m);
}

}  // namespace sb
