// Everything that happens to the keys of a call, in its order: union of the arguments, what the
// thread includes, less what it excludes, less what falls through; the highest that is left runs.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("union, include, exclude, mask, highest") {
  Recorder f;
  f.passes_at({K::Tracer, K::AutogradCPU, K::Negative, K::ADInplaceOrView, K::BackendSelect});
  f.falls_through_at({K::Conjugate}).ends_at({K::CPU});
  const IValue xs = std::vector<Tensor>{tensor_with({K::CPU, K::AutogradCPU})};
  const Tensor y = tensor_with({K::CPU, K::Conjugate, K::Negative});
  CHECK(f.call({xs}) == Log{"AutogradCPU", "ADInplaceOrView", "BackendSelect", "CPU"});
  // The union brings Negative; Conjugate falls through.
  CHECK(f.call({xs, y}) ==
        Log{"AutogradCPU", "ADInplaceOrView", "Negative", "BackendSelect", "CPU"});
  IncludeKeysGuard include(K::Tracer);
  CHECK(f.call({xs, y}) ==
        Log{"Tracer", "AutogradCPU", "ADInplaceOrView", "Negative", "BackendSelect", "CPU"});
  ExcludeKeysGuard exclude({K::AutogradCPU, K::ADInplaceOrView});
  CHECK(f.call({xs, y}) == Log{"Tracer", "Negative", "BackendSelect", "CPU"});
}

TEST_CASE("the higher of two functionalities runs first, for every pair that stands alone") {
  const std::vector<K> ascending = {
      K::BackendSelect, K::Functionalize,     K::Conjugate,
      K::Negative,      K::ZeroTensor,        K::ADInplaceOrView,
      K::Tracer,        K::FuncTorchBatched,  K::Batched,
      K::DeferredInit,  K::PythonTLSSnapshot, K::TESTING_ONLY_GenericMode};
  Recorder f;
  for (K key : ascending) f.passes_at({key});
  f.ends_at({K::CPU});
  for (size_t high = 0; high < ascending.size(); ++high) {
    for (size_t low = 0; low < high; ++low) {
      const DispatchKeySet keys{K::CPU, ascending[low], ascending[high]};
      CHECK(f.redispatch(keys) == Log{std::string(to_string(ascending[high])),
                                      std::string(to_string(ascending[low])), "CPU"});
    }
  }
}

}  // namespace
}  // namespace sb
