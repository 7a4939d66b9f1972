#include "switchboard/dispatch/resolve_key.h"

#include <set>

#include "catch2/catch.hpp"

namespace sb {
namespace {

using K = DispatchKey;
using internal::NestedComposite;

// Which key's kernel serves a key of an operator with kernels at `keys`; nullopt for none.
std::optional<K> own(K key, std::set<K> keys) {
  return internal::resolve_own_key("demo::f", key, [&](K k) { return keys.contains(k); });
}

TEST_CASE("in an operator's table a kernel for nested tensors does not hide their composite") {
  const std::set<K> keys = {K::CompositeImplicitAutogradNestedTensor, K::NestedTensorCPU};
  const auto found = internal::resolve_key(K::AutogradNestedTensor, NestedComposite::Always,
                                           [&](K k) { return keys.contains(k); });
  CHECK(found.rule == ResolutionRule::NestedKernel);
}

TEST_CASE("among an operator's own rules it does, and so does an explicit composite") {
  const K nested = K::CompositeImplicitAutogradNestedTensor;
  CHECK(own(K::AutogradNestedTensor, {nested}) == nested);
  CHECK(own(K::AutogradNestedTensor, {nested, K::CPU}) == nested);
  CHECK(own(K::AutogradNestedTensor, {nested, K::NestedTensorCPU}) == std::nullopt);
  CHECK(own(K::AutogradNestedTensor, {nested, K::NestedTensorCPU, K::Autograd}) == K::Autograd);
  CHECK(own(K::AutogradNestedTensor, {nested, K::CompositeExplicitAutograd}) == std::nullopt);
  CHECK(own(K::Undefined, {nested}) == std::nullopt);
}

}  // namespace
}  // namespace sb
