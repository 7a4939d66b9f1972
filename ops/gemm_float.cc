#include "switchboard/ops/gemm_impl.h"

namespace sb::internal {

template void gemm_of<float>(float, const MatrixRef&, const MatrixRef&, float, const MatrixRef&);

}  // namespace sb::internal
