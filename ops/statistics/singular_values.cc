#include "switchboard/ops/statistics/singular_values.h"

#include <algorithm>

#include "Eigen/SVD"
#include "switchboard/core/dtype_types.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/cpu/parallel.h"
#include "switchboard/ops/define/define.h"

namespace sb {
namespace {

template <SizeType Int>
BasicTensorMeta<Int> rule(const Tensor& a, std::optional<std::string_view> driver) {
  constexpr const char* op = "linalg_svdvals";
  SB_CHECK(a.dim() >= 2, op, ": A: expected at least 2 dimensions, got ", a.describe());
  SB_CHECK((is_floating_point(a.dtype()) && itemsize(a.dtype()) > 2) || is_complex(a.dtype()), op,
           ": A: expected float32, float64 or complex elements, got ", a.describe());
  SB_CHECK(!driver, op, ": driver: expected none on CPU, got ", driver.value_or(""));
  BasicTensorMeta<Int> meta{{sizes_of<Int>(a).begin(), sizes_of<Int>(a).end() - 1},
                            to_real(a.dtype())};
  meta.sizes.back() = sym_min(meta.sizes.back(), sizes_of<Int>(a).back());
  return meta;
}

// Computed in double, whatever the elements.
template <class T>
void svdvals(const Tensor& a, double* out, int64_t rows, int64_t columns) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const int64_t size = rows * columns, values = std::min(rows, columns);
  const T* const data = a.data<T>();
  parallel_for(0, a.numel() / size, 1, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const Matrix matrix = Eigen::Map<const RowMajor>(data + i * size, rows, columns);
      // Eigen's algorithms may not end where there is NaN or an infinity.
      if (matrix.allFinite()) {
        Eigen::Map<Eigen::VectorXd>(out + i * values, values) =
            Eigen::BDCSVD<Matrix>(matrix).singularValues();
      } else {
        std::fill_n(out + i * values, values, std::numeric_limits<double>::quiet_NaN());
      }
    }
  });
}

void kernel(const Tensor& a, std::optional<std::string_view>, const Tensor& out) {
  if (out.numel() == 0) return;
  const int64_t rows = a.sizes()[a.sizes().size() - 2], columns = a.sizes().back();
  const Tensor values = empty_on(a.device(), out.sizes(), DType::Float64);
  if (is_complex(a.dtype())) {
    svdvals<std::complex<double>>(cast_copy(a, DType::Complex128), values.data<double>(), rows,
                                  columns);
  } else {
    svdvals<double>(cast_copy(a, DType::Float64), values.data<double>(), rows, columns);
  }
  copy_elements(out, values);
}

}  // namespace

SB_LIBRARY_FRAGMENT(aten, m) {
  define(m, linalg_svdvals)
      .structured<by_size_rule<rule<int64_t>, rule<SymInt>>, kernel>()
      .out(linalg_svdvals_out);
}

}  // namespace sb
