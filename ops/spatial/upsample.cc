#include "switchboard/ops/spatial/upsample.h"

#include <cmath>
#include <tuple>
#include <type_traits>

#include "switchboard/ops/define/define.h"
#include "switchboard/ops/spatial/upsample_taps.h"

namespace sb {
namespace {

using namespace spatial;

// An operator: how it interpolates, over how many dimensions.
struct Kind {
  UpsampleMode mode;
  int dims;
  bool antialias = false;

  constexpr bool nearest() const {
    return mode == UpsampleMode::Nearest || mode == UpsampleMode::NearestExact;
  }
  constexpr size_t n() const { return static_cast<size_t>(dims); }
};

// `A...` is what operators have behind their sizes: align_corners, if they have it, and a scale for
// each dimension.
template <class... S>
UpsampleOptions options_of(Kind kind, S... scales) {
  const std::array<std::optional<double>, sizeof...(S)> given = {scales...};
  UpsampleOptions options{kind.mode};
  options.antialias = kind.antialias;
  for (size_t i = 0; i < given.size(); ++i) options.scales[3 - given.size() + i] = given[i];
  return options;
}
template <class... S>
UpsampleOptions options_of(Kind kind, bool align_corners, S... scales) {
  UpsampleOptions options = options_of(kind, scales...);
  options.align_corners = align_corners;
  return options;
}

template <SizeType Int>
void check_spaces(const char* op, Kind kind, SizesRef<Int> input_size, SizesRef<Int> output_size) {
  SB_CHECK(output_size.size() == kind.n(), op, ": output_size: expected ", kind.n(),
           " elements, got ", shape_text(output_size));
  SB_CHECK(input_size.size() == kind.n() + 2, op, ": expected an input of ", kind.n() + 2,
           " dimensions, got ", shape_text(input_size));
  for (size_t d = 0; d < kind.n(); ++d) {
    SB_CHECK(sym_and(input_size[d + 2] > 0, output_size[d] > 0), op,
             ": expected sizes greater than 0, got ", shape_text(input_size), " and ",
             shape_text(output_size));
  }
}

// Which results are channels-last where the argument is.
template <SizeType Int>
BasicTensorMeta<Int> laid_out(Kind kind, bool backward, const Tensor& like, SizeVector<Int> sizes) {
  const bool propagates =
      !backward || (kind.mode != UpsampleMode::Cubic && !(kind.nearest() && kind.dims == 3));
  if (propagates) return laid_out_like<Int>(like, SizesRef<Int>(sizes), like.dtype());
  return {std::move(sizes), like.dtype()};
}

template <SizeType Int, Kind kind, class... A>
BasicTensorMeta<Int> rule(const Tensor& self, SymIntArrayRef output_size, A...) {
  const SizesRef<Int> size = sizes_as<Int>(output_size), own = sizes_of<Int>(self);
  check_spaces<Int>("upsample", kind, own, size);
  SB_CHECK(own[1] != 0, "upsample: expected channels, got ", self.describe());
  if (!kind.nearest()) computed_in_float("upsample", self.dtype());
  return laid_out<Int>(kind, /*backward=*/false, self,
                       with_space<Int>(own, space_of<Int>(size, kind.dims), kind.dims));
}
template <Kind kind, class... A>
void kernel(const Tensor& self, SymIntArrayRef, A... options, const Tensor& out) {
  if (out.numel() == 0) return;  // of a size that no table of taps fits, perhaps
  const bool channels_last = self.is_contiguous(MemoryFormat::ChannelsLast) ||
                             self.is_contiguous(MemoryFormat::ChannelsLast3d);
  const bool in_float = channels_last && !self.is_contiguous();
  const Taps taps = upsample_taps(options_of(kind, options...), space_of(self.sizes(), kind.dims),
                                  space_of(out.sizes(), kind.dims), self.dtype(),
                                  in_float ? Positions::InFloat32 : Positions::InDType);
  const DType dtype = kind.nearest() ? self.dtype() : computed_in_float("upsample", self.dtype());
  const MemoryFormat last =
      kind.dims == 3 ? MemoryFormat::ChannelsLast3d : MemoryFormat::ChannelsLast;
  if (in_float && dtype == self.dtype() && kind.dims > 1 && self.is_contiguous(last) &&
      out.is_contiguous(last)) {
    if (kind.nearest()) return gather_planes(taps, self, out, self.size(1));
    return interpolate_planes(taps, self, out, self.size(1));
  }
  const DenseOutput dense(out, dtype);
  const Tensor input = dense_input(self, dtype);
  if (kind.nearest()) {
    gather_planes(taps, input, dense.tensor());
  } else {
    interpolate_planes(taps, input, dense.tensor());
  }
  dense.finish();
}

template <SizeType Int, Kind kind, class... A>
BasicTensorMeta<Int> backward_rule(const Tensor& grad_output, SymIntArrayRef output_size,
                                   SymIntArrayRef input_size, A...) {
  const char* op = "upsample_backward";
  const SizesRef<Int> in = sizes_as<Int>(input_size), out = sizes_as<Int>(output_size);
  check_spaces<Int>(op, kind, in, out);
  const SizeVector<Int> expected = with_space<Int>(in, space_of<Int>(out, kind.dims), kind.dims);
  check_sizes<Int>(op, "grad_output", grad_output, SizesRef<Int>(expected));
  computed_in_float(op, grad_output.dtype());
  return laid_out<Int>(kind, /*backward=*/true, grad_output, {in.begin(), in.end()});
}
template <Kind kind, class... A>
void backward_kernel(const Tensor& grad_output, SymIntArrayRef, SymIntArrayRef, A... options,
                     const Tensor& grad_input) {
  if (grad_input.numel() == 0) return;
  const DType dtype = computed_in_float("upsample_backward", grad_output.dtype());
  const Taps taps =
      upsample_taps(options_of(kind, options...), space_of(grad_input.sizes(), kind.dims),
                    space_of(grad_output.sizes(), kind.dims), dtype, Positions::InFloat32);
  const DenseOutput dense(grad_input, dtype);
  spread_planes(taps, dense_input(grad_output, dtype), dense.tensor());
  dense.finish();
}

// A size times a factor, as C++ converts it.
SymInt scaled_size(const SymInt& size, double factor) {
  if (size.is_symbolic()) {
    // Whole factors, the usual ones, keep whole expressions.
    const double whole = std::trunc(factor);
    if (factor == whole && std::abs(whole) < 0x1p31) return size * static_cast<int64_t>(whole);
    return sym_trunc(sym_float(size) * SymFloat(factor));
  }
  const double scaled = static_cast<double>(size.expect_int()) * factor;
  SB_CHECK(scaled >= 0 && scaled < 0x1p62, "upsample: scale_factors: ", factor, " times ",
           size.to_string(), " is no size");
  return static_cast<int64_t>(scaled);
}

// The size that a vec form asks for.
SymDimVector asked_size(Kind kind, SymIntArrayRef input_size,
                        const OptionalSymIntArrayRef& output_size,
                        const OptionalDoubleArrayRef& scale_factors) {
  SB_CHECK(output_size.has_value() != scale_factors.has_value(),
           "upsample: expected either output_size or scale_factors");
  const size_t given = output_size ? output_size->size() : scale_factors->size();
  SB_CHECK(given == kind.n(), "upsample: expected ", kind.n(), " sizes or scales, got ", given);
  if (output_size) return {output_size->begin(), output_size->end()};
  SB_CHECK(input_size.size() == kind.n() + 2, "upsample: expected an input of ", kind.n() + 2,
           " dimensions, got ", shape_text(input_size));
  SymDimVector size;
  for (size_t d = 0; d < kind.n(); ++d)
    size.push_back(scaled_size(input_size[d + 2], (*scale_factors)[d]));
  return size;
}

// Calls an operator with the scales of a vec form behind `args`.
template <Kind kind, auto& op, class... A>
Tensor with_scales(const OptionalDoubleArrayRef& factors, const A&... args) {
  const auto scale = [&](size_t i) {
    return factors ? std::optional<double>((*factors)[i]) : std::nullopt;
  };
  if constexpr (kind.dims == 1) return op(args..., scale(0));
  if constexpr (kind.dims == 2) return op(args..., scale(0), scale(1));
  if constexpr (kind.dims == 3) return op(args..., scale(0), scale(1), scale(2));
}

template <Kind kind, auto& op, class... Align>
Tensor vec(const Tensor& input, OptionalSymIntArrayRef output_size, Align... align_corners,
           OptionalDoubleArrayRef scale_factors) {
  const SymDimVector size = asked_size(kind, input.sym_sizes(), output_size, scale_factors);
  return with_scales<kind, op>(scale_factors, input, SymIntArrayRef(size), align_corners...);
}
template <Kind kind, auto& op, class... Align>
Tensor backward_vec(const Tensor& grad_output, OptionalSymIntArrayRef output_size,
                    SymIntArrayRef input_size, Align... align_corners,
                    OptionalDoubleArrayRef scale_factors) {
  const SymDimVector size = asked_size(kind, input_size, output_size, scale_factors);
  return with_scales<kind, op>(scale_factors, grad_output, SymIntArrayRef(size), input_size,
                               align_corners...);
}

// The forms with sizes, of an operator that has A... behind them.
template <Kind kind, auto& op, auto& backward, class... A>
void define_sized(Library& m, std::type_identity<std::tuple<A...>>) {
  define(m, op)
      .template structured<by_size_rule<rule<int64_t, kind, A...>, rule<SymInt, kind, A...>>,
                           kernel<kind, A...>>()
      .out();
  define(m, backward)
      .template structured<
          by_size_rule<backward_rule<int64_t, kind, A...>, backward_rule<SymInt, kind, A...>>,
          backward_kernel<kind, A...>>()
      .out();
}

template <Kind kind, auto& op, auto& backward, class... Align, class Vec, class BackwardVec>
void define_upsample(Library& m, const Vec& vec_op, const BackwardVec& backward_vec_op) {
  using S = std::optional<double>;
  using Rest = std::conditional_t<kind.dims == 1, std::tuple<Align..., S>,
                                  std::conditional_t<kind.dims == 2, std::tuple<Align..., S, S>,
                                                     std::tuple<Align..., S, S, S>>>;
  define_sized<kind, op, backward>(m, std::type_identity<Rest>());
  define(m, vec_op).composite_explicit(&vec<kind, op, Align...>).out("vec_out");
  define(m, backward_vec_op)
      .composite_explicit(&backward_vec<kind, backward, Align...>)
      .out("vec_out");
}

// Two dimensions, and a vec form that is composed.
template <Kind kind, auto& op, auto& backward>
void define_antialiased(Library& m, const auto& vec_op) {
  using S = std::optional<double>;
  define_sized<kind, op, backward>(m, std::type_identity<std::tuple<bool, S, S>>());
  define(m, vec_op).composed(&vec<kind, op, bool>);
}

}  // namespace

#define SB_DEFINE_UPSAMPLE(mode, dims, name, ...)                                     \
  define_upsample<Kind{UpsampleMode::mode, dims}, name, name##_backward __VA_ARGS__>( \
      m, name##_vec, name##_backward_vec)

SB_LIBRARY_FRAGMENT(aten, m) {
  SB_DEFINE_UPSAMPLE(Nearest, 1, upsample_nearest1d);
  SB_DEFINE_UPSAMPLE(Nearest, 2, upsample_nearest2d);
  SB_DEFINE_UPSAMPLE(Nearest, 3, upsample_nearest3d);
  SB_DEFINE_UPSAMPLE(NearestExact, 1, _upsample_nearest_exact1d);
  SB_DEFINE_UPSAMPLE(NearestExact, 2, _upsample_nearest_exact2d);
  SB_DEFINE_UPSAMPLE(NearestExact, 3, _upsample_nearest_exact3d);
  SB_DEFINE_UPSAMPLE(Linear, 1, upsample_linear1d, , bool);
  SB_DEFINE_UPSAMPLE(Linear, 2, upsample_bilinear2d, , bool);
  SB_DEFINE_UPSAMPLE(Linear, 3, upsample_trilinear3d, , bool);
  SB_DEFINE_UPSAMPLE(Cubic, 2, upsample_bicubic2d, , bool);
  define_antialiased<Kind{UpsampleMode::Linear, 2, true}, _upsample_bilinear2d_aa,
                     _upsample_bilinear2d_aa_backward>(m, _upsample_bilinear2d_aa_vec);
  define_antialiased<Kind{UpsampleMode::Cubic, 2, true}, _upsample_bicubic2d_aa,
                     _upsample_bicubic2d_aa_backward>(m, _upsample_bicubic2d_aa_vec);
}

}  // namespace sb
