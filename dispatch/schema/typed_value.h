// Whether a value is one of a type, and lists as their types have them.

#ifndef SWITCHBOARD_DISPATCH_SCHEMA_TYPED_VALUE_H_
#define SWITCHBOARD_DISPATCH_SCHEMA_TYPED_VALUE_H_

#include <optional>
#include <vector>

#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/dispatch/schema/type.h"

namespace sb::internal {

// These work on the first `depth` modifiers of a type: all of them for a value, fewer for the
// elements of a list.

// Whether the value is one of the type as it stands.
bool fits(const Type& type, size_t depth, const IValue& v);
inline bool fits(const Type& type, const IValue& v) { return fits(type, type.modifiers.size(), v); }
bool is_optional_at(const Type& type, size_t depth);

// The tag of lists of such elements; List for those without a tag of their own.
IValue::Tag list_tag(const Type& type, size_t element_depth);
// The elements of a list of any tag; nullopt if it is none.
std::optional<std::vector<IValue>> elements_of(const IValue& v);
// A list of elements that fit already.
IValue pack(const Type& type, size_t element_depth, std::vector<IValue> elements);

// Makes a literal of a schema one of the type: an int widens to float, and these to complex; a
// number fills a sized list. False, with the value in any state, if it cannot be one.
bool widen_literal(const Type& type, size_t depth, IValue* v);

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_SCHEMA_TYPED_VALUE_H_
