#include "switchboard/custom_ops/custom_op.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/custom_ops/inferred_schema.h"
#include "switchboard/dispatch/objects/qualified_name.h"
#include "switchboard/dispatch/static_library.h"

namespace sb {
namespace {

std::unique_ptr<Library> open_library(std::string_view name, SourceLocation where) {
  const OperatorName parsed = parse_qualified_name(name);
  return std::make_unique<Library>(Library::Kind::Fragment, std::string(parsed.ns()), std::nullopt,
                                   where);
}

// Whether the schema says nothing of results that share memory.
bool returns_new_tensors(const FunctionSchema& schema) {
  return std::none_of(schema.returns.begin(), schema.returns.end(),
                      [](const Return& r) { return r.alias.has_value(); });
}

void check_options(const FunctionSchema& schema, const CustomOpOptions& options) {
  const std::string op = schema.name.to_string();
  SB_CHECK_VALUE(
      options.arguments.empty(), op,
      ": names of arguments were given beside a schema, which has them: ", schema.to_string());
  SB_CHECK_VALUE(!options.mutates_unknown, op,
                 ": mutates_unknown was given beside a schema, which says what is written to: ",
                 schema.to_string());
  if (options.mutates_args.empty()) return;
  std::vector<std::string> written;
  for (const Argument& argument : schema.arguments)
    if (argument.is_write()) written.push_back(argument.name);
  std::vector<std::string> given = options.mutates_args;
  std::sort(given.begin(), given.end());
  std::vector<std::string> sorted = written;
  std::sort(sorted.begin(), sorted.end());
  SB_CHECK_VALUE(given == sorted, op, ": mutates_args: expected what the schema says, [",
                 absl::StrJoin(written, ", "), "], got [",
                 absl::StrJoin(options.mutates_args, ", "), "]: ", schema.to_string());
}

}  // namespace

CustomOp::CustomOp(std::string_view name, std::string_view schema, const CustomOpOptions& options,
                   SourceLocation where)
    : library_(open_library(name, where)),
      op_(define(name, schema, options.tags, library_.get(), where)),
      results_are_new_(returns_new_tensors(op_.schema())) {
  check_options(op_.schema(), options);
  expected_fake_ = open_library(name, where);
  internal::expect_fake_rule(op_.handle().name(), *expected_fake_, where);
}

void CustomOp::add_kernel(const KernelTypes& types, const KernelFunction& kernel,
                          SourceLocation where) {
  library().impl_at(qualified_name(), types.keys(), kernel, where);
  // It decides for tensors without data, too.
  const std::vector<DispatchKey>& keys = types.keys();
  if (std::find(keys.begin(), keys.end(), DispatchKey::CompositeImplicitAutograd) != keys.end())
    expected_fake_ = nullptr;
}

void CustomOp::add_fake(const KernelFunction& rule, SourceLocation where) {
  internal::register_fake_kernel(op_.handle().name(), rule, library(), where);
}

Library& CustomOp::library() const {
  SB_CHECK(library_, qualified_name(),
           ": the object that the operator was made with was moved from, or left it (keep()), and "
           "registers nothing more");
  return *library_;
}

void CustomOp::check_results(size_t got, size_t expected) const {
  SB_CHECK_TYPE(got == expected, qualified_name(), ": the call was to give ", expected,
                " results, and gives ", got, ": ", schema().to_string());
}

OpOverload CustomOp::keep() && {
  internal::keep_open(std::move(library_));
  if (expected_fake_) internal::keep_open(std::move(expected_fake_));
  return op_;
}

namespace internal {

std::string schema_of_kernel(std::string_view op, const KernelFunction& kernel,
                             const CustomOpOptions& options) {
  SB_CHECK_VALUE(kernel.signature, op,
                 ": a boxed kernel does not tell its arguments; give the schema");
  SB_CHECK_VALUE(!options.mutates_unknown || options.mutates_args.empty(), op,
                 ": expected either mutates_args or mutates_unknown, got both");
  const Mutation mutation = options.mutates_unknown ? Mutation::Unknown : Mutation::Listed;
  return infer_schema(op, *kernel.signature, options.arguments, options.mutates_args, mutation);
}

}  // namespace internal
}  // namespace sb
