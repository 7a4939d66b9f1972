// A program of the dispatcher alone, with three operators of its own: what linking //dispatch
// costs. `dispatch_only N` registers N more at run time, each with a kernel; its instructions under
// callgrind are those of the start-up.

#include <cstdlib>
#include <string_view>

#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/library.h"

namespace sb::bench {

SB_OP(pick, "alone::pick(Tensor a, Tensor b, *, bool first=True) -> Tensor");
SB_OP(count, "alone::count(Tensor[] list) -> int");
SB_OP(scale, "alone::scale(Tensor a, Scalar by=1, int[]? dims=None) -> Tensor");

SB_LIBRARY(alone, m) {
  m.define(pick);
  m.impl(pick, DispatchKey::CompositeExplicitAutograd,
         [](const Tensor& a, const Tensor& b, bool first) { return first ? a : b; });
  m.define(count);
  m.impl(count, DispatchKey::CompositeImplicitAutograd,
         [](TensorList list) { return static_cast<int64_t>(list.size()); });
  m.define(scale);
  m.impl(scale, DispatchKey::CPU,
         [](const Tensor& a, const Scalar&, OptionalIntArrayRef) { return a; });
}

}  // namespace sb::bench

int main(int argc, char** argv) {
  using namespace sb;
  const int more = argc > 1 ? std::atoi(argv[1]) : 0;
  Library& library = *new Library(Library::Kind::Fragment, "alone");  // open until the end
  char schema[] = "op0000(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
  for (int i = 0; i < more; ++i) {
    for (int n = i, digit = 5; digit > 1; --digit, n /= 10)
      schema[digit] = static_cast<char>('0' + n % 10);
    library.define(schema);
    library.impl(std::string_view(schema, 6), DispatchKey::CPU,
                 [](const Tensor& a, const Tensor&, const Scalar&) { return a; });
  }
  const Tensor a = empty_on(DeviceType::CPU, {2}, DType::Float32);
  return bench::pick(a, a).defined() ? 0 : 1;
}
