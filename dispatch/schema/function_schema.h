// The schema of an operator: its arguments and returns, and how they alias.

#ifndef SWITCHBOARD_DISPATCH_SCHEMA_FUNCTION_SCHEMA_H_
#define SWITCHBOARD_DISPATCH_SCHEMA_FUNCTION_SCHEMA_H_

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/dispatch/schema/type.h"

namespace sb {

// "aten::add" and "Tensor". An empty overload is the default one.
struct OperatorName {
  std::string name;      // with its namespace
  std::string overload;  // may be empty

  // Parses "ns::name" or "ns::name.overload"; the namespace may be missing, as in the names that a
  // Library is given. Throws RuntimeError that says what is wrong with it.
  static OperatorName parse(std::string_view text);

  // "aten"; empty if the name has none.
  std::string_view ns() const {
    const size_t end = name.find("::");
    return std::string_view(name).substr(0, end == std::string::npos ? 0 : end);
  }
  // "aten::add.Tensor", or "aten::mm".
  std::string to_string() const { return overload.empty() ? name : name + "." + overload; }
  bool operator==(const OperatorName&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const OperatorName& n) {
    return H::combine(std::move(h), n.name, n.overload);
  }
};

// `(a!)`, `(a|b)`, `(a! -> b)`, `(*)`: which values share memory, and which are written to. A bare
// `!` is a write to a set of its own, which is named "$0", "$1", ...
struct AliasInfo {
  std::vector<std::string> before;  // sorted; "*" is the wildcard
  std::vector<std::string> after;   // the same as before, unless an arrow says otherwise
  bool is_write = false;
  // The number of the type's modifiers before it: 0 in `Tensor(a)[]`, 1 in `Tensor[](a)`.
  size_t position = 0;

  // "a!" without the parentheses.
  std::string to_string() const;
  bool operator==(const AliasInfo&) const = default;
};

struct Argument {
  std::string name;
  Type type;
  std::optional<AliasInfo> alias;
  std::optional<IValue>
      default_value;  // already of the argument's type: `int[2] stride=1` is [1, 1]
  bool kwarg_only = false;

  // Written to and keyword-only: an `out=` argument.
  bool is_out() const { return kwarg_only && is_write(); }
  bool is_write() const { return alias && alias->is_write; }
  std::string to_string() const;
};

struct Return {
  std::string name;  // may be empty
  Type type;
  std::optional<AliasInfo> alias;
  std::string to_string() const;
};

class FunctionSchema {
 public:
  OperatorName name;
  std::vector<Argument> arguments;
  absl::InlinedVector<Return, 1> returns;

  // Index of the argument of that name, or nullopt.
  std::optional<size_t> find_argument(std::string_view name) const;
  // Returns whether some argument is written to.
  bool is_mutable() const;
  // Returns whether some argument has an alias annotation and none is written to. As
  // `OpOverload.is_view`.
  bool is_view() const;
  // The schema as PyTorch prints it; parsing it again gives the same schema.
  std::string to_string() const;
};
std::ostream& operator<<(std::ostream& out, const FunctionSchema& schema);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_SCHEMA_FUNCTION_SCHEMA_H_
