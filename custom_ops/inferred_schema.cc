#include "switchboard/custom_ops/inferred_schema.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/schema/schema_parser.h"
#include "switchboard/dispatch/schema/type.h"

namespace sb {
namespace {

// `given` is what stands before the argument's name.
std::string type_text(std::string_view op, std::string_view what, TypeCode code,
                      std::string_view given = {}) {
  if (code != kDeepType) {
    SB_CHECK_VALUE(given.empty(), op, ": ", what, ": expected its name alone, as it is a ",
                   to_string(code), " in C++, got the type '", given, "'");
    return to_string(code);
  }
  SB_CHECK_VALUE(!given.empty(), op, ": ", what,
                 " is an IValue, which may be of any type; write the schema, or an argument's type "
                 "before its name");
  return std::string(given);
}

// "Type name": the parts, of which the first may be empty.
std::pair<std::string_view, std::string_view> type_and_name(std::string_view text) {
  const size_t space = text.rfind(' ');
  if (space == text.npos) return {{}, text};
  return {text.substr(0, space), text.substr(space + 1)};
}

constexpr std::string_view kTensor = "Tensor";
std::string alias_text(size_t set) { return str_cat("(a", set, "!)"); }

}  // namespace

std::string infer_schema(std::string_view op, const CppSignature& signature,
                         const std::vector<std::string>& names,
                         const std::vector<std::string>& mutates_args, Mutation mutation,
                         TagSet tags) {
  SB_CHECK_VALUE(!tags.has(Tag::inplace) || !tags.has(Tag::out), op,
                 ": expected one of the tags inplace and out, got both");
  const size_t n = signature.arguments.size();
  SB_CHECK_VALUE(names.empty() || names.size() == n, op, ": expected names of ", n,
                 " arguments, got ", names.size());
  std::vector<std::string> arguments, known;
  size_t written = 0;
  for (size_t i = 0; i < n; ++i) {
    const std::string numbered = str_cat("_", i);
    const auto [given, own] = type_and_name(names.empty() ? numbered : names[i]);
    const std::string name(own);
    SB_CHECK_VALUE(is_identifier(name), op, ": expected an identifier as the name of argument ", i,
                   ", got '", name, "'");
    SB_CHECK_VALUE(std::find(known.begin(), known.end(), name) == known.end(), op,
                   ": expected a name for each argument, got '", name, "' twice");
    known.push_back(name);
    std::string type =
        type_text(op, str_cat("argument '", name, "'"), signature.arguments[i], given);
    const bool is_tensor = base_of(signature.arguments[i]) == BaseType::Tensor;
    const bool is_listed =
        std::find(mutates_args.begin(), mutates_args.end(), name) != mutates_args.end();
    SB_CHECK_VALUE(!is_listed || is_tensor, op, ": mutates_args: expected tensors, got '", name,
                   "', a ", type);
    if (is_listed || (is_tensor && mutation == Mutation::Unknown)) {
      if (tags.has(Tag::out) && written == 0) arguments.push_back("*");
      type.insert(kTensor.size(), alias_text(written++));
    } else {
      SB_CHECK_VALUE(!tags.has(Tag::out) || written == 0, op,
                     ": tagged out: expected the arguments that are written to last, got '", name,
                     "' behind them");
    }
    arguments.push_back(str_cat(type, " ", name));
  }
  for (const std::string& name : mutates_args) {
    SB_CHECK_VALUE(std::find(known.begin(), known.end(), name) != known.end(), op,
                   ": mutates_args: no argument '", name,
                   "'; there are: ", absl::StrJoin(known, ", "));
  }
  std::vector<std::string> returns;
  for (TypeCode code : signature.returns) {
    std::string type = type_text(op, str_cat("result ", returns.size()), code);
    const bool is_argument = tags.has(Tag::inplace) || tags.has(Tag::out);
    if (is_argument && type == kTensor && returns.size() < written)
      type += alias_text(returns.size());
    returns.push_back(std::move(type));
  }
  const std::string results = absl::StrJoin(returns, ", ");
  return str_cat("(", absl::StrJoin(arguments, ", "), ") -> ",
                 returns.size() == 1 ? results : str_cat("(", results, ")"));
}

}  // namespace sb
