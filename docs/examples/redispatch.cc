// A kernel passes a call on, or makes a new one.

#include <iostream>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/factories/factories.h"

using sb::DispatchKey, sb::DispatchKeySet, sb::Tensor;

SB_OP(half, "demo::half(Tensor x) -> Tensor");

// doc: begin
Tensor passes_on(DispatchKeySet keys, const Tensor& x) {
  std::cout << "AutogradCPU, called with " << keys << "\n";
  return half.redispatch(keys & DispatchKeySet::below(DispatchKey::AutogradCPU), x);
}

Tensor calls_anew(const Tensor& x) {
  std::cout << "Tracer\n";
  sb::ExcludeKeysGuard not_again(DispatchKey::Tracer);  // or it would meet itself, without end
  return half(x);
}
// doc: end

int main() {
  // doc: begin
  sb::Library library(sb::Library::Kind::Def, "demo");
  library.define(half);
  library.impl(half, DispatchKey::CPU, [](DispatchKeySet keys, const Tensor& x) {
    std::cout << "CPU, called with " << keys << "\n";
    return x;
  });
  library.impl(half, DispatchKey::AutogradCPU, passes_on);
  library.impl(half, DispatchKey::Tracer, calls_anew);

  const Tensor x = sb::ones({2});
  sb::IncludeKeysGuard tracing(DispatchKey::Tracer);
  half(x);
  // doc: end
}
