// TensorIterator's walk over the elements.

#include <algorithm>

#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/cpu/tensor_iterator.h"

namespace sb {
namespace {

// A buffer's size: those of all operands fit the first cache.
constexpr int64_t kBufferBytes = 8192;
// Rows from this length on are worth a call of the loop each, where that saves copying.
constexpr int64_t kLongRow = 64;

}  // namespace

// How the operands of one call of run() meet the loop. The elements are cut into pieces, for
// threads, and these into chunks, for which the loop is called. It finds each operand in the
// tensor's memory where the chunk is an array there, else in a buffer.
//
// A chunk is part of one row, or several whole rows where rows are short.
class TensorIterator::Walk {
 public:
  Walk(const TensorIterator& iterator, DType in, DType out) : it_(iterator) {
    int64_t widest = 1;
    for (size_t i = 0; i < it_.num_operands_; ++i) {
      plan_[i] = plan(it_.operands_[i], in, out);
      widest = std::max(widest, plan_[i].wanted_size);
    }
    chunk_ = kBufferBytes / widest;
    const int64_t row = it_.shape_[0];
    bool direct = true, gathers_needlessly = false;
    for (size_t i = 0; i < it_.num_operands_; ++i) {
      const Plan& p = plan_[i];
      direct &= p.direct_in_row;
      gathers_needlessly |= !p.dense && !p.repeats && p.direct_in_row;
    }
    by_rows_ = it_.shape_.size() == 1 || row >= chunk_ || (gathers_needlessly && row >= kLongRow);
    if (by_rows_) {
      if (direct) chunk_ = it_.numel_;
    } else {
      chunk_ = chunk_ / row * row;
    }
    grain_ = row < kElementGrain ? kElementGrain / row * row : kElementGrain;
  }

  void run(ElementwiseLoop loop, const void* params) const {
    parallel_for(0, it_.numel_, grain_, [&](int64_t from, int64_t to) {
      by_rows_ ? run_rows(loop, params, from, to) : run_whole_rows(loop, params, from, to);
    });
  }

 private:
  struct Plan {
    CastFunction cast = nullptr;  // between the tensor's dtype and the loop's
    // Where there are two: inputs of other dtypes are first rounded to the common dtype, results
    // for outputs of other dtypes to the operator's own.
    CastFunction second = nullptr;
    int64_t middle_size = 0;
    int64_t own_size = 0;
    int64_t wanted_size = 0;
    int64_t row_stride = 0;
    bool matches = false;        // the tensor has the dtype that the loop wants
    bool dense = false;          // the walk visits the memory in order and without gaps
    bool repeats = false;        // every row is the same
    bool direct_in_row = false;  // a row is an array that the loop can use
  };
  // What a piece needs for one operand.
  struct Buffer {
    alignas(64) char bytes[kBufferBytes];
    const char* constant = nullptr;  // whose value the buffer is full of
    int64_t constants = 0;           // how many of them
    bool filled = false;             // with rows that repeat
  };
  // The beginning of a row in each operand.
  struct Cursor {
    Dims position;  // in the dimensions after the first
    char* row[kMaxOperands];
  };

  Plan plan(const Operand& o, DType in, DType out) const {
    Plan p;
    const DType own = o.tensor->dtype();
    const bool keeps_dtype = !o.is_output && !(it_.flags_ & kPromoteInputs);
    const DType wanted = o.is_output ? out : keeps_dtype ? compute_dtype(own) : in;
    const DType common = keeps_dtype ? own : o.is_output ? it_.result_dtype_ : it_.common_dtype_;
    // Of outputs only the 16-bit ones: what is computed in more digits than PyTorch does keeps
    // them.
    const bool rounds =
        own != common && common != wanted && (!o.is_output || compute_dtype(common) == wanted);
    p.own_size = static_cast<int64_t>(itemsize(own));
    p.wanted_size = static_cast<int64_t>(itemsize(wanted));
    p.row_stride = o.strides[0];
    p.matches = own == wanted && !rounds;
    p.direct_in_row = p.matches && (p.row_stride == p.own_size || it_.shape_[0] == 1);
    p.dense = true;
    int64_t stride = p.own_size;
    for (size_t d = 0; d < it_.shape_.size(); ++d) {
      p.dense &= o.strides[d] == stride || it_.shape_[d] == 1;
      stride *= it_.shape_[d];
    }
    p.repeats = !o.is_output && std::all_of(o.strides.begin() + 1, o.strides.end(),
                                            [](int64_t s) { return s == 0; });
    const DType from = o.is_output ? wanted : own, to = o.is_output ? own : wanted;
    if (rounds) {
      p.cast = cast_function(from, common);
      p.second = cast_function(common, to);
      p.middle_size = static_cast<int64_t>(itemsize(common));
    } else {
      p.cast = cast_function(from, to);
    }
    return p;
  }

  Cursor seek(int64_t row) const {
    Cursor cursor;
    cursor.position.assign(it_.shape_.size(), 0);
    for (size_t i = 0; i < it_.num_operands_; ++i) cursor.row[i] = it_.operands_[i].data;
    for (size_t d = 1; d < it_.shape_.size(); ++d) {
      cursor.position[d] = row % it_.shape_[d];
      row /= it_.shape_[d];
      for (size_t i = 0; i < it_.num_operands_; ++i) {
        cursor.row[i] += cursor.position[d] * it_.operands_[i].strides[d];
      }
    }
    return cursor;
  }
  // The rows from here to the end of the second dimension.
  int64_t rows_left(const Cursor& cursor) const {
    return it_.shape_.size() > 1 ? it_.shape_[1] - cursor.position[1] : 1;
  }
  // Moves on by so many rows, at most rows_left.
  void advance(Cursor* cursor, int64_t rows) const {
    for (size_t d = 1; d < it_.shape_.size(); ++d) {
      const bool wraps = (cursor->position[d] += rows) == it_.shape_[d];
      const int64_t steps = wraps ? rows - it_.shape_[d] : rows;
      for (size_t i = 0; i < it_.num_operands_; ++i) {
        cursor->row[i] += steps * it_.operands_[i].strides[d];
      }
      if (!wraps) return;
      cursor->position[d] = 0;
      rows = 1;
    }
  }

  static void convert(const Plan& p, char* to, int64_t to_stride, const char* from,
                      int64_t from_stride, int64_t n) {
    if (!p.second) return p.cast(to, to_stride, from, from_stride, n);
    alignas(64) char middle[kBufferBytes];
    p.cast(middle, p.middle_size, from, from_stride, n);
    p.second(to, to_stride, middle, p.middle_size, n);
  }

  // n elements of an input, beginning at `from` in one row.
  char* read_in_row(const Plan& p, Buffer* buffer, char* from, int64_t n) const {
    if (p.direct_in_row) return from;
    if (p.row_stride == 0) {
      if (buffer->constant == from && buffer->constants >= n) return buffer->bytes;
      buffer->constant = from;
      buffer->constants = n;
    }
    convert(p, buffer->bytes, p.wanted_size, from, p.row_stride, n);
    return buffer->bytes;
  }

  void run_rows(ElementwiseLoop loop, const void* params, int64_t from, int64_t to) const {
    Buffer buffers[kMaxOperands];
    const size_t operands = it_.num_operands_;
    const int64_t row = it_.shape_[0];
    Cursor cursor = seek(from / row);
    int64_t column = from % row;
    char* data[kMaxOperands];
    while (from < to) {
      const int64_t n = std::min({chunk_, row - column, to - from});
      for (size_t i = 1; i < operands; ++i) {
        data[i] =
            read_in_row(plan_[i], &buffers[i], cursor.row[i] + column * plan_[i].row_stride, n);
      }
      const Plan& out = plan_[0];
      char* const target = cursor.row[0] + column * out.row_stride;
      data[0] = out.direct_in_row ? target : buffers[0].bytes;
      loop(data, n, params);
      if (!out.direct_in_row) convert(out, target, out.row_stride, data[0], out.wanted_size, n);
      from += n;
      column += n;
      if (column == row) {
        column = 0;
        advance(&cursor, 1);
      }
    }
  }

  void run_whole_rows(ElementwiseLoop loop, const void* params, int64_t from, int64_t to) const {
    Buffer buffers[kMaxOperands];
    const size_t operands = it_.num_operands_;
    const int64_t row = it_.shape_[0];
    Cursor cursor = seek(from / row);
    char* data[kMaxOperands];
    for (; from < to; from += chunk_) {
      const int64_t n = std::min(chunk_, to - from);
      const Cursor first = cursor;
      // Inputs that need no walk over rows.
      bool gathers = !plan_[0].dense;
      for (size_t i = 1; i < operands; ++i) {
        const Plan& p = plan_[i];
        data[i] = buffers[i].bytes;
        if (p.dense && p.matches) {
          data[i] = it_.operands_[i].data + from * p.own_size;
        } else if (p.dense) {
          convert(p, data[i], p.wanted_size, it_.operands_[i].data + from * p.own_size, p.own_size,
                  n);
        } else if (p.repeats) {
          for (int64_t done = 0; done < n && !buffers[i].filled; done += row) {
            convert(p, data[i] + done * p.wanted_size, p.wanted_size, cursor.row[i], p.row_stride,
                    row);
          }
          buffers[i].filled = true;
        } else {
          gathers = true;
        }
      }
      for (int64_t done = 0, rows; done < n && gathers; done += rows * row) {
        rows = std::min(rows_left(cursor), (n - done) / row);
        for (size_t i = 1; i < operands; ++i) {
          const Plan& p = plan_[i];
          if (p.dense || p.repeats) continue;
          const int64_t stride = it_.operands_[i].strides[1];
          char* const to = data[i] + done * p.wanted_size;
          for (int64_t r = 0; r < rows; ++r) {
            convert(p, to + r * row * p.wanted_size, p.wanted_size, cursor.row[i] + r * stride,
                    p.row_stride, row);
          }
        }
        advance(&cursor, rows);
      }
      const Plan& out = plan_[0];
      char* const target = it_.operands_[0].data + from * out.own_size;  // if dense
      data[0] = out.dense && out.matches ? target : buffers[0].bytes;
      loop(data, n, params);
      if (out.dense) {
        if (!out.matches) convert(out, target, out.own_size, data[0], out.wanted_size, n);
        continue;
      }
      Cursor written = first;
      for (int64_t done = 0, rows; done < n; done += rows * row) {
        rows = std::min(rows_left(written), (n - done) / row);
        const char* const from_buffer = data[0] + done * out.wanted_size;
        for (int64_t r = 0; r < rows; ++r) {
          convert(out, written.row[0] + r * it_.operands_[0].strides[1], out.row_stride,
                  from_buffer + r * row * out.wanted_size, out.wanted_size, row);
        }
        advance(&written, rows);
      }
    }
  }

  const TensorIterator& it_;
  Plan plan_[kMaxOperands];
  int64_t chunk_;
  int64_t grain_;
  bool by_rows_;
};

void TensorIterator::run(ElementwiseLoop loop, DType in, DType out, const void* params) {
  if (numel_ == 0) return;
  prepare_walk();
  Tensor copies[kMaxOperands];
  straighten_inputs(absl::MakeSpan(copies));
  Walk(*this, in, out).run(loop, params);
}

}  // namespace sb
