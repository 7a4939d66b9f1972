// Dispatch keys and sets of them.

#include <iostream>

#include "switchboard/core/dispatch_key_set.h"
#include "switchboard/ops/factories/factories.h"

using sb::Device, sb::DispatchKey, sb::DispatchKeySet;

int main() {
  // doc: begin
  std::cout << "on the CPU: " << sb::ones({2}).key_set() << "\n"
            << "on meta:    " << sb::ones({2}, Device("meta")).key_set() << "\n";
  // doc: end

  // doc: begin
  const DispatchKey key = DispatchKey::AutogradCUDA;
  std::cout << key << " is " << functionality_of(key) << " on " << to_string(*backend_of(key))
            << "\n";

  // A set is functionalities times backends, highest first.
  const DispatchKeySet mixed{DispatchKey::SparseCPU, DispatchKey::CUDA};
  std::cout << mixed << ", the highest is " << mixed.highest_key() << "\n";
  // doc: end
}
