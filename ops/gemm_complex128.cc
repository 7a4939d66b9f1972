#include "switchboard/ops/gemm_impl.h"

namespace sb::internal {

template void gemm_of<std::complex<double>>(std::complex<double>, const MatrixRef&,
                                            const MatrixRef&, std::complex<double>,
                                            const MatrixRef&);

}  // namespace sb::internal
