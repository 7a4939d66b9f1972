// The arguments of a case, rebuilt exactly as they were recorded.

#ifndef SWITCHBOARD_TESTS_CONFORMANCE_ARGUMENTS_H_
#define SWITCHBOARD_TESTS_CONFORMANCE_ARGUMENTS_H_

#include <string>
#include <string_view>
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

// The `args` and `kwargs` of a case in a place. Throws Unsupported and MalformedCase.
Arguments build_arguments(const Json& json, Place& place);

}  // namespace sb::conformance

#endif  // SWITCHBOARD_TESTS_CONFORMANCE_ARGUMENTS_H_
