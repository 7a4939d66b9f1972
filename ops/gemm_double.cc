#include "switchboard/ops/gemm_impl.h"

namespace sb::internal {

template void gemm_of<double>(double, const MatrixRef&, const MatrixRef&, double, const MatrixRef&);

}  // namespace sb::internal
