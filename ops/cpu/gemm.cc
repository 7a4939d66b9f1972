#include "switchboard/ops/cpu/gemm.h"

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "absl/functional/function_ref.h"
#include "switchboard/core/checked_math.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/cpu/cast.h"
#include "switchboard/ops/cpu/gemm_kernels.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/cpu/tensor_iterator.h"

namespace sb {
namespace {

// How many multiplications are worth a piece of their own.
constexpr int64_t kPieceWork = int64_t{1} << 20;
// The same with a vector, where each element of the matrix is read for one.
constexpr int64_t kVectorWork = int64_t{1} << 18;
// The least rows or columns of a piece.
constexpr int64_t kPanel = 96;

const GemmKernels& kernels_of(DType compute) {
  switch (compute) {
    case DType::Float32:
      return *gemm_float_kernels;
    case DType::Float64:
      return *gemm_double_kernels;
    case DType::Complex64:
      return *gemm_complex64_kernels;
    case DType::Complex128:
      return *gemm_complex128_kernels;
    case DType::Int32:
      return *gemm_int32_kernels;
    default:
      return *gemm_int64_kernels;
  }
}

// The dtype of the kernels' arithmetic. Integers keep their value modulo 2^32 or 2^64, so that the
// low bits of results are right.
DType kernel_dtype(DType t) {
  if (is_integral(t)) return t == DType::Int64 ? DType::Int64 : DType::Int32;
  return compute_dtype(t);
}

// A number as an element of the dtype that is computed in.
class Factor {
 public:
  Factor(const Scalar& value, DType compute) {
    switch (compute) {
      case DType::Float32:
        put(value.to<float>());
        break;
      case DType::Float64:
        put(value.to<double>());
        break;
      case DType::Complex64:
        put(value.to<std::complex<float>>());
        break;
      case DType::Complex128:
        put(value.to<std::complex<double>>());
        break;
      case DType::Int32:
        put(static_cast<uint32_t>(value.to<int64_t>()));
        break;
      default:
        put(value.to<int64_t>());
        break;
    }
  }
  const void* get() const { return bytes_; }
  bool is_zero() const { return is_zero_; }
  bool is_one() const { return is_one_; }

 private:
  template <class T>
  void put(T value) {
    std::memcpy(bytes_, &value, sizeof(T));
    is_zero_ = value == T(0);
    is_one_ = value == T(1);
  }
  alignas(16) char bytes_[16];
  bool is_zero_;
  bool is_one_;
};

void* offset_by(void* data, int64_t elements, int64_t itemsize) {
  return static_cast<char*>(data) + elements * itemsize;
}

// One matrix of a batch.
MatrixRef item(const MatrixRef& m, int64_t i, int64_t itemsize) {
  MatrixRef one = m;
  one.data = offset_by(m.data, i * m.batch_stride, itemsize);
  one.count = 1;
  return one;
}
MatrixRef rows_of(const MatrixRef& m, int64_t from, int64_t to, int64_t itemsize) {
  return {offset_by(m.data, from * m.row_stride, itemsize), to - from, m.cols, m.row_stride,
          m.col_stride};
}
MatrixRef columns_of(const MatrixRef& m, int64_t from, int64_t to, int64_t itemsize) {
  return {offset_by(m.data, from * m.col_stride, itemsize), m.rows, to - from, m.row_stride,
          m.col_stride};
}

// Copies elements from one batch of matrices to another of the same shape.
void convert(const MatrixRef& from, DType from_dtype, const MatrixRef& to, DType to_dtype) {
  const CastFunction cast = cast_function(from_dtype, to_dtype);
  const auto from_size = static_cast<int64_t>(itemsize(from_dtype));
  const auto to_size = static_cast<int64_t>(itemsize(to_dtype));
  // Along the dimension that both have densely, if there is one.
  const bool by_rows = is_row_major(from) && is_row_major(to);
  const MatrixRef source = by_rows ? from.transposed() : from;
  const MatrixRef target = by_rows ? to.transposed() : to;
  const int64_t columns = source.cols;
  parallel_for(0, to.count * columns, kElementGrain / std::max<int64_t>(source.rows, 1) + 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t batch = i / columns;
                   const int64_t column = i % columns;
                   const int64_t out = batch * target.batch_stride + column * target.col_stride;
                   const int64_t in = batch * source.batch_stride + column * source.col_stride;
                   cast(static_cast<char*>(offset_by(target.data, out, to_size)),
                        target.row_stride * to_size,
                        static_cast<const char*>(offset_by(source.data, in, from_size)),
                        source.row_stride * from_size, source.rows);
                 }
               });
}

// Matrices as the kernels take them: those given, or a copy.
class Operand {
 public:
  explicit Operand(const MatrixRef& m) : ref_(m), original_(m) {}

  const MatrixRef& ref() const { return ref_; }

  // From here on ref() is memory for a dense copy of elements of `dtype`.
  void allocate(DType dtype) {
    const int64_t count = original_.batch_stride == 0 ? 1 : original_.count;
    const int64_t numel = checked_mul(checked_mul(ref_.rows, ref_.cols), count);
    const int64_t bytes = checked_mul(numel, static_cast<int64_t>(itemsize(dtype)));
    if (bytes > static_cast<int64_t>(sizeof(inline_))) {
      heap_.reset(new char[static_cast<size_t>(bytes)]);
    }
    ref_.data = heap_ ? heap_.get() : inline_;
    const bool by_rows = is_row_major(original_) && !is_col_major(original_);
    ref_.row_stride = by_rows ? ref_.cols : 1;
    ref_.col_stride = by_rows ? 1 : ref_.rows;
    ref_.batch_stride = count == 1 ? 0 : ref_.rows * ref_.cols;
  }
  void read(DType from, DType to) const {
    MatrixRef source = original_;
    MatrixRef target = ref_;
    source.count = target.count = original_.batch_stride == 0 ? 1 : original_.count;
    convert(source, from, target, to);
  }
  void write_back(DType from, DType to) const { convert(ref_, from, original_, to); }

 private:
  MatrixRef ref_;
  const MatrixRef original_;
  std::unique_ptr<char[]> heap_;
  alignas(16) char inline_[1024];
};

// A product whose operands are as the kernels take them.
struct Product {
  const GemmKernels& kernels;
  int64_t itemsize;  // of a and b
  int64_t result_itemsize;
  const void* alpha;
  const void* beta;
};

// Splits n rows or columns. Pieces begin at multiples of `step`, which is a multiple of what
// kernels take at once, and have `least` or more: so the arithmetic of an element does not depend
// on how many pieces there are, and they may be as few as keep all threads busy. Each packs the
// other operand anew.
void run_pieces(int64_t n, int64_t step, int64_t least,
                absl::FunctionRef<void(int64_t, int64_t)> run) {
  constexpr int64_t kPiecesOfThread = 2;
  const int64_t threads = in_parallel_region() ? 1 : get_num_threads();
  const int64_t pieces = std::min(threads * kPiecesOfThread, n / least);
  if (threads == 1 || pieces <= 1) return run(0, n);
  const int64_t steps = (n - 1) / step + 1;
  parallel_for(0, pieces, 1, [&](int64_t piece, int64_t) {
    run(piece * steps / pieces * step, std::min((piece + 1) * steps / pieces * step, n));
  });
}

void run_one(const Product& p, const MatrixRef& a, const MatrixRef& b, const MatrixRef& c) {
  const auto least = [&](int64_t other, int64_t work, int64_t panel) {
    return std::max(panel, work / std::max<int64_t>(a.cols, 1) / other);
  };
  const auto run_rows = [&](int64_t from, int64_t to) {
    p.kernels.product(p.alpha, rows_of(a, from, to, p.itemsize), b, p.beta,
                      rows_of(c, from, to, p.result_itemsize));
  };
  const auto run_columns = [&](int64_t from, int64_t to) {
    p.kernels.product(p.alpha, a, columns_of(b, from, to, p.itemsize), p.beta,
                      columns_of(c, from, to, p.result_itemsize));
  };
  if (c.cols == 1) return run_pieces(c.rows, 48, least(1, kVectorWork, 48), run_rows);
  if (c.rows >= c.cols) return run_pieces(c.rows, 48, least(c.cols, kPieceWork, kPanel), run_rows);
  run_pieces(c.cols, 16, least(c.rows, kPieceWork, kPanel), run_columns);
}

void run_batch(const Product& p, const MatrixRef& a, const MatrixRef& b, const MatrixRef& c) {
  if (c.count == 1) return run_one(p, a, b, c);
  const int64_t work = std::max<int64_t>(a.cols * c.rows, 1) * c.cols;
  const auto run = [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      run_one(p, item(a, i, p.itemsize), item(b, i, p.itemsize), item(c, i, p.result_itemsize));
    }
  };
  // Few large matrices are split instead.
  if (c.count < 16 && work >= 32 * kPieceWork) return run(0, c.count);
  parallel_for(0, c.count, kPieceWork / std::max<int64_t>(work, 1) + 1, run);
}

// A batch whose matrices lie below each other and are multiplied by one and the same matrix.
bool stacks(const MatrixRef& m) {
  return m.batch_stride == m.rows * m.row_stride && m.batch_stride != 0;
}
void fold_batch(MatrixRef* a, MatrixRef* b, MatrixRef* c) {
  if (c->count == 1 || b->batch_stride != 0 || !stacks(*a) || !stacks(*c)) return;
  a->rows *= a->count;
  c->rows *= c->count;
  a->count = b->count = c->count = 1;
}

void transpose_all(MatrixRef* a, MatrixRef* b, MatrixRef* c) {
  const MatrixRef lhs = a->transposed();
  *a = b->transposed();
  *b = lhs;
  *c = c->transposed();
}

// Results are to be columns, or column-major, where they have a dense dimension.
bool wants_transposition(const MatrixRef& c) {
  return c.cols != 1 && (c.rows == 1 || (c.row_stride != 1 && c.col_stride == 1));
}
bool is_readable(const MatrixRef& m) { return is_col_major(m) || is_row_major(m); }
bool is_dense_vector(const MatrixRef& m) {
  return (m.cols == 1 ? m.row_stride : m.col_stride) == 1;
}

// A sum of products, in pieces whose sums are added in order.
void run_dot(const Product& p, DType compute, const MatrixRef& a, const MatrixRef& b, void* sum) {
  constexpr int64_t kPiece = int64_t{1} << 17;
  const int64_t n = a.cols;
  const int64_t pieces = (n + kPiece - 1) / kPiece;
  if (pieces <= 1) {
    return p.kernels.dot(a.data, a.col_stride, b.data, b.row_stride, n, sum);
  }
  const std::unique_ptr<char[]> sums(new char[static_cast<size_t>(pieces * p.itemsize)]);
  const std::unique_ptr<char[]> ones(new char[static_cast<size_t>(pieces * p.itemsize)]);
  const Factor one(1, compute);
  for (int64_t i = 0; i < pieces; ++i) {
    std::memcpy(ones.get() + i * p.itemsize, one.get(), static_cast<size_t>(p.itemsize));
  }
  parallel_for(0, n, kPiece, [&](int64_t from, int64_t to) {
    p.kernels.dot(offset_by(a.data, from * a.col_stride, p.itemsize), a.col_stride,
                  offset_by(b.data, from * b.row_stride, p.itemsize), b.row_stride, to - from,
                  sums.get() + from / kPiece * p.itemsize);
  });
  p.kernels.dot(sums.get(), 1, ones.get(), 1, pieces, sum);
}

void gemm_unguarded(DType dtype, const Scalar& alpha_value, MatrixRef a, MatrixRef b,
                    const Scalar& beta_value, MatrixRef c, absl::FunctionRef<void()> fill_c) {
  SB_ASSERT(has_gemm(dtype));
  const DType compute = kernel_dtype(dtype);
  const Factor alpha(alpha_value, compute);
  const Factor beta(beta_value, compute);
  fold_batch(&a, &b, &c);
  transpose_all(&a, &b, &c);
  fold_batch(&a, &b, &c);
  if (wants_transposition(c)) transpose_all(&a, &b, &c);
  const bool multiply = !alpha.is_zero() && a.cols != 0;
  // Where the result is a column, so is the second operand.
  const bool rhs_fits = c.cols == 1 ? is_dense_vector(b) : is_readable(b);
  const bool bfloat16_vector =
      dtype == DType::BFloat16 && c.cols == 1 && multiply && is_row_major(a) && rhs_fits;
  const DType operands = bfloat16_vector ? dtype : compute;
  const Product p = {bfloat16_vector ? *gemm_bfloat16_kernels : kernels_of(compute),
                     static_cast<int64_t>(itemsize(operands)),
                     static_cast<int64_t>(itemsize(compute)), alpha.get(), beta.get()};
  if (dtype == compute && c.rows == 1 && c.cols == 1 && c.count == 1 && multiply &&
      beta.is_zero() && !is_tiny_product(1, a.cols, 1) && alpha.is_one()) {
    return run_dot(p, compute, a, b, c.data);
  }

  const bool tiny = is_tiny_product(c.rows, a.cols, c.cols);
  Operand lhs(a);
  Operand rhs(b);
  Operand result(c);
  const bool convert = dtype != operands;
  const bool copy_lhs = multiply && (convert || (!tiny && !is_readable(a)));
  const bool copy_rhs = multiply && (convert || (!tiny && !rhs_fits));
  const bool copy_result = dtype != compute || !(c.rows == 1 || c.row_stride == 1);
  if (copy_lhs) lhs.allocate(operands);
  if (copy_rhs) rhs.allocate(operands);
  if (copy_result) result.allocate(compute);
  fill_c();
  if (copy_lhs) lhs.read(dtype, operands);
  if (copy_rhs) rhs.read(dtype, operands);
  if (copy_result && !beta.is_zero()) result.read(dtype, compute);
  run_batch(p, lhs.ref(), rhs.ref(), result.ref());
  if (copy_result) result.write_back(compute, dtype);
}

}  // namespace

void* gemm_scratch(size_t bytes) {
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  constexpr size_t kAlignment = 64;
  thread_local std::unique_ptr<void, Free> kept;
  thread_local size_t kept_bytes = 0;
  if (kept_bytes < bytes) {
    kept.reset();
    kept.reset(std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment));
    kept_bytes = kept ? bytes : 0;
  }
  return kept.get();
}

void gemm(DType dtype, const Scalar& alpha, const MatrixRef& a, const MatrixRef& b,
          const Scalar& beta, const MatrixRef& c, absl::FunctionRef<void()> fill_c) {
  if (c.rows == 0 || c.cols == 0 || c.count == 0) return;
  try {
    gemm_unguarded(dtype, alpha, a, b, beta, c, fill_c);
  } catch (const std::bad_alloc&) {  // an operand whose strides or dtype Eigen cannot read in place
    SB_THROW(RuntimeError, "matrix product: out of memory for copies of operands of ", a.rows,
             " x ", a.cols, " and ", b.rows, " x ", b.cols, " elements");
  }
}

void gemm(DType dtype, const Scalar& alpha, const MatrixRef& a, const MatrixRef& b,
          const Scalar& beta, const MatrixRef& c) {
  gemm(dtype, alpha, a, b, beta, c, [] {});
}

}  // namespace sb
