#include "switchboard/ops/spatial/upsample.h"

#include "switchboard/ops/out_form.h"
#include "switchboard/ops/spatial/upsample_taps.h"

namespace sb {
namespace {

using namespace spatial;

// An operator: how it interpolates, over how many dimensions.
struct Kind {
  UpsampleMode mode;
  int dims;

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
  for (size_t i = 0; i < given.size(); ++i) options.scales[3 - given.size() + i] = given[i];
  return options;
}
template <class... S>
UpsampleOptions options_of(Kind kind, bool align_corners, S... scales) {
  UpsampleOptions options = options_of(kind, scales...);
  options.align_corners = align_corners;
  return options;
}

void check_spaces(const char* op, Kind kind, IntArrayRef input_size, IntArrayRef output_size) {
  SB_CHECK(output_size.size() == kind.n(), op, ": output_size: expected ", kind.n(),
           " elements, got ", shape_text(output_size));
  SB_CHECK(input_size.size() == kind.n() + 2, op, ": expected an input of ", kind.n() + 2,
           " dimensions, got ", shape_text(input_size));
  for (size_t d = 0; d < kind.n(); ++d) {
    SB_CHECK(input_size[d + 2] > 0 && output_size[d] > 0, op,
             ": expected sizes greater than 0, got ", shape_text(input_size), " and ",
             shape_text(output_size));
  }
}

// Which results are channels-last where the argument is.
TensorMeta laid_out(Kind kind, bool backward, const Tensor& like, DimVector sizes) {
  const bool propagates =
      kind.mode != UpsampleMode::Cubic && !(backward && kind.nearest() && kind.dims == 3);
  return propagates ? laid_out_like(like, sizes, like.dtype())
                    : TensorMeta{std::move(sizes), like.dtype()};
}

template <Kind kind, class... A>
TensorMeta rule(const Tensor& self, SymIntArrayRef output_size, A...) {
  const DimVector size = guarded(output_size);
  check_spaces("upsample", kind, self.sizes(), size);
  SB_CHECK(self.size(1) != 0, "upsample: expected channels, got ", self.describe());
  if (!kind.nearest()) computed_in_float("upsample", self.dtype());
  return laid_out(kind, /*backward=*/false, self,
                  with_space(self.sizes(), space_of(size, kind.dims), kind.dims));
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
  const DenseOutput dense(out, dtype);
  const Tensor input = dense_input(self, dtype);
  if (kind.nearest()) {
    gather_planes(taps, input, dense.tensor());
  } else {
    interpolate_planes(taps, input, dense.tensor());
  }
  dense.finish();
}

template <Kind kind, class... A>
TensorMeta backward_rule(const Tensor& grad_output, SymIntArrayRef output_size,
                         SymIntArrayRef input_size, A...) {
  const char* op = "upsample_backward";
  const DimVector in = guarded(input_size), out = guarded(output_size);
  check_spaces(op, kind, in, out);
  check_sizes(op, "grad_output", grad_output, with_space(in, space_of(out, kind.dims), kind.dims));
  computed_in_float(op, grad_output.dtype());
  return laid_out(kind, /*backward=*/true, grad_output, in);
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

// The size that a vec form asks for.
DimVector asked_size(Kind kind, IntArrayRef input_size, const OptionalSymIntArrayRef& output_size,
                     const OptionalDoubleArrayRef& scale_factors) {
  SB_CHECK(output_size.has_value() != scale_factors.has_value(),
           "upsample: expected either output_size or scale_factors");
  const size_t given = output_size ? output_size->size() : scale_factors->size();
  SB_CHECK(given == kind.n(), "upsample: expected ", kind.n(), " sizes or scales, got ", given);
  if (output_size) return guarded(*output_size);
  SB_CHECK(input_size.size() == kind.n() + 2, "upsample: expected an input of ", kind.n() + 2,
           " dimensions, got ", shape_text(input_size));
  DimVector size;
  for (size_t d = 0; d < kind.n(); ++d) {
    const double scaled = static_cast<double>(input_size[d + 2]) * (*scale_factors)[d];
    SB_CHECK(scaled >= 0 && scaled < 0x1p62, "upsample: scale_factors: ", (*scale_factors)[d],
             " times ", input_size[d + 2], " is no size");
    size.push_back(static_cast<int64_t>(scaled));
  }
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
  const DimVector size = asked_size(kind, input.sizes(), output_size, scale_factors);
  return with_scales<kind, op>(scale_factors, input, SymIntArrayRef(size), align_corners...);
}
template <Kind kind, auto& op, class... Align>
Tensor backward_vec(const Tensor& grad_output, OptionalSymIntArrayRef output_size,
                    SymIntArrayRef input_size, Align... align_corners,
                    OptionalDoubleArrayRef scale_factors) {
  const DimVector size = asked_size(kind, guarded(input_size), output_size, scale_factors);
  return with_scales<kind, op>(scale_factors, grad_output, SymIntArrayRef(size), input_size,
                               align_corners...);
}

template <Kind kind, auto& op, auto& backward, class... Align, class Vec, class BackwardVec>
void define_upsample(Library& m, const Vec& vec_op, const BackwardVec& backward_vec_op) {
  using S = std::optional<double>;
  if constexpr (kind.dims == 1) {
    define_structured<rule<kind, Align..., S>, kernel<kind, Align..., S>>(m, op);
    define_structured<backward_rule<kind, Align..., S>, backward_kernel<kind, Align..., S>>(
        m, backward);
  } else if constexpr (kind.dims == 2) {
    define_structured<rule<kind, Align..., S, S>, kernel<kind, Align..., S, S>>(m, op);
    define_structured<backward_rule<kind, Align..., S, S>, backward_kernel<kind, Align..., S, S>>(
        m, backward);
  } else {
    define_structured<rule<kind, Align..., S, S, S>, kernel<kind, Align..., S, S, S>>(m, op);
    define_structured<backward_rule<kind, Align..., S, S, S>,
                      backward_kernel<kind, Align..., S, S, S>>(m, backward);
  }
  const auto define_vec = [&](const auto& handle, auto body) {
    define_out_form(m, m.define(handle), "vec_out");
    m.impl(handle, DispatchKey::CompositeExplicitAutograd, body);
  };
  define_vec(vec_op, &vec<kind, op, Align...>);
  define_vec(backward_vec_op, &backward_vec<kind, backward, Align...>);
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
}

}  // namespace sb
