#include "switchboard/ops/gemm_impl.h"

namespace sb::internal {

template void gemm_of<std::complex<float>>(std::complex<float>, const MatrixRef&, const MatrixRef&,
                                           std::complex<float>, const MatrixRef&);

}  // namespace sb::internal
