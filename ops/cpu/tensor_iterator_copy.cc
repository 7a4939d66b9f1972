// TensorIterator's copies.

#include <algorithm>
#include <bit>
#include <exception>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/cpu/transpose.h"

namespace sb {
namespace {

using Dims = TensorIterator::Dims;

// Copies of so many bytes are written past the caches, in which they would not stay.
constexpr int64_t kStreamBytes = int64_t{8} << 20;
// Inputs from this many elements on leave the first cache.
constexpr int64_t kLargeInput = 4096;
// What is worth a thread of its own.
constexpr int64_t kPieceBytes = int64_t{1} << 18;
// A dimension from this length on is worth transposing.
constexpr int64_t kLongSide = 8;

struct Range {
  const char* begin;
  const char* end;
};
Range range_of(const char* data, const Dims& shape, const Dims& strides, int64_t itemsize) {
  Range range = {data, data + itemsize};
  for (size_t d = 0; d < shape.size(); ++d) {
    (strides[d] < 0 ? range.begin : range.end) += (shape[d] - 1) * strides[d];
  }
  return range;
}

constexpr int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

// The dimensions are in the target's order.
struct TensorIterator::CopyWalk {
  const Dims& shape;
  const Operand& to;
  const Operand& from;
  const int64_t numel;
  const DType from_dtype = from.tensor->dtype();
  const DType to_dtype = to.tensor->dtype();
  const int64_t from_size = static_cast<int64_t>(itemsize(from_dtype));
  const int64_t size = static_cast<int64_t>(itemsize(to_dtype));

  bool overlaps() const {
    const Range a = range_of(to.data, shape, to.strides, size);
    const Range b = range_of(from.data, shape, from.strides, from_size);
    return a.begin < b.end && b.begin < a.end;
  }

  struct Place {
    Dims position;
    char* to;
    const char* from;
  };
  // Place number i in the dimensions after the first, without `skipped`.
  Place seek(int64_t i, size_t skipped = 0) const {
    Place place = {Dims(shape.size(), 0), to.data, from.data};
    for (size_t d = 1; d < shape.size(); ++d) {
      if (d == skipped) continue;
      const int64_t at = place.position[d] = i % shape[d];
      place.to += at * to.strides[d];
      place.from += at * from.strides[d];
      i /= shape[d];
    }
    return place;
  }
  // To the next place in the dimensions from `first` on.
  void next(Place* place, size_t first) const {
    for (size_t d = first; d < shape.size(); ++d) {
      place->to += to.strides[d];
      place->from += from.strides[d];
      if (++place->position[d] < shape[d]) return;
      place->to -= shape[d] * to.strides[d];
      place->from -= shape[d] * from.strides[d];
      place->position[d] = 0;
    }
  }

  void copy_rows(int64_t grain) const {
    const CastFunction cast = cast_function(from_dtype, to_dtype);
    const int64_t row = shape[0], to_stride = to.strides[0], from_stride = from.strides[0];
    if (row >= grain || shape.size() == 1) {
      return parallel_for(0, numel, grain, [&](int64_t begin, int64_t end) {
        Place place = seek(begin / row);
        for (int64_t column = begin % row; begin < end; column = 0) {
          const int64_t n = std::min(row - column, end - begin);
          cast(place.to + column * to_stride, to_stride, place.from + column * from_stride,
               from_stride, n);
          begin += n;
          next(&place, 1);
        }
      });
    }
    // Short rows, many at a time.
    const int64_t to_row = to.strides[1], from_row = from.strides[1];
    parallel_for(0, numel / row, grain / row, [&](int64_t begin, int64_t end) {
      Place place = seek(begin);
      while (begin < end) {
        const int64_t n = std::min(shape[1] - place.position[1], end - begin);
        for (int64_t i = 0; i < n; ++i) {
          cast(place.to + i * to_row, to_stride, place.from + i * from_row, from_stride, row);
        }
        begin += n;
        place.to -= place.position[1] * to_row;
        place.from -= place.position[1] * from_row;
        place.position[1] = 0;
        next(&place, 2);
      }
    });
  }

  // The dimension in which the source is an array where the target is one in the first; 0 if there
  // is none.
  size_t transposed_dimension() const {
    if (from_dtype != to_dtype || to.strides[0] != size || shape[0] < kLongSide ||
        from.strides[0] == size || from.strides[0] == 0) {
      return 0;
    }
    for (size_t d = 1; d < shape.size(); ++d) {
      if (from.strides[d] == size && shape[d] >= kLongSide) return d;
    }
    return 0;
  }

  void transpose(size_t other) const {
    const int64_t rows = shape[0], columns = shape[other];
    const int64_t matrices = numel / (rows * columns);
    // Tiles of whole cache lines: 1 KiB of each written row, 256 bytes of each read one.
    const int64_t tile_rows = std::min(rows, 1024 / size);
    const int64_t tile_columns = std::min(columns, 256 / size);
    const int64_t down = divide_up(rows, tile_rows), across = divide_up(columns, tile_columns);
    bool stream = numel * size >= kStreamBytes && tile_rows * size == 1024 &&
                  reinterpret_cast<uintptr_t>(to.data) % 64 == 0;
    for (size_t d = 1; d < shape.size(); ++d) stream &= to.strides[d] % 64 == 0;
    const auto copy = (*transpose_kernel)[std::bit_width(static_cast<size_t>(size)) - 1];
    const int64_t grain = divide_up(kElementGrain, tile_rows * tile_columns);
    parallel_for(0, matrices * down * across, grain, [&](int64_t begin, int64_t end) {
      for (int64_t tile = begin; tile < end; ++tile) {
        const int64_t c = tile % across * tile_columns, r = tile / across % down * tile_rows;
        const Place place = seek(tile / across / down, other);
        copy({place.to + c * to.strides[other] + r * size, to.strides[other],
              place.from + r * from.strides[0] + c * size, from.strides[0],
              std::min(tile_rows, rows - r), std::min(tile_columns, columns - c), stream});
      }
    });
  }
};

// Copies large inputs that are transposed with respect to the walk: to gather them row by row would
// take each cache line once for each of its elements. The copies must live as long as the walk.
// They only save time, and the output may have its new shape by now: without memory for them the
// walk goes on without.
void TensorIterator::straighten_inputs(absl::Span<Tensor> copies) {
  if (numel_ < kLargeInput || shape_.size() < 2) return;
  bool any = false;
  for (size_t i = 1; i < num_operands_; ++i) {
    Operand& o = operands_[i];
    if (std::ranges::find(o.strides, 0) != o.strides.end()) continue;  // it is smaller than that
    const DType dtype = o.tensor->dtype();
    Operand straight;
    int64_t stride = static_cast<int64_t>(itemsize(dtype));
    for (int64_t size : shape_) {
      straight.strides.push_back(stride);
      stride *= size;
    }
    straight.tensor = o.tensor;
    const CopyWalk copy{shape_, straight, o, numel_};
    const size_t other = copy.transposed_dimension();
    if (other == 0) continue;
    try {
      copies[i] = empty_on(DeviceType::CPU, {numel_}, dtype);
    } catch (const std::exception&) {
      continue;
    }
    straight.data = static_cast<char*>(copies[i].data_ptr());
    copy.transpose(other);
    o.data = straight.data;
    o.strides = straight.strides;
    any = true;
  }
  if (any) coalesce_dimensions();
}

void TensorIterator::run_copy() {
  if (numel_ == 0) return;
  prepare_walk();
  const CopyWalk copy{shape_, operands_[0], operands_[1], numel_};
  // In order and on one thread where source and target overlap.
  if (numel_ < kLongSide * kLongSide || copy.overlaps()) return copy.copy_rows(numel_);
  if (const size_t other = copy.transposed_dimension()) return copy.transpose(other);
  // How a copy is cut does not change what it writes. Large pieces are best for memcpy, and worth a
  // thread.
  copy.copy_rows(std::max(kPieceBytes / copy.size, divide_up(numel_, get_num_threads())));
}

}  // namespace sb
