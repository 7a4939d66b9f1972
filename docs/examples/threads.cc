// Kernels that come and go while other threads call.

#include <atomic>
#include <iostream>
#include <memory>
#include <thread>

#include "switchboard/dispatch/library.h"
#include "switchboard/ops/factories/factories.h"

using sb::DispatchKey, sb::Tensor;

SB_OP(answer, "demo::answer(Tensor x) -> int");

int main() {
  const Tensor x = sb::ones({2});

  // doc: begin
  sb::Library library(sb::Library::Kind::Def, "demo");
  library.define(answer);
  library.impl(answer, DispatchKey::CPU, [](const Tensor&) { return int64_t{1}; });

  std::atomic<bool> done{false};
  std::atomic<int> others{0};
  std::thread caller([&] {
    while (!done)
      if (const int64_t got = answer(x); got != 1 && got != 2) ++others;
  });
  for (int i = 0; i < 1000; ++i) {
    sb::Library mine(sb::Library::Kind::Impl, "demo");
    mine.allow_override();
    mine.impl(answer, DispatchKey::CPU,
              [two = std::make_shared<int64_t>(2)](const Tensor&) { return *two; });
  }
  done = true;
  caller.join();
  std::cout << "answers that were neither 1 nor 2: " << others << "\n";
  // doc: end
}
