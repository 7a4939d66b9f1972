#include "switchboard/tests/conformance/place.h"

#include <cstring>
#include <map>

#include "absl/strings/str_join.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/dispatch/values/bind_arguments.h"
#include "switchboard/tests/explain/explained_calls.h"

namespace sb::conformance {
namespace {

class CpuPlace : public Place {
 public:
  std::string_view name() const override { return "cpu"; }
  Device device() const override { return DeviceType::CPU; }
  bool has_data() const override { return true; }

  Tensor make_storage(const Elements& elements) override {
    Tensor tensor =
        empty_on(DeviceType::CPU, {static_cast<int64_t>(elements.size())}, elements.dtype);
    if (!elements.bytes.empty())
      std::memcpy(tensor.storage()->data(), elements.bytes.data(), elements.bytes.size());
    return tensor;
  }
  std::vector<std::byte> read_storage(const Tensor& tensor) override {
    std::vector<std::byte> bytes(tensor.storage()->nbytes());
    if (!bytes.empty()) std::memcpy(bytes.data(), tensor.storage()->data(), bytes.size());
    return bytes;
  }
};

class MetaPlace : public Place {
 public:
  std::string_view name() const override { return "meta"; }
  Device device() const override { return DeviceType::Meta; }
  bool has_data() const override { return false; }

  Tensor make_storage(const Elements& elements) override {
    return empty_on(DeviceType::Meta, {static_cast<int64_t>(elements.size())}, elements.dtype);
  }
  std::vector<std::byte> read_storage(const Tensor&) override { return {}; }
};

std::map<std::string, PlaceFactory>& registered_places() {
  static auto* const places = new std::map<std::string, PlaceFactory>{
      {"cpu", [] { return std::unique_ptr<Place>(new CpuPlace); }},
      {"meta", [] { return std::unique_ptr<Place>(new MetaPlace); }},
  };
  return *places;
}

}  // namespace

std::vector<IValue> Place::call(const OperatorHandle& op, std::vector<IValue> positional,
                                Keywords keyword) {
  Stack stack;
  run([&] {
    stack = bind_arguments(op.schema(), std::move(positional), std::move(keyword));
    call_boxed(op, &stack);
  });
  return stack;
}

void Place::call_boxed(const OperatorHandle& op, Stack* stack) { test::call_explained(op, stack); }

PlaceRegistration::PlaceRegistration(std::string_view name, PlaceFactory factory) {
  registered_places()[std::string(name)] = factory;
}

std::unique_ptr<Place> make_place(std::string_view name) {
  const auto it = registered_places().find(std::string(name));
  return it == registered_places().end() ? nullptr : it->second();
}

std::string place_names() {
  return absl::StrJoin(registered_places(), ", ",
                       [](std::string* out, const auto& place) { out->append(place.first); });
}

}  // namespace sb::conformance
