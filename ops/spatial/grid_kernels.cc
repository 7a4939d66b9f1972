#include "switchboard/ops/spatial/grid_kernels.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "switchboard/ops/cpu/independent_loop.h"

namespace sb::spatial {
namespace {

// Places that are looked at together. What is missing in the last block is a place, too, so that
// loops have a fixed length.
constexpr int64_t kBlock = 64;

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

// x, or 0 where a mask of all bits is not set.
template <class T>
T masked(T x, BitsOf<T> mask) {
  return std::bit_cast<T>(std::bit_cast<BitsOf<T>>(x) & mask);
}

// The taps of a block's places along a dimension.
template <class T, int taps>
struct Along {
  int32_t element[taps][kBlock];
  T weight[taps][kBlock];
  T change[taps][kBlock];

  template <GridPadding padding>
  [[gnu::noinline]] void find(const T* coordinates, int64_t size, GridModes modes) {
    modes.padding = padding;  // known to the compiler, so that the loop has no branch
    SB_INDEPENDENT_LOOP
    for (int64_t p = 0; p < kBlock; ++p) {
      const auto found = taps_of<T, taps>(coordinates[p], size, modes);
#pragma GCC unroll 4
      for (size_t k = 0; k < taps; ++k) {
        element[k][p] = found.element[k];
        weight[k][p] = found.weight[k];
        change[k][p] = found.change[k];
      }
    }
  }
};

// What a block's places read of a plane.
template <class T, int rank, int taps>
class Block {
 public:
  static constexpr int kTaps = rank == 2 ? taps * taps : taps * taps * taps;
  using Changes = T[rank][kBlock];  // of coordinates, slowest dimension first

  [[gnu::noinline]] Block(const GridPiece<T>& piece, int64_t first, bool with_changes)
      : n_(std::min(kBlock, piece.places - first)) {
    // By dimension, slowest first.
    Along<T, taps> along[rank];
    int32_t size[rank];
    for (int d = 0; d < rank; ++d) {
      size[d] = static_cast<int32_t>(piece.sizes[d]);
      T coordinates[kBlock] = {};
      for (int64_t p = 0; p < n_; ++p)
        coordinates[p] = piece.coordinates[(first + p) * rank + (rank - 1 - d)];
      const auto find = [&]<GridPadding padding>() {
        along[d].template find<padding>(coordinates, size[d], piece.modes);
      };
      switch (piece.modes.padding) {
        case GridPadding::Zeros:
          find.template operator()<GridPadding::Zeros>();
          break;
        case GridPadding::Border:
          find.template operator()<GridPadding::Border>();
          break;
        case GridPadding::Reflection:
          find.template operator()<GridPadding::Reflection>();
      }
    }
    for (int i = 0; i < kTaps; ++i) {
      int tap[rank];
      for (int d = rank - 1, rest = i; d >= 0; --d, rest /= taps) tap[d] = rest % taps;
      SB_INDEPENDENT_LOOP
      for (int64_t p = 0; p < kBlock; ++p) {
        int32_t element = 0, outside = 0;
        T weight = 1;
#pragma GCC unroll 3
        for (int d = 0; d < rank; ++d) {
          const int32_t e = along[d].element[tap[d]][p];
          outside |= e;  // negative if one is
          element = element * size[d] + e;
          weight *= along[d].weight[tap[d]][p];
        }
        const int32_t inside = ~(outside >> 31);
        element_[i][p] = element & inside;
        mask_[i][p] = static_cast<BitsOf<T>>(inside);
        weight_[i][p] = masked(weight, mask_[i][p]);
      }
      for (int e = 0; with_changes && e < rank; ++e) {
        SB_INDEPENDENT_LOOP
        for (int64_t p = 0; p < kBlock; ++p) {
          T change = 1;
#pragma GCC unroll 3
          for (int d = 0; d < rank; ++d)
            change *= (d == e ? along[d].change : along[d].weight)[tap[d]][p];
          change_[e][i][p] = masked(change, mask_[i][p]);
        }
      }
    }
  }

  void read(const T* plane, T* to) const {
    T sums[kBlock];
    SB_INDEPENDENT_LOOP
    for (int64_t p = 0; p < kBlock; ++p) {
      T sum = 0;
#pragma GCC unroll 16
      for (int i = 0; i < kTaps; ++i)
        sum += weight_[i][p] * masked(plane[element_[i][p]], mask_[i][p]);
      sums[p] = sum;
    }
    std::copy_n(sums, n_, to);
  }

  // Places may share elements.
  void spread(const T* grad, T* plane) const {
    for (int64_t p = 0; p < n_; ++p) {
#pragma GCC unroll 16
      for (int i = 0; i < kTaps; ++i)
        if (mask_[i][p]) plane[element_[i][p]] += weight_[i][p] * grad[p];
    }
  }

  // Adds what a channel's gradient is to the coordinates'.
  void change(const T* grad, const T* plane, Changes& sums) const {
    T grads[kBlock] = {};
    std::copy_n(grad, n_, grads);
    for (int i = 0; i < kTaps; ++i) {
      SB_INDEPENDENT_LOOP
      for (int64_t p = 0; p < kBlock; ++p) {
        const T value = masked(grads[p] * plane[element_[i][p]], mask_[i][p]);
#pragma GCC unroll 3
        for (int d = 0; d < rank; ++d) sums[d][p] += value * change_[d][i][p];
      }
    }
  }

  int64_t size() const { return n_; }

 private:
  int64_t n_;
  int32_t element_[kTaps][kBlock];
  BitsOf<T> mask_[kTaps][kBlock];  // of what is inside
  T weight_[kTaps][kBlock];
  T change_[rank][kTaps][kBlock];
};

// Calls f(first place, block) for each block of places.
template <class T, int rank, int taps, class F>
void for_each_block_of(const GridPiece<T>& piece, bool with_changes, const F& f) {
  for (int64_t first = 0; first < piece.places; first += kBlock)
    f(first, Block<T, rank, taps>(piece, first, with_changes));
}
template <class T, class F>
void for_each_block(const GridPiece<T>& piece, bool with_changes, const F& f) {
  const bool plane = piece.rank == 2;
  switch (piece.modes.interpolation) {
    case GridInterpolation::Nearest:
      return plane ? for_each_block_of<T, 2, 1>(piece, with_changes, f)
                   : for_each_block_of<T, 3, 1>(piece, with_changes, f);
    case GridInterpolation::Linear:
      return plane ? for_each_block_of<T, 2, 2>(piece, with_changes, f)
                   : for_each_block_of<T, 3, 2>(piece, with_changes, f);
    case GridInterpolation::Cubic:  // of planes only
      return for_each_block_of<T, 2, 4>(piece, with_changes, f);
  }
}

template <class T>
void read(const GridPiece<T>& piece, const T* input, T* output) {
  for_each_block(piece, false, [&](int64_t first, const auto& block) {
    for (int64_t c = 0; c < piece.channels; ++c)
      block.read(input + c * piece.input_step, output + c * piece.output_step + first);
  });
}

template <class T>
void spread(const GridPiece<T>& piece, const T* output, T* input) {
  for_each_block(piece, false, [&](int64_t first, const auto& block) {
    for (int64_t c = 0; c < piece.channels; ++c)
      block.spread(output + c * piece.output_step + first, input + c * piece.input_step);
  });
}

template <class T>
void change(const GridPiece<T>& piece, const T* output, const T* input, T* coordinates) {
  for_each_block(piece, true, [&]<class Block>(int64_t first, const Block& block) {
    typename Block::Changes sums = {};
    for (int64_t c = 0; c < piece.channels; ++c)
      block.change(output + c * piece.output_step + first, input + c * piece.input_step, sums);
    for (int d = 0; d < piece.rank; ++d)
      for (int64_t p = 0; p < block.size(); ++p)
        coordinates[(first + p) * piece.rank + piece.rank - 1 - d] = sums[d][p];
  });
}

}  // namespace

SB_CPU_KERNEL(GridKernels<float>, grid_kernels_float, {read<float>, spread<float>, change<float>});
SB_CPU_KERNEL(GridKernels<double>, grid_kernels_double,
              {read<double>, spread<double>, change<double>});

}  // namespace sb::spatial
