#include "switchboard/dispatch/objects/out_variant.h"

#include <algorithm>
#include <string>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/inspect/call_text.h"
#include "switchboard/dispatch/objects/simple_registry.h"

namespace sb {
namespace {

using Arguments = std::vector<const Argument*>;

struct Parts {
  explicit Parts(const FunctionSchema& schema) {
    for (const Argument& a : schema.arguments) (a.is_write() ? written : read).push_back(&a);
  }
  Arguments read, written;
};

bool is_same_argument(const Argument* a, const Argument* b) {
  return a->name == b->name && a->type.to_string() == b->type.to_string() &&
         a->default_value.has_value() == b->default_value.has_value() &&
         (!a->default_value || is_same_constant(*a->default_value, *b->default_value));
}

bool returns_what_it_writes(const FunctionSchema& schema, const Arguments& written) {
  return schema.returns.empty() ||
         std::equal(schema.returns.begin(), schema.returns.end(), written.begin(), written.end(),
                    [](const Return& r, const Argument* a) {
                      return r.alias && r.alias->before == a->alias->before;
                    });
}

std::vector<OpOverload> tagged_overloads(const OpOverload& functional) {
  std::vector<OpOverload> tagged;
  const Dispatcher& dispatcher = functional.handle().entry().dispatcher();
  for (const OperatorHandle& op : dispatcher.overloads(functional.handle().name().name))
    if (op.entry().has_tag(Tag::out)) tagged.emplace_back(op);
  return tagged;
}

struct ManualOutVariant {
  OpOverload out;
};

}  // namespace

std::optional<OpOverload> to_out_variant(const OpOverload& functional) {
  const FunctionSchema& schema = functional.schema();
  SB_CHECK(!schema.is_mutable() && schema.name.name.back() != '_',
           "to_out_variant: ", functional.name(), ": expected a functional operator, got ",
           schema.to_string());
  const Parts parts(schema);
  for (const OpOverload& candidate : tagged_overloads(functional)) {
    const Parts others(candidate.schema());
    if (!std::equal(parts.read.begin(), parts.read.end(), others.read.begin(), others.read.end(),
                    is_same_argument) ||
        others.written.size() != schema.returns.size())
      continue;
    SB_CHECK(returns_what_it_writes(candidate.schema(), others.written),
             "to_out_variant: ", functional.name(),
             ": expected an out= form that returns what it writes to, got ",
             candidate.schema().to_string());
    return candidate;
  }
  return std::nullopt;
}

void check_out_variant(const OpOverload& functional, const OpOverload& expected) {
  const std::optional<OpOverload> found = to_out_variant(functional);
  if (found == expected) return;
  std::string tagged;
  for (const OpOverload& op : tagged_overloads(functional))
    tagged += "\n  " + op.schema().to_string();
  SB_THROW(RuntimeError, "check_out_variant: ", functional.name(), ": expected ", expected.name(),
           ", got ", found ? found->name() : "none",
           "; overloads that are tagged out:", tagged.empty() ? " none" : tagged);
}

RegistrationHandle register_out_variant(const OpOverload& functional, const OpOverload& out,
                                        SourceLocation where) {
  return default_simple_registry().add(functional.name(), ManualOutVariant{out}, where);
}

std::optional<OpOverload> lookup_manual_out_variant(const OpOverload& functional) {
  const auto found = default_simple_registry().find<ManualOutVariant>(functional.name());
  return found ? std::optional(found->out) : std::nullopt;
}

}  // namespace sb
