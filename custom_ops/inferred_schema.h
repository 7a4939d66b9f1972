// The schema of a C++ function.

#ifndef SWITCHBOARD_CUSTOM_OPS_INFERRED_SCHEMA_H_
#define SWITCHBOARD_CUSTOM_OPS_INFERRED_SCHEMA_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/dispatch/schema/cpp_types.h"
#include "switchboard/dispatch/schema/tag.h"

namespace sb {

// The arguments that a function writes to: those that are listed, or maybe any tensor.
enum class Mutation : uint8_t { Listed, Unknown };

// "(Tensor x, float factor) -> Tensor" for Tensor(const Tensor&, double). As
// `torch.library.infer_schema`. C++ does not tell the names of arguments: they are `names`, or _0,
// _1, ... if that is empty. The arguments in `mutates_args`, which hold tensors, are written to.
// An IValue may be anything, and has its type before its name:
//
//   infer_schema("demo::pad", cpp_signature<Tensor, Tensor, IValue>,
//                {"x", "__torch__.torch.classes.demo.Padding padding"})
//
// Throws ValueError, beginning with `op`, for a number of names that is not that of the arguments,
// for a name that is twice there or is no identifier, for what is written to and is no tensor or
// not there, for an IValue without a type, as a result too, and for a type where C++ tells it.
//
// Of an operator that is tagged inplace, the result is the first argument, which must be written
// to; of one that is tagged out, the results are the arguments that are written to: the last ones,
// which become keyword-only. What then does not fit the tag, defining the operator refuses.
std::string infer_schema(std::string_view op, const CppSignature& signature,
                         const std::vector<std::string>& names = {},
                         const std::vector<std::string>& mutates_args = {},
                         Mutation mutation = Mutation::Listed, TagSet tags = {});

}  // namespace sb

#endif  // SWITCHBOARD_CUSTOM_OPS_INFERRED_SCHEMA_H_
