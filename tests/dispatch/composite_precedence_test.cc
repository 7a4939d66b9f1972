// The order of rules 1 to 5 in one place: with a kernel at every level, taking away the one that is
// used uncovers the next.

#include "catch2/catch.hpp"
#include "switchboard/tests/dispatch/recording.h"

namespace sb {
namespace {

using K = DispatchKey;

TEST_CASE("at a backend: its own, NonFunctional, explicit, implicit, fallback, missing") {
  Recorder f;
  f.fallback_at({K::PrivateUse1});
  const K levels[] = {K::PrivateUse1, K::CompositeExplicitAutogradNonFunctional,
                      K::CompositeExplicitAutograd, K::CompositeImplicitAutograd};
  std::vector<Library> libraries;
  for (K key : levels) {
    libraries.emplace_back(f.dispatcher(), Library::Kind::Impl, "demo", key);
    libraries.back().impl("f", f.kernel(std::string(to_string(key))));
  }
  Log order;
  for (Library& library : libraries) {
    order.push_back(f.call({K::PrivateUse1})[0]);
    library.close();
  }
  order.push_back(f.call({K::PrivateUse1})[0]);
  CHECK(order == Log{"PrivateUse1", "CompositeExplicitAutogradNonFunctional for PrivateUse1",
                     "CompositeExplicitAutograd for PrivateUse1",
                     "CompositeImplicitAutograd for PrivateUse1", "fallback for PrivateUse1"});
  CHECK(f.rule(K::PrivateUse2) == "missing");
}

TEST_CASE("at a nested tensor: its own, the nested composite, the implicit one") {
  Recorder f;
  f.ends_at({K::CompositeExplicitAutogradNonFunctional});  // not for nested tensors
  const K levels[] = {K::NestedTensorCPU, K::CompositeImplicitAutogradNestedTensor,
                      K::CompositeImplicitAutograd};
  std::vector<Library> libraries;
  for (K key : levels) {
    libraries.emplace_back(f.dispatcher(), Library::Kind::Impl, "demo", key);
    libraries.back().impl("f", f.kernel(std::string(to_string(key))));
  }
  std::vector<std::string> rules;
  for (Library& library : libraries) {
    rules.push_back(f.rule(K::NestedTensorCPU));
    library.close();
  }
  rules.push_back(f.rule(K::NestedTensorCPU));
  CHECK(rules == std::vector<std::string>{"kernel", "nested kernel", "math kernel", "missing"});
}

TEST_CASE("at an autograd key: its own, the implicit composite, the Autograd alias, the fallback") {
  Recorder f;
  const K levels[] = {K::AutogradCPU, K::CompositeImplicitAutograd, K::Autograd};
  std::vector<Library> libraries;
  for (K key : levels) {
    libraries.emplace_back(f.dispatcher(), Library::Kind::Impl, "demo", key);
    libraries.back().impl("f", f.kernel(std::string(to_string(key))));
  }
  std::vector<std::string> rules;
  for (Library& library : libraries) {
    rules.push_back(f.rule(K::AutogradCPU));
    library.close();
  }
  rules.push_back(f.rule(K::AutogradCPU));
  CHECK(rules ==
        std::vector<std::string>{"kernel", "math kernel", "autograd kernel", "backend fallback"});
}

}  // namespace
}  // namespace sb
