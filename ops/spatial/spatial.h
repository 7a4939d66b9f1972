// What operators over the space behind batch and channels share.
//
// One, two and three dimensions are the same code: sizes stand right-aligned in three, with ones
// (of size, kernel, stride) before them.

#ifndef SWITCHBOARD_OPS_SPATIAL_SPATIAL_H_
#define SWITCHBOARD_OPS_SPATIAL_SPATIAL_H_

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "switchboard/core/dtype_types.h"
#include "switchboard/core/symbols/sym_int.h"
#include "switchboard/core/tensor.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/shape/size_lists.h"

namespace sb::spatial {

// depth, height, width.
template <SizeType Int>
using Space = std::array<Int, 3>;
using Size3 = Space<int64_t>;

// The last `dims` of `sizes`.
template <SizeType Int>
Space<Int> space_of(SizesRef<Int> sizes, int dims) {
  Space<Int> result = {Int(1), Int(1), Int(1)};
  std::copy_n(sizes.end() - dims, dims, result.end() - dims);
  return result;
}
inline Size3 space_of(IntArrayRef sizes, int dims) { return space_of<int64_t>(sizes, dims); }
// How many elements a space has. They fit int64, as those of a tensor's.
int64_t volume(const Size3& s);

// A list argument with one element for all dimensions or one for each. Where it may be empty,
// `if_empty` holds. RuntimeError for other lengths.
Size3 list_argument(std::string_view op, const char* name, IntArrayRef list, int dims);
Size3 list_argument(std::string_view op, const char* name, IntArrayRef list, int dims,
                    const Size3& if_empty);

// For operators over one dimension that are made of those over two: a list's only element, and
// whether self is (N, C, L) or (C, L).
int64_t one_int(std::string_view op, const char* name, IntArrayRef list);
void check_rank_1d(std::string_view op, const Tensor& self);

// The values of sizes that are no symbols, or are guarded.
DimVector guarded(SymIntArrayRef list);

// Tensors (N, C, space...) or (C, space...). RuntimeError for another number of dimensions, and
// where one besides the batch's is empty.
template <SizeType Int>
void check_batched_or_not(std::string_view op, const Tensor& self, int dims) {
  SB_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, op, ": expected ", dims + 1, " or ",
           dims + 2, " dimensions, got ", self.describe());
  for (const Int& size : sizes_of<Int>(self).subspan(self.dim() == dims + 2)) {
    SB_CHECK(size != 0, op, ": expected no empty dimension besides the batch, got ",
             self.describe());
  }
}
inline void check_batched_or_not(std::string_view op, const Tensor& self, int dims) {
  check_batched_or_not<int64_t>(op, self, dims);
}
template <SizeType Int>
void check_sizes(std::string_view op, const char* name, const Tensor& t, SizesRef<Int> expected) {
  SB_CHECK(equal_sizes<Int>(sizes_of<Int>(t), expected), op, ": ", name, ": expected shape ",
           shape_text(expected), ", got ", t.describe());
}
inline void check_sizes(std::string_view op, const char* name, const Tensor& t,
                        IntArrayRef expected) {
  check_sizes<int64_t>(op, name, t, expected);
}

// Batch and channels of `like`, then the last `dims` of `space`.
template <SizeType Int>
SizeVector<Int> with_space(SizesRef<Int> like, const Space<Int>& space, int dims) {
  SizeVector<Int> sizes(like.begin(), like.end() - dims);
  sizes.insert(sizes.end(), space.end() - dims, space.end());
  return sizes;
}
inline DimVector with_space(IntArrayRef like, const Size3& space, int dims) {
  return with_space<int64_t>(like, space, dims);
}
// A result laid out as `like` is: channels-last where that is. As suggest_memory_format.
template <SizeType Int>
BasicTensorMeta<Int> laid_out_like(const Tensor& like, SizesRef<Int> sizes, DType dtype) {
  return {{sizes.begin(), sizes.end()},
          dtype,
          strides_in_format<Int>(sizes, suggest_memory_format(like))};
}
inline TensorMeta laid_out_like(const Tensor& like, IntArrayRef sizes, DType dtype) {
  return laid_out_like<int64_t>(like, sizes, dtype);
}
// The same for a pool over `dims` dimensions of space: three are never channels-last there in
// PyTorch.
template <SizeType Int>
BasicTensorMeta<Int> pool_laid_out_like(int dims, const Tensor& like, SizesRef<Int> sizes,
                                        DType dtype) {
  if (dims == 2) return laid_out_like<Int>(like, sizes, dtype);
  return {{sizes.begin(), sizes.end()}, dtype};
}
inline TensorMeta pool_laid_out_like(int dims, const Tensor& like, IntArrayRef sizes, DType dtype) {
  return pool_laid_out_like<int64_t>(dims, like, sizes, dtype);
}

// The dtype that a kernel computes a dtype in: float32 for 16-bit floats, int64 for integers.
// RuntimeError for bool.
DType computed_in(std::string_view op, DType dtype);
// The same, with a RuntimeError for complex numbers, and for integers.
DType computed_in_real(std::string_view op, DType dtype);
DType computed_in_float(std::string_view op, DType dtype);
// `t`'s elements, contiguous and in that dtype: t itself where it is so.
Tensor dense_input(const Tensor& t, DType dtype);

// The contiguous tensor of a dtype that a kernel writes instead of `out`, or `out` itself.
class DenseOutput {
 public:
  DenseOutput(const Tensor& out, DType dtype);
  const Tensor& tensor() const { return dense_; }
  void finish() const;

 private:
  const Tensor& out_;
  Tensor dense_;
};

// Calls f with a T{} of the C++ type: those that kernels compute in.
template <class F>
void visit_float(DType dtype, const F& f) {
  if (dtype == DType::Float32) return f(float{});
  SB_ASSERT(dtype == DType::Float64);
  f(double{});
}
template <class F>
void visit_real(DType dtype, const F& f) {
  if (dtype == DType::Int64) return f(int64_t{});
  visit_float(dtype, f);
}
template <class F>
void visit_number(DType dtype, const F& f) {
  if (dtype == DType::Complex64) return f(std::complex<float>{});
  if (dtype == DType::Complex128) return f(std::complex<double>{});
  visit_real(dtype, f);
}
// What T's are added as: integers wrap.
template <class T>
struct SumTypeOf {
  using type = T;
};
template <std::integral T>
struct SumTypeOf<T> {
  using type = std::make_unsigned_t<T>;
};
template <class T>
using SumType = typename SumTypeOf<T>::type;

// With an integer of an element's size, for code that only moves elements.
template <class F>
void visit_size(size_t itemsize, const F& f) {
  struct Bytes16 {
    uint64_t half[2];
  };
  switch (itemsize) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      return f(Bytes16{});
  }
}

// How many of `items` pieces of work of `cost` operations each a piece of a parallel_for takes.
int64_t grain_for(int64_t cost);

// Gives out the strides of `result` even where it has the shape already, as PyTorch does where it
// calls resize_, and its elements. RuntimeError, with nothing changed, where the dtypes differ.
void give_restrided(std::string_view op, const Tensor& result, const Tensor& out);

template <auto& op, auto rule, auto kernel, bool with_data>
struct RestridedOut {
  template <class R, class... A>
  struct Kernel {
    Tensor operator()(A... args, const Tensor& out) const {
      // Before what the operator has no arithmetic for, which it refuses last.
      const Tensor& self = std::get<0>(std::tie(args...));
      SB_CHECK(!self.defined() || (out.defined() && out.dtype() == self.dtype()), op.name(),
               ": out: expected ", to_string(self.dtype()), ", got ",
               out.defined() ? out.describe() : "an undefined tensor");
      give_restrided(op.name(), structured_form<rule, kernel>(op, with_data)(args...), out);
      return out;
    }
  };
};
// The out= form of a structured operator that does so.
template <auto& op, auto rule, auto kernel, class OutTag>
void define_restrided_out(Library& m, const Op<OutTag>& out) {
  using Traits = typename std::remove_cvref_t<decltype(op)>::Traits;
  using OnCpu = RestridedOut<op, rule, kernel, true>;
  using OnMeta = RestridedOut<op, rule, kernel, false>;
  define(m, out)
      .cpu(typename Traits::template Apply<OnCpu::template Kernel>())
      .meta(typename Traits::template Apply<OnMeta::template Kernel>());
}

}  // namespace sb::spatial

#endif  // SWITCHBOARD_OPS_SPATIAL_SPATIAL_H_
