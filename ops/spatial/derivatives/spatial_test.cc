// First and second derivatives against finite differences. The formulas of other families that the
// second ones go through are tested there.

#include <cmath>

#include "catch2/catch.hpp"
#include "switchboard/autograd/backward.h"
#include "switchboard/autograd/gradcheck.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/core/checked_math.h"
#include "switchboard/ops/arithmetic/arithmetic.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/lazy_bits/conjugate.h"
#include "switchboard/ops/spatial/columns.h"
#include "switchboard/ops/spatial/convolution.h"
#include "switchboard/ops/spatial/grid_sampler.h"
#include "switchboard/ops/spatial/padding.h"
#include "switchboard/ops/spatial/pooling.h"
#include "switchboard/ops/spatial/upsample.h"
#include "switchboard/ops/testing/places.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/tests/gradients/test_derivatives.h"

namespace sb {
namespace {

using test::check_all;
using test::complex_leaf;
using test::signed_leaf;
using test::Tensors;

TEST_CASE("convolutions have the gradients of input, weight and bias") {
  const auto conv = [](const Tensors& in) {
    return Tensors{convolution(in[0], in[1], in[2], {2}, {1}, {1}, false, {0}, 2)};
  };
  SECTION("in one dimension") {
    check_all(conv, {signed_leaf({2, 4, 5}), signed_leaf({2, 2, 3}, 1), signed_leaf({2})});
  }
  SECTION("in two") {
    check_all(conv, {signed_leaf({1, 2, 4, 3}), signed_leaf({2, 1, 2, 3}, 1), signed_leaf({2})});
  }
  SECTION("in three") {
    check_all(conv,
              {signed_leaf({1, 2, 2, 3, 2}), signed_leaf({2, 1, 2, 2, 2}, 1), signed_leaf({2})});
  }
  SECTION("of complex numbers") {
    check_all(conv, {complex_leaf({1, 2, 4}), complex_leaf({2, 1, 2}, 1), complex_leaf({2})});
  }
}

TEST_CASE("transposed and dilated convolutions have them, too") {
  check_all(
      [](const Tensors& in) {
        return Tensors{convolution(in[0], in[1], in[2], {2}, {1}, {2}, true, {1}, 2)};
      },
      {signed_leaf({1, 4, 3, 2}), signed_leaf({4, 1, 2, 2}, 1), signed_leaf({2})});
  check_all(
      [](const Tensors& in) {
        return Tensors{_convolution(in[0], in[1], std::nullopt, {1}, {2}, {2}, false, {0}, 1, false,
                                    false, false, false)};
      },
      {signed_leaf({1, 2, 4}), signed_leaf({2, 2, 2}, 1)});
}

TEST_CASE("a bias alone may want a gradient, and so may a weight") {
  Tensor input = signed_leaf({1, 2, 4}), weight = signed_leaf({2, 2, 2}, 1),
         bias = signed_leaf({2});
  set_requires_grad(input, false);
  const auto conv = [&](const Tensor& w, const Tensor& b) {
    return convolution(input, w, b, {1}, {0}, {1}, false, {0}, 1);
  };
  check_all([&](const Tensor& w) { return conv(w, bias); }, weight);
  set_requires_grad(weight, false);
  check_all([&](const Tensor& b) { return conv(weight, b); }, bias);
}

TEST_CASE("composites of convolutions are derived through their parts") {
  const Tensors one = {signed_leaf({1, 2, 5}), signed_leaf({2, 2, 2}, 1)};
  check_all(
      [](const Tensors& in) { return Tensors{conv1d_padding(in[0], in[1], {}, {1}, "same")}; },
      one);
  check_all([](const Tensors& in) { return Tensors{conv_transpose1d(in[0], in[1])}; }, one);
  check_all([](const Tensors& in) { return Tensors{conv2d(in[0], in[1])}; },
            {signed_leaf({2, 3, 3}), signed_leaf({1, 2, 2, 2}, 1)});
}

TEST_CASE("max poolings pass gradients to where the largest elements are") {
  check_all([](const Tensor& t) { return max_pool1d(t, {2}, {1}, {1}, {2}); }, signed_leaf({2, 6}));
  check_all([](const Tensor& t) { return max_pool2d(t, {2}, {2}, {1}, {1}, true); },
            signed_leaf({1, 2, 4, 3}));
  check_all([](const Tensor& t) { return max_pool3d(t, {2}, {1}); }, signed_leaf({1, 1, 3, 3, 2}));
  check_all([](const Tensor& t) { return std::get<0>(adaptive_max_pool1d(t, {2})); },
            signed_leaf({2, 5}));
  check_all(
      [](const Tensor& t) {
        return std::get<0>(adaptive_max_pool2d(t, {2, 3}));
      },
      signed_leaf({1, 2, 3, 4}));
  check_all(
      [](const Tensor& t) {
        return std::get<0>(adaptive_max_pool3d(t, {2, 1, 2}));
      },
      signed_leaf({1, 3, 3, 2}));
  const Tensor samples = test::tensor_of({1, 2, 2}, {0.1, 0.6, 0.9, 0.3}, DType::Float64);
  check_all(
      [&](const Tensor& t) {
        return std::get<0>(fractional_max_pool2d(t, {2, 2}, {2, 2}, samples));
      },
      signed_leaf({1, 2, 5, 5}));
  const Tensor samples3 = test::tensor_of({1, 1, 3}, {0.1, 0.6, 0.9}, DType::Float64);
  check_all(
      [&](const Tensor& t) {
        return std::get<0>(fractional_max_pool3d(t, {2, 2, 2}, {2, 1, 2}, samples3));
      },
      signed_leaf({1, 1, 4, 3, 4}));
}

TEST_CASE("max_unpool gathers") {
  const Tensor places = test::tensor_of({1, 2, 2}, {5, 0, 3, 10}, DType::Int64);
  check_all(
      [&](const Tensor& t) {
        return max_unpool2d(t, places, {3, 4});
      },
      signed_leaf({1, 2, 2}));
  const Tensor places3 = test::tensor_of({1, 1, 2, 2}, {5, 0, 3, 10}, DType::Int64);
  check_all(
      [&](const Tensor& t) {
        return max_unpool3d(t, places3, {2, 2, 3}, {1, 1, 1}, {0, 0, 0});
      },
      signed_leaf({1, 1, 2, 2}));
}

TEST_CASE("means pass gradients to all that they are of") {
  check_all([](const Tensor& t) { return avg_pool1d(t, {2}, {1}, {1}); }, signed_leaf({2, 4}));
  check_all([](const Tensor& t) { return avg_pool2d(t, {2}, {2}, {1}, true, false); },
            signed_leaf({1, 2, 4, 3}));
  check_all([](const Tensor& t) { return avg_pool3d(t, {2}, {1}, {0}, false, true, 3); },
            signed_leaf({1, 3, 2, 3}));
  check_all([](const Tensor& t) { return adaptive_avg_pool1d(t, {3}); }, signed_leaf({2, 4}));
  check_all(
      [](const Tensor& t) {
        return adaptive_avg_pool2d(t, {2, 3});
      },
      signed_leaf({1, 2, 3, 4}));
  check_all(
      [](const Tensor& t) {
        return adaptive_avg_pool2d(t, {1, 1});
      },
      signed_leaf({1, 2, 3, 4}));
  check_all(
      [](const Tensor& t) {
        return adaptive_avg_pool3d(t, {2, 1, 2});
      },
      signed_leaf({1, 3, 3, 2}));
}

TEST_CASE("elements that pad get gradients, too") {
  check_all([](const Tensor& t) { return reflection_pad1d(t, {2, 1}); }, signed_leaf({2, 3}));
  check_all(
      [](const Tensor& t) {
        return reflection_pad2d(t, {1, -1, 2, 1});
      },
      signed_leaf({1, 3, 3}));
  check_all(
      [](const Tensor& t) {
        return reflection_pad3d(t, {1, 0, 0, 1, 1, 1});
      },
      signed_leaf({1, 2, 2, 2}));
  check_all([](const Tensor& t) { return replication_pad1d(t, {3, 1}); }, signed_leaf({2, 3}));
  check_all(
      [](const Tensor& t) {
        return replication_pad2d(t, {1, -1, 3, 1});
      },
      signed_leaf({1, 3, 3}));
  check_all(
      [](const Tensor& t) {
        return replication_pad3d(t, {1, 0, 0, 1, 2, 1});
      },
      signed_leaf({1, 2, 2, 2}));
  check_all([](const Tensor& t) { return reflection_pad1d(t, {2, 1}); }, complex_leaf({2, 3}));
}

TEST_CASE("columns and their sums are each other's gradients") {
  check_all(
      [](const Tensor& t) {
        return im2col(t, {2, 2}, {1, 2}, {1, 0}, {2, 1});
      },
      signed_leaf({1, 2, 4, 4}));
  check_all(
      [](const Tensor& t) {
        return col2im(t, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 1});
      },
      signed_leaf({1, 4, 4}));
  check_all(
      [](const Tensor& t) {
        return im2col(t, {2, 2}, {1, 1}, {0, 0}, {1, 1});
      },
      complex_leaf({1, 2, 3}));
}

TEST_CASE("an empty batch has an empty gradient, and leaves zeros to the weight") {
  const auto check = [](const Tensor& input, const std::function<Tensor(const Tensor&)>& f) {
    const Tensor result = f(input);
    CHECK(grad({result}, {input}, {ones_like(result)})[0].sizes() == input.sizes());
  };
  const Tensor plane = signed_leaf({0, 2, 4, 4}), line = signed_leaf({0, 2, 4});
  check(plane, [](const Tensor& t) { return max_pool2d(t, {2}); });
  check(plane, [](const Tensor& t) { return std::get<0>(adaptive_max_pool2d(t, {2, 2})); });
  check(plane, [](const Tensor& t) { return avg_pool2d(t, {2}); });
  check(plane, [](const Tensor& t) { return adaptive_avg_pool2d(t, {2, 2}); });
  check(plane, [](const Tensor& t) { return upsample_nearest2d_vec(t, {}, {{2., 2.}}); });
  check(plane, [](const Tensor& t) { return im2col(t, {2, 2}, {1, 1}, {0, 0}, {1, 1}); });
  check(line, [](const Tensor& t) { return reflection_pad1d(t, {1, 1}); });
  const Tensor weight = signed_leaf({2, 2, 3});
  const Tensor result = conv1d(line, weight);
  const Tensors grads = grad({result}, {line, weight}, {ones_like(result)});
  CHECK(grads[0].sizes() == line.sizes());
  CHECK(test::values_of(grads[1]) == std::vector<double>(12, 0));
}

TEST_CASE("channels-last tensors have the same gradients") {
  const Tensor last = detach(contiguous(signed_leaf({2, 3, 4, 4}), MemoryFormat::ChannelsLast));
  set_requires_grad(last);
  check_all([](const Tensor& t) { return adaptive_avg_pool2d(t, {1, 1}); }, last);
  check_all([](const Tensor& t) { return max_pool2d(t, {2}); }, last);
  check_all([](const Tensor& t) { return avg_pool2d(t, {2}); }, last);
}

TEST_CASE("resizing has gradients in every mode") {
  const Tensor line = signed_leaf({1, 2, 4}), plane = signed_leaf({1, 1, 3, 4}),
               space = signed_leaf({1, 1, 2, 3, 2});
  const SymInt sizes[] = {5, 3, 4};
  const SymIntArrayRef in_1d(sizes, 1), in_2d(sizes, 2), in_3d(sizes, 3);
  check_all([&](const Tensor& t) { return upsample_nearest1d(t, in_1d); }, line);
  check_all([&](const Tensor& t) { return upsample_nearest2d(t, in_2d); }, plane);
  check_all([&](const Tensor& t) { return upsample_nearest3d(t, in_3d); }, space);
  check_all([&](const Tensor& t) { return _upsample_nearest_exact1d(t, in_1d); }, line);
  check_all([&](const Tensor& t) { return _upsample_nearest_exact2d(t, in_2d); }, plane);
  check_all([&](const Tensor& t) { return _upsample_nearest_exact3d(t, in_3d); }, space);
  for (const bool align : {false, true}) {
    check_all([&](const Tensor& t) { return upsample_linear1d(t, in_1d, align); }, line);
    check_all([&](const Tensor& t) { return upsample_bilinear2d(t, in_2d, align); }, plane);
    check_all([&](const Tensor& t) { return upsample_trilinear3d(t, in_3d, align); }, space);
    check_all([&](const Tensor& t) { return upsample_bicubic2d(t, in_2d, align); }, plane);
  }
}

TEST_CASE("resizing by scales has gradients in every mode") {
  const Tensor line = signed_leaf({1, 2, 4}), plane = signed_leaf({1, 1, 3, 4}),
               space = signed_leaf({1, 1, 2, 3, 2});
  const std::vector<double> scales = {1.5, 2, 1.75};
  const auto first = [&](size_t n) {
    return OptionalDoubleArrayRef(absl::MakeSpan(scales).first(n));
  };
  check_all([&](const Tensor& t) { return upsample_nearest1d_vec(t, {}, first(1)); }, line);
  check_all([&](const Tensor& t) { return upsample_nearest2d_vec(t, {}, first(2)); }, plane);
  check_all([&](const Tensor& t) { return upsample_nearest3d_vec(t, {}, first(3)); }, space);
  check_all([&](const Tensor& t) { return _upsample_nearest_exact1d_vec(t, {}, first(1)); }, line);
  check_all([&](const Tensor& t) { return _upsample_nearest_exact2d_vec(t, {}, first(2)); }, plane);
  check_all([&](const Tensor& t) { return _upsample_nearest_exact3d_vec(t, {}, first(3)); }, space);
  check_all([&](const Tensor& t) { return upsample_linear1d_vec(t, {}, false, first(1)); }, line);
  check_all([&](const Tensor& t) { return upsample_bilinear2d_vec(t, {}, false, first(2)); },
            plane);
  check_all([&](const Tensor& t) { return upsample_trilinear3d_vec(t, {}, false, first(3)); },
            space);
  check_all([&](const Tensor& t) { return upsample_bicubic2d_vec(t, {}, false, first(2)); }, plane);
}

TEST_CASE("sampling at the places of a grid has derivatives by input and grid") {
  const int64_t interpolation = GENERATE(0, 1, 2), padding = GENERATE(0, 1, 2);
  const bool align_corners = GENERATE(false, true);
  Tensor grid = mul_Scalar(signed_leaf({1, 3, 2, 2}, 1), 0.61);
  grid = detach(grid);
  set_requires_grad(grid);
  const DifferentiableFunction sample = [&](const Tensors& in) {
    return Tensors{grid_sampler_2d(in[0], in[1], interpolation, padding, align_corners)};
  };
  CHECK(gradcheck_report(sample, {signed_leaf({1, 2, 3, 4}), grid}).to_string() == "");
  CHECK(gradgradcheck_report(sample, {signed_leaf({1, 2, 3, 4}), grid}).to_string() == "");
}
TEST_CASE("so has sampling in three dimensions") {
  Tensor grid = detach(mul_Scalar(signed_leaf({1, 2, 1, 2, 3}, 1), 0.4));
  set_requires_grad(grid);
  const DifferentiableFunction sample = [&](const Tensors& in) {
    return Tensors{grid_sampler_3d(in[0], in[1], 0, 2, false)};
  };
  CHECK(gradcheck_report(sample, {signed_leaf({1, 2, 3, 2, 3}), grid}).to_string() == "");
  CHECK(gradgradcheck_report(sample, {signed_leaf({1, 2, 3, 2, 3}), grid}).to_string() == "");
}

TEST_CASE("antialiased upsampling is linear") {
  const SymInt smaller[] = {3, 2}, larger[] = {7, 6};
  for (const auto& size : {SymIntArrayRef(smaller, 2), SymIntArrayRef(larger, 2)}) {
    check_all([&](const Tensor& x) { return _upsample_bilinear2d_aa(x, size, false); },
              signed_leaf({1, 1, 5, 4}));
    check_all([&](const Tensor& x) { return _upsample_bicubic2d_aa(x, size, true); },
              signed_leaf({1, 1, 5, 4}));
  }
}

TEST_CASE("an affine grid is linear in its map") {
  const SymInt size[] = {2, 1, 2, 3};
  for (const bool align_corners : {false, true}) {
    check_all(
        [&](const Tensor& theta) {
          return affine_grid_generator(theta, SymIntArrayRef(size, 4), align_corners);
        },
        signed_leaf({2, 2, 3}));
  }
}

}  // namespace
}  // namespace sb
