#include "switchboard/ops/spatial/im2col.h"

namespace sb::spatial {
namespace {

// Calls f(row of the columns, column, place in the planes, or -1 in the padding) for each element.
template <class F>
void for_each_element(const ConvShape& s, Stretch outputs, const F& f) {
  int64_t row = 0;
  for (int64_t c = 0; c < s.in_channels; ++c) {
    for (int64_t kd = 0; kd < s.kernel[0]; ++kd) {
      for (int64_t kh = 0; kh < s.kernel[1]; ++kh) {
        for (int64_t kw = 0; kw < s.kernel[2]; ++kw, ++row) {
          int64_t w = outputs.begin % s.output[2];
          int64_t h = outputs.begin / s.output[2] % s.output[1];
          int64_t d = outputs.begin / s.output[2] / s.output[1];
          for (int64_t o = outputs.begin; o < outputs.end;) {
            const int64_t id = d * s.stride[0] - s.padding[0] + kd * s.dilation[0];
            const int64_t ih = h * s.stride[1] - s.padding[1] + kh * s.dilation[1];
            const bool inside = id >= 0 && id < s.input[0] && ih >= 0 && ih < s.input[1];
            // A place far outside times a size may be no number.
            const int64_t line =
                inside ? ((c * s.input[0] + id) * s.input[1] + ih) * s.input[2] : 0;
            for (; w < s.output[2] && o < outputs.end; ++w, ++o) {
              const int64_t iw = w * s.stride[2] - s.padding[2] + kw * s.dilation[2];
              f(row, o - outputs.begin,
                inside && iw >= 0 && iw < s.input[2] ? line + iw : int64_t{-1});
            }
            w = 0;
            if (++h == s.output[1]) {
              h = 0;
              ++d;
            }
          }
        }
      }
    }
  }
}

}  // namespace

void planes_to_columns(const ConvShape& s, DType dtype, const void* input, Stretch outputs,
                       void* columns, int64_t columns_stride) {
  visit_size(itemsize(dtype), [&]<class T>(T) {
    const T* from = static_cast<const T*>(input);
    T* to = static_cast<T*>(columns);
    for_each_element(s, outputs, [&](int64_t row, int64_t column, int64_t at) {
      to[row * columns_stride + column] = at < 0 ? T{} : from[at];
    });
  });
}

void add_columns_to_planes(const ConvShape& s, DType dtype, const void* columns,
                           int64_t columns_stride, Stretch outputs, void* planes) {
  visit_number(dtype, [&]<class T>(T) {
    const T* from = static_cast<const T*>(columns);
    T* to = static_cast<T*>(planes);
    for_each_element(s, outputs, [&](int64_t row, int64_t column, int64_t at) {
      if (at < 0) return;
      if constexpr (std::is_same_v<T, int64_t>) {
        to[at] = static_cast<T>(static_cast<uint64_t>(to[at]) +
                                static_cast<uint64_t>(from[row * columns_stride + column]));
      } else {
        to[at] += from[row * columns_stride + column];
      }
    });
  });
}

}  // namespace sb::spatial
