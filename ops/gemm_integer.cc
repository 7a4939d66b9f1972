#include "switchboard/ops/gemm_impl.h"

namespace sb::internal {

template void gemm_of<uint64_t>(uint64_t, const MatrixRef&, const MatrixRef&, uint64_t,
                                const MatrixRef&);

}  // namespace sb::internal
