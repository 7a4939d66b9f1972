// Fused attention on the CPU: blocks of queries meet blocks of keys, so that no more than a block
// of the weights is ever held.

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>

#include "Eigen/Core"
#include "switchboard/core/dtype_types.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/ops/attention/attention.h"
#include "switchboard/ops/attention/flash_kernels.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/gemm.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/cpu/tensor_iterator.h"
#include "switchboard/ops/define/define.h"
#include "switchboard/ops/shape/dims.h"
#include "switchboard/ops/shape/memory_format.h"
#include "switchboard/ops/shape/optional_tensor.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

constexpr int64_t kQueries = 64;
constexpr int64_t kKeys = 512;

// Whether sizes, of four dimensions or of the last three, are those of fused attention. Keys may
// have fewer heads where they are shared; one head serves all in any case, as it is broadcast.
template <SizeType Int>
bool have_fused_sizes(const Tensor& query, const Tensor& key, const Tensor& value,
                      bool share_heads) {
  const SizesRef<Int> q = sizes_of<Int>(query), k = sizes_of<Int>(key), v = sizes_of<Int>(value);
  const size_t rank = q.size(), heads = rank - 3, length = rank - 2, width = rank - 1;
  if (rank == 4 && !(same_size(q[0], k[0]) && same_size(v[0], k[0]))) return false;
  return same_size(v[heads], k[heads]) && same_size(v[length], k[length]) &&
         same_size(k[width], q[width]) && same_size(v[width], q[width]) &&
         (same_size(q[heads], k[heads]) || same_size(k[heads], Int(1)) ||
          (share_heads && same_size(q[heads] % k[heads], Int(0))));
}
bool is_fused(const Tensor& query, const Tensor& key, const Tensor& value, bool share_heads) {
  for (const Tensor* t : {&query, &key, &value}) {
    if (!t->defined() || t->dim() != query.dim() || !is_floating_point(t->dtype())) return false;
  }
  return value.dtype() == query.dtype() && key.dtype() == query.dtype() &&
         by_size(any_symbolic(query, key, value), [&]<class Int>() {
           return have_fused_sizes<Int>(query, key, value, share_heads);
         });
}
bool has_dense_rows(const Tensor& t) {
  return by_size(any_symbolic(t),
                 [&]<class Int>() { return is_one<Int>(strides_of<Int>(t).back()); });
}

int64_t choose(const Tensor& query, const Tensor& key, const Tensor& value,
               const std::optional<Tensor>& mask, double dropout_p, bool is_causal,
               std::optional<double>, bool enable_gqa) {
  const bool has_mask = is_given(mask);
  const bool fused = (query.dim() == 3 || query.dim() == 4) &&
                     is_fused(query, key, value, enable_gqa) && dropout_p == 0 &&
                     !(has_mask && is_causal) &&
                     // As in PyTorch, where the strides of results tell which was taken.
                     !(has_mask && query.dim() == 4 && mask->dim() == 3) && has_dense_rows(query) &&
                     has_dense_rows(key) && has_dense_rows(value);
  return static_cast<int64_t>(fused ? SdpBackend::Flash : SdpBackend::Math);
}

// The mask as one that is added, (b, h, l, s) in the dtype that is computed in, its last dimension
// dense. The others are not repeated in memory.
Tensor expanded_mask(const Tensor& mask, IntArrayRef sizes, DType compute) {
  DimVector own(mask.sizes().begin(), mask.sizes().end());
  if (own.empty()) own.push_back(1);
  own.back() = sizes.back();
  const Tensor wide = expand(mask, own);
  if (mask.dtype() != DType::Bool) return expand(contiguous(cast_copy(wide, compute)), sizes);
  const Tensor added = empty_on(mask.device(), own, compute);
  const Tensor flags = contiguous(wide);
  const bool* const from = flags.data<bool>();
  visit_dtype(compute, [&]<class T>() {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      std::transform(from, from + flags.numel(), added.data<T>(),
                     [](bool looks) { return looks ? T(0) : -std::numeric_limits<T>::infinity(); });
    }
  });
  return expand(added, sizes);
}

template <class T>
const internal::FlashKernels<T>& flash_kernels() {
  if constexpr (std::is_same_v<T, float>) {
    return *internal::flash_kernels_float;
  } else {
    return *internal::flash_kernels_double;
  }
}

// The added mask of one head.
template <class T>
struct MaskRows {
  const T* data = nullptr;
  int64_t stride = 0;

  const T* at(int64_t query, int64_t key) const {
    return data ? data + query * stride + key : nullptr;
  }
};

// Rows that all begin on a boundary of 64 bytes. Vectorised loops do the elements before such a
// boundary one by one, with other functions: results would depend on where malloc put them.
template <class T>
class AlignedRows {
 public:
  AlignedRows(int64_t rows, int64_t cols)
      : stride_((cols + kBoundary - 1) / kBoundary * kBoundary),
        room_(static_cast<size_t>(rows * stride_ + kBoundary), T(0)) {
    const auto at = reinterpret_cast<uintptr_t>(room_.data()) % kBytes;
    first_ = room_.data() + (kBytes - at) % kBytes / sizeof(T);
  }
  AlignedRows(const AlignedRows&) = delete;
  AlignedRows& operator=(const AlignedRows&) = delete;

  int64_t stride() const { return stride_; }
  T* row(int64_t i) { return first_ + i * stride_; }

 private:
  static constexpr size_t kBytes = 64;
  static constexpr int64_t kBoundary = kBytes / sizeof(T);

  const int64_t stride_;
  std::vector<T> room_;
  T* first_;
};

// Rows [from, to) of queries of one head.
template <class T>
class Block {
 public:
  Block(const MatrixRef& query, const MatrixRef& key, const MatrixRef& value,
        const MaskRows<T>& mask, bool is_causal, double scale, int64_t from, int64_t to)
      : query_(query),
        key_(key),
        value_(value),
        mask_(mask),
        is_causal_(is_causal),
        scale_(scale),
        from_(from),
        to_(to),
        largest_(static_cast<size_t>(rows()), -std::numeric_limits<T>::infinity()),
        sums_(static_cast<size_t>(rows()), T(0)),
        weights_(rows(), std::min(kKeys, key.rows)),
        output_(Matrix::Zero(rows(), value.cols)) {
    const int64_t keys = is_causal ? std::min(key.rows, to) : key.rows;
    for (int64_t first = 0; first < keys; first += kKeys) {
      add_keys(first, std::min(keys, first + kKeys));
    }
  }

  void write(T* output, int64_t row_stride, T* logsumexp, int64_t sum_stride) {
    for (int64_t i = 0; i < rows(); ++i) {
      logsumexp[(from_ + i) * sum_stride] =
          flash_kernels<T>().finish(row(i), output + (from_ + i) * row_stride);
    }
  }

 private:
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  int64_t rows() const { return to_ - from_; }
  static MatrixRef rows_of(const MatrixRef& m, int64_t from, int64_t to) {
    return {static_cast<T*>(m.data) + from * m.row_stride, to - from, m.cols, m.row_stride,
            m.col_stride};
  }

  void add_keys(int64_t first, int64_t last) {
    const int64_t n = last - first;
    const MatrixRef scores = {weights_.row(0), to_ - from_, n, weights_.stride(), 1};
    gemm(dtype_of<T>, scale_, rows_of(query_, from_, to_), rows_of(key_, first, last).transposed(),
         0, scores);
    for (int64_t i = 0; i < rows(); ++i) {
      const int64_t seen = is_causal_ ? std::clamp<int64_t>(from_ + i + 1 - first, 0, n) : n;
      flash_kernels<T>().weigh(weights_.row(i), mask_.at(from_ + i, first), n, seen, row(i));
    }
    gemm(dtype_of<T>, 1, scores, rows_of(value_, first, last), 1,
         {output_.data(), to_ - from_, value_.cols, value_.cols, 1});
  }

  internal::FlashRow<T> row(int64_t i) {
    const auto at = static_cast<size_t>(i);
    return {output_.row(i).data(), value_.cols, &largest_[at], &sums_[at]};
  }

  const MatrixRef query_, key_, value_;
  const MaskRows<T> mask_;
  const bool is_causal_;
  const double scale_;
  const int64_t from_, to_;
  std::vector<T> largest_, sums_;
  AlignedRows<T> weights_;
  Matrix output_;
};

struct Results {
  Tensor output, logsumexp;
};
// The strides of a dense tensor whose dimensions lie in memory as the query's. Nothing is asked.
SymDimVector dense_in_order_of(const Tensor& query) {
  SymDimVector strides(query.sym_sizes().size());
  SymInt stride = 1;
  for (const size_t d : dims_by_stride(query.impl()->hint_sizes(), query.impl()->hint_strides())) {
    strides[d] = stride;
    stride *= sym_max(query.sym_sizes()[d], SymInt(1));
  }
  return strides;
}
template <SizeType Int>
Results make_results_of(const Tensor& query) {
  const SizesRef<Int> q = sizes_of<Int>(query);
  BasicTensorMeta<Int> output{SizeVector<Int>(q.begin(), q.end()), query.dtype()};
  if constexpr (std::is_same_v<Int, int64_t>)
    output.strides = empty_like_strides(query);
  else
    output.strides = dense_in_order_of(query);
  const BasicTensorMeta<Int> sums{{q[0], q[2], q[1]}, compute_dtype(query.dtype())};
  return {internal::make_result(output, query.device()),
          transpose(internal::make_result(sums, query.device()), 1, 2)};
}
Results make_results(const Tensor& query) {
  return by_size(any_symbolic(query), [&]<class Int>() { return make_results_of<Int>(query); });
}

Results checked_results(const Tensor& query, const Tensor& key, const Tensor& value,
                        double dropout_p, bool is_causal, const std::optional<Tensor>& mask) {
  constexpr const char* kOp = "_scaled_dot_product_flash_attention_for_cpu";
  for (const Tensor* t : {&query, &key, &value}) check_defined(kOp, *t);
  SB_CHECK(query.dim() == 4 && is_fused(query, key, value, /*share_heads=*/true), kOp,
           ": expected query (b, h, l, e), key and value (b, h, s, e) of one floating-point dtype, "
           "got ",
           query.describe(), ", ", key.describe(), " and ", value.describe());
  SB_CHECK(dropout_p == 0, kOp, ": dropout is not supported");
  const bool has_mask = is_given(mask);
  SB_CHECK(!has_mask || !is_causal, kOp, ": is_causal goes without attn_mask");
  SB_CHECK(!has_mask || mask->dtype() == DType::Bool || is_floating_point(mask->dtype()), kOp,
           ": attn_mask: expected bool or floating point, got ",
           has_mask ? mask->describe() : std::string());
  if (has_mask)
    expand(*mask, {query.sym_size(0), query.sym_size(1), query.sym_size(2), key.sym_size(2)});
  return make_results(query);
}

MatrixRef head(const Tensor& t, int64_t b, int64_t h) {
  char* const data = static_cast<char*>(t.data_ptr()) +
                     (b * t.stride(0) + h * t.stride(1)) * static_cast<int64_t>(t.itemsize());
  return {data, t.size(2), t.size(3), t.stride(2), t.stride(3)};
}

template <class T>
void compute(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
             bool is_causal, double scale, const Results& results) {
  const int64_t heads = query.size(1);
  const int64_t sharing = heads == 0 ? 1 : heads / key.size(1);  // of queries, one of keys
  const int64_t queries = query.size(2);
  const int64_t blocks = (queries + kQueries - 1) / kQueries;
  const Tensor& out = results.output;
  const Tensor& sums = results.logsumexp;
  parallel_for(0, query.size(0) * heads * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t b = i / blocks / heads;
      const int64_t h = i / blocks % heads;
      const int64_t from = i % blocks * kQueries;
      MaskRows<T> mask_rows;
      if (mask.defined()) {
        mask_rows = {mask.data<T>() + b * mask.stride(0) + h * mask.stride(1), mask.stride(2)};
      }
      Block<T> block(head(query, b, h), head(key, b, h / sharing), head(value, b, h / sharing),
                     mask_rows, is_causal, scale, from, std::min(queries, from + kQueries));
      block.write(out.data<T>() + b * out.stride(0) + h * out.stride(1), out.stride(2),
                  sums.data<T>() + b * sums.stride(0) + h * sums.stride(1), sums.stride(2));
    }
  });
}

std::tuple<Tensor, Tensor> flash(const Tensor& query, const Tensor& key, const Tensor& value,
                                 double dropout_p, bool is_causal,
                                 const std::optional<Tensor>& attn_mask,
                                 std::optional<double> scale) {
  const Results results = checked_results(query, key, value, dropout_p, is_causal, attn_mask);
  const DType compute_in = compute_dtype(query.dtype());
  const bool narrow = compute_in != query.dtype();
  const auto wide = [&](const Tensor& t) { return narrow ? cast_copy(t, compute_in) : t; };
  // Rows are written as they lie in a dense tensor.
  const bool apart = narrow || results.output.stride(3) != 1;
  Results wide_results = results;
  if (apart) wide_results.output = empty_on(query.device(), query.sizes(), compute_in);
  Tensor mask;
  if (is_given(attn_mask)) {
    mask = expanded_mask(*attn_mask, {query.size(0), query.size(1), query.size(2), key.size(2)},
                         compute_in);
  }
  const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(3))));
  if (compute_in == DType::Float32) {
    compute<float>(wide(query), wide(key), wide(value), mask, is_causal, factor, wide_results);
  } else {
    compute<double>(wide(query), wide(key), wide(value), mask, is_causal, factor, wide_results);
  }
  if (apart) copy_elements(results.output, wide_results.output);
  return {results.output, results.logsumexp};
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, _fused_sdp_choice).cpu_and_meta(choose);
  define(m, _scaled_dot_product_flash_attention_for_cpu)
      .cpu(flash)
      .meta([](const Tensor& query, const Tensor& key, const Tensor& value, double dropout_p,
               bool is_causal, const std::optional<Tensor>& attn_mask, std::optional<double>) {
        const Results results = checked_results(query, key, value, dropout_p, is_causal, attn_mask);
        return std::tuple(results.output, results.logsumexp);
      });
}

}  // namespace sb
