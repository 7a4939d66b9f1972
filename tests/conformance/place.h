// Where a case's tensors live: the CPU, the meta device, another device, or a fake-tensor mode.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_PLACE_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_PLACE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "switchboard/core/device.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/operator_handle.h"
#include "switchboard/tests/conformance/json_values.h"

namespace sb::conformance {

// Arguments become views of one-dimensional tensors that hold whole storages, so that strides,
// offsets, overlap and sharing are the same in every place. A new place says how such a tensor is
// made and how a storage is read back; nothing else knows of places.
class Place {
 public:
  virtual ~Place() = default;
  virtual std::string_view name() const = 0;
  // What "cpu" in a case stands for here.
  virtual Device device() const = 0;
  // Whether a result is where results of this place belong.
  virtual bool owns(const Tensor& tensor) const { return tensor.device().type == device().type; }
  // Whether tensors have elements. Where they have none, only metadata and sharing are compared.
  virtual bool has_data() const = 0;

  // A tensor of shape [elements.size()] with these elements.
  virtual Tensor make_storage(const Elements& elements) = 0;
  // The bytes of the tensor's whole storage. Only called where there is data.
  virtual std::vector<std::byte> read_storage(const Tensor& tensor) = 0;

  // Runs a part of a program of this place: in its mode, where it is one.
  virtual void run(absl::FunctionRef<void()> part) { part(); }

  // Calls the operator with these arguments; explained, where that is wanted (tests/explain).
  virtual void call_boxed(const OperatorHandle& op, Stack* stack);

  using Keywords = std::vector<std::pair<std::string, IValue>>;
  // Binds the arguments and calls the operator, as a program in this place would.
  std::vector<IValue> call(const OperatorHandle& op, std::vector<IValue> positional,
                           Keywords keyword);
};

// A place that programs can ask for by name, registered before main by what links it in.
using PlaceFactory = std::unique_ptr<Place> (*)();
class PlaceRegistration {
 public:
  PlaceRegistration(std::string_view name, PlaceFactory factory);
};

// The place of that name, or null.
std::unique_ptr<Place> make_place(std::string_view name);
// The names that make_place knows, sorted: "cpu, meta".
std::string place_names();

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_PLACE_H_
