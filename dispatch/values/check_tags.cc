#include "switchboard/dispatch/values/check_tags.h"

#include <algorithm>
#include <string>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"

namespace sb::internal {
namespace {

bool is_tensor(const Type& type) { return type.code() == type_code(BaseType::Tensor); }

class Checker {
 public:
  Checker(const FunctionSchema& schema, Tag tag) : schema_(schema), tag_(tag) {}

  void check_inplace(bool built_in) const {
    const std::vector<Argument>& arguments = schema_.arguments;
    check(!arguments.empty() && !arguments[0].kwarg_only, "a positional argument", "none");
    const Argument& self = arguments[0];
    check(self.is_write(), "the first argument to be written to",
          str_cat("'", self.name, "', which is not"));
    if (built_in) return;
    check(is_tensor(self.type), "the first argument to be a Tensor",
          str_cat("'", self.name, "', a ", sb::to_string(self.type.code())));
    for (const Argument& argument : arguments) {
      check(&argument == &self || !argument.is_write(),
            "the first argument to be the only one that is written to",
            str_cat("'", argument.name, "', which is, too"));
    }
    check(schema_.returns.size() == 1, "one result, which is the first argument",
          str_cat(schema_.returns.size(), " results"));
    check_returns(0, self);
  }

  void check_out(bool built_in) const {
    const auto is_out = [](const Argument& a) { return a.is_out(); };
    check(schema_.is_mutable(), "an argument that is written to", "none");
    if (built_in) {
      check(std::ranges::any_of(schema_.arguments, is_out),
            "an argument that is written to to be keyword-only", "none");
      return;
    }
    std::vector<const Argument*> outs;
    for (const Argument& argument : schema_.arguments) {
      if (!argument.is_write()) continue;
      check(argument.kwarg_only, "all arguments that are written to to be keyword-only",
            str_cat("'", argument.name, "', which is positional"));
      check(is_tensor(argument.type), "all arguments that are written to to be Tensors",
            str_cat("'", argument.name, "', a ", sb::to_string(argument.type.code())));
      outs.push_back(&argument);
    }
    check(schema_.returns.size() == outs.size(), "all arguments that are written to as results",
          str_cat(outs.size(), " of these and ", schema_.returns.size(), " results"));
    for (size_t i = 0; i < outs.size(); ++i) check_returns(i, *outs[i]);
  }

 private:
  void check(bool ok, std::string_view expected, std::string_view got) const {
    SB_CHECK_VALUE(ok, schema_.name.to_string(), ": tagged ", sb::to_string(tag_), ": expected ",
                   expected, ", got ", got, ": ", schema_.to_string());
  }
  void check_returns(size_t i, const Argument& argument) const {
    const Return& result = schema_.returns[i];
    const std::string expected = str_cat("result ", i, " to be the argument '", argument.name, "'");
    check(is_tensor(result.type), expected, str_cat("a ", sb::to_string(result.type.code())));
    check(result.alias.has_value(), expected, "a new tensor");
    check(result.alias->is_write, expected, "a view, of which nothing is written to");
    check(result.alias->before == argument.alias->before, expected, "another alias set");
  }

  const FunctionSchema& schema_;
  Tag tag_;
};

}  // namespace

void check_tags(const FunctionSchema& schema, TagSet tags, bool built_in) {
  if (tags.has(Tag::inplace)) Checker(schema, Tag::inplace).check_inplace(built_in);
  if (tags.has(Tag::out)) Checker(schema, Tag::out).check_out(built_in);
}

}  // namespace sb::internal
