#include "switchboard/core/symbols/symbolic_number.h"

#include "switchboard/core/backend_meta.h"
#include "switchboard/core/empty_tensor.h"

namespace sb {
namespace {

// No device hangs anything on a tensor without data.
class SymbolicNumber final : public BackendMeta {
 public:
  explicit SymbolicNumber(const Scalar& value) : symbol(value) {}
  const Scalar symbol;
};

}  // namespace

Tensor make_symbolic_number(const Scalar& symbol) {
  Tensor t = empty_on(DeviceType::Meta, {}, symbol.kind());
  t.impl()->set_wrapped_number(true);
  t.impl()->set_backend_meta(make_intrusive<SymbolicNumber>(symbol));
  return t;
}

const Scalar* symbolic_number_of(const Tensor& tensor) {
  const BackendMeta* const meta = tensor.impl()->backend_meta().get();
  if (!meta) return nullptr;
  const auto* const number = dynamic_cast<const SymbolicNumber*>(meta);
  return number ? &number->symbol : nullptr;
}

}  // namespace sb
