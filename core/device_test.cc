#include "switchboard/core/device.h"

#include <sstream>

#include "catch2/catch.hpp"
#include "switchboard/core/dispatch_key.h"
#include "switchboard/core/error.h"

namespace sb {
namespace {

TEST_CASE("a device parses from its type and index", "[core][device]") {
  CHECK(Device("cpu") == Device(DeviceType::CPU));
  CHECK(Device("cuda:1") == Device(DeviceType::CUDA, 1));
  CHECK(Device("meta").is_meta());
  CHECK(Device("xla:127").index == 127);
  CHECK_FALSE(Device("cuda").has_index());
}

TEST_CASE("a device prints as it parses", "[core][device]") {
  for (const char* text : {"cpu", "cuda:0", "meta", "vulkan", "lazy:12"}) {
    CHECK(to_string(Device(text)) == text);
    std::ostringstream out;
    out << Device(text);
    CHECK(out.str() == text);
  }
}

TEST_CASE("a text that names no device is a ValueError that holds the text", "[core][device]") {
  for (const char* text : {"", "gpu", "CPU", "cuda:", "cuda:-1", "cuda:01", "cuda:128", "cuda:1:2",
                           "cuda: 1", ":0", "cuda:99999999999999999999", "cuda:x", " cpu"}) {
    CHECK_THROWS_AS(Device(text), ValueError);
    CHECK_THROWS_WITH(Device(text), Catch::Contains(std::string("'") + text + "'"));
  }
}

TEST_CASE("every device type is found by its name", "[core][device]") {
  for (int i = 0; i < kNumDeviceTypes; ++i) {
    const DeviceType type = static_cast<DeviceType>(i);
    CHECK(find_device_type(to_string(type)) == type);
  }
  CHECK(find_device_type("toaster") == std::nullopt);
}

// The name cannot be taken back, so that one test tells its whole life.
TEST_CASE("PrivateUse1 takes a name once, and is known by it everywhere", "[core][device]") {
  CHECK(to_string(DeviceType::PrivateUse1) == "privateuseone");
  CHECK(find_dispatch_key("dummy") == std::nullopt);
  CHECK(find_dispatch_key("privateuseone") == std::nullopt);

  CHECK_THROWS_AS(rename_privateuse1_backend(""), ValueError);
  CHECK_THROWS_AS(rename_privateuse1_backend("Dummy"), ValueError);
  CHECK_THROWS_AS(rename_privateuse1_backend("dum my"), ValueError);
  CHECK_THROWS_AS(rename_privateuse1_backend("cuda"), ValueError);
  CHECK(to_string(DeviceType::PrivateUse1) == "privateuseone");

  rename_privateuse1_backend("dummy");
  rename_privateuse1_backend("dummy");
  CHECK_THROWS_AS(rename_privateuse1_backend("other"), RuntimeError);
  CHECK_THROWS_AS(rename_privateuse1_backend("privateuseone"), RuntimeError);

  CHECK(is_renamed_private_backend(DeviceType::PrivateUse1));
  CHECK(to_string(DeviceType::PrivateUse1) == "dummy");
  CHECK(Device("dummy:0") == Device(DeviceType::PrivateUse1, 0));
  CHECK(Device("privateuseone:0") == Device(DeviceType::PrivateUse1, 0));
  CHECK(to_string(Device("dummy:0")) == "dummy:0");

  CHECK(find_dispatch_key("dummy") == DispatchKey::PrivateUse1);
  CHECK(find_dispatch_key("AutogradDummy") == DispatchKey::AutogradPrivateUse1);
  CHECK(find_dispatch_key("SparseDummy") == DispatchKey::SparsePrivateUse1);
  CHECK(find_dispatch_key("Autograddummy") == std::nullopt);
  CHECK(find_dispatch_key("Dummy") == std::nullopt);
  CHECK(to_string(DispatchKey::PrivateUse1) == "dummy");
  CHECK(to_string(DispatchKey::AutogradPrivateUse1) == "AutogradDummy");
  CHECK(canonical_name(DispatchKey::AutogradPrivateUse1) == "AutogradPrivateUse1");
  CHECK(find_dispatch_key("AutogradPrivateUse1") == DispatchKey::AutogradPrivateUse1);
  CHECK(to_string(DispatchKey::AutogradPrivateUse2) == "AutogradPrivateUse2");
}

TEST_CASE("the three private backends have three names", "[core][device]") {
  CHECK_THROWS_WITH(rename_private_backend(DeviceType::CUDA, "mine"),
                    "rename_private_backend: expected PrivateUse1, PrivateUse2 or PrivateUse3, got "
                    "cuda");
  CHECK_FALSE(is_renamed_private_backend(DeviceType::PrivateUse2));
  rename_private_backend(DeviceType::PrivateUse2, "second");
  CHECK_THROWS_WITH(rename_private_backend(DeviceType::PrivateUse3, "second"),
                    "backend name 'second' is the name of another device");
  CHECK_THROWS_WITH(rename_private_backend(DeviceType::PrivateUse2, "other"),
                    "PrivateUse2 is already named 'second' and cannot be renamed 'other'");
  // "AutogradOther" is another key.
  CHECK_THROWS_AS(rename_private_backend(DeviceType::PrivateUse3, "other"), ValueError);
  CHECK_THROWS_AS(rename_private_backend(DeviceType::PrivateUse3, "functionality"), ValueError);
  rename_private_backend(DeviceType::PrivateUse3, "third");
  CHECK(Device("second:1") == Device(DeviceType::PrivateUse2, 1));
  CHECK(to_string(Device(DeviceType::PrivateUse3, 0)) == "third:0");
  CHECK(find_dispatch_key("AutogradThird") == DispatchKey::AutogradPrivateUse3);
  CHECK(find_dispatch_key("second") == DispatchKey::PrivateUse2);
  // Every key of the three is found by the name that it prints.
  for_each_runtime_key([](DispatchKey key) { CHECK(find_dispatch_key(to_string(key)) == key); });
}

}  // namespace
}  // namespace sb
