// The arguments of a case, rebuilt exactly as they were recorded.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_ARGUMENTS_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_ARGUMENTS_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "switchboard/tests/conformance/place.h"

namespace sb::conformance {

struct Arguments {
  std::vector<IValue> positional;
  Place::Keywords keyword;

  // Every tensor, by its path: "args.0", "args.1.2" in a list, "kwargs.out". A tensor that comes
  // twice is here twice. For a `storage_of`, a tensor on that storage.
  struct Named {
    std::string path;
    Tensor tensor;
  };
  std::vector<Named> tensors;

  // The tensor at the path. Throws MalformedCase if there is none.
  const Tensor& at(std::string_view path) const;
};

// What `ref` and `refs` of a program stand for, by path: "inputs.0", "steps.1.0"; in a sub-program
// also "outer." and a path of the program around it.
class KnownTensors {
 public:
  explicit KnownTensors(std::shared_ptr<const KnownTensors> outer = nullptr)
      : outer_(std::move(outer)) {}

  void add(std::string path, Tensor tensor) {
    tensors_.insert_or_assign(std::move(path), std::move(tensor));
  }
  // Throws MalformedCase if there is none.
  const Tensor& at(std::string_view path) const;

 private:
  std::map<std::string, Tensor, std::less<>> tensors_;
  std::shared_ptr<const KnownTensors> outer_;
};

// The `args` and `kwargs` of a case, or of a program's step, in a place. Throws Unsupported and
// MalformedCase.
Arguments build_arguments(const Json& json, Place& place,
                          const KnownTensors& known = KnownTensors());
// One tensor T that shares its storage with no other. Throws the same.
Tensor build_tensor(const Json& json, Place& place);
// Several, which share a storage where they have the same `storage_id`. Throws the same.
std::vector<Tensor> build_tensors(const Json& list, Place& place);

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_ARGUMENTS_H_
