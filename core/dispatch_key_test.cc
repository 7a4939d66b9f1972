#include "switchboard/core/dispatch_key.h"

#include <set>
#include <sstream>

#include "catch2/catch.hpp"
#include "switchboard/core/error.h"

namespace sb {
namespace {

TEST_CASE("every key's name parses back to the key", "[core][key]") {
  std::set<std::string_view> names;
  for (int i = 0; i < static_cast<int>(DispatchKey::EndOfKeys); ++i) {
    const DispatchKey k = static_cast<DispatchKey>(i);
    CHECK(find_dispatch_key(to_string(k)) == k);
    names.insert(to_string(k));
  }
  CHECK(names.size() == static_cast<size_t>(DispatchKey::EndOfKeys));
}

TEST_CASE("keys are named as PyTorch names them", "[core][key]") {
  CHECK(to_string(DispatchKey::CPU) == "CPU");
  CHECK(to_string(DispatchKey::QuantizedCUDA) == "QuantizedCUDA");
  CHECK(to_string(DispatchKey::AutogradPrivateUse1) == "AutogradPrivateUse1");
  CHECK(to_string(DispatchKey::NestedTensorMeta) == "NestedTensorMeta");
  CHECK(to_string(DispatchKey::CompositeImplicitAutograd) == "CompositeImplicitAutograd");
  CHECK(to_string(Backend::PrivateUse3) == "PrivateUse3");
  std::ostringstream out;
  out << DispatchKey::Undefined;
  CHECK(out.str() == "Undefined");
}

TEST_CASE("an unknown key is an answer to find and an error to parse", "[core][key]") {
  CHECK(find_dispatch_key("cpu") == std::nullopt);
  CHECK(find_dispatch_key("") == std::nullopt);
  CHECK(find_dispatch_key("EndOfKeys") == std::nullopt);
  CHECK_THROWS_AS(parse_dispatch_key("AutogradToaster"), ValueError);
  CHECK_THROWS_WITH(parse_dispatch_key("AutogradToaster"), Catch::Contains("AutogradToaster"));
}

TEST_CASE("a runtime key is a functionality alone, or one on a backend", "[core][key]") {
  CHECK(functionality_of(DispatchKey::CPU) == DispatchKey::Dense);
  CHECK(backend_of(DispatchKey::CPU) == Backend::CPU);
  CHECK(functionality_of(DispatchKey::AutogradXLA) == DispatchKey::AutogradFunctionality);
  CHECK(backend_of(DispatchKey::AutogradXLA) == Backend::XLA);
  CHECK(functionality_of(DispatchKey::FPGA) == DispatchKey::FPGA);
  CHECK(backend_of(DispatchKey::FPGA) == std::nullopt);
  CHECK(runtime_key(DispatchKey::Sparse, Backend::CUDA) == DispatchKey::SparseCUDA);
  CHECK(runtime_key(DispatchKey::Python, Backend::CUDA) == DispatchKey::Python);
}

TEST_CASE("an alias key has neither functionality nor backend", "[core][key]") {
  for (DispatchKey k : {DispatchKey::Autograd, DispatchKey::CompositeExplicitAutograd}) {
    CHECK(is_alias_key(k));
    CHECK_FALSE(is_runtime_key(k));
    CHECK(functionality_of(k) == DispatchKey::Undefined);
    CHECK(backend_of(k) == std::nullopt);
  }
}

TEST_CASE("a per-backend functionality is not itself a runtime key", "[core][key]") {
  CHECK_FALSE(is_runtime_key(DispatchKey::Dense));
  CHECK_FALSE(is_runtime_key(DispatchKey::AutogradFunctionality));
  CHECK(is_runtime_key(DispatchKey::CPU));
  CHECK(is_runtime_key(DispatchKey::Undefined));
}

TEST_CASE("each runtime key has one slot, in order of functionality", "[core][key]") {
  int expected = 0;
  for_each_runtime_key([&](DispatchKey k) {
    CHECK(slot_of(k) == expected++);
    CHECK(is_runtime_key(k));
  });
  CHECK(expected == kNumSlots);
}

}  // namespace
}  // namespace sb
