#include "switchboard/dispatch/modes/schema_check_mode.h"

#include <algorithm>
#include <utility>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/modes/tensor_snapshot.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb {
namespace {

using AliasSets = std::vector<std::string>;

bool intersect(const AliasSets& a, const AliasSets& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& set) {
    return std::find(b.begin(), b.end(), set) != b.end();
  });
}

bool is_wildcard(const AliasInfo& info) {
  const AliasSets any{"*"};
  return intersect(info.before, any) || intersect(info.after, any);
}

// Whether the schema lets values with these annotations share memory.
bool sets_meet(const std::optional<AliasInfo>& a, const std::optional<AliasInfo>& b) {
  if (!a || !b) return (a && is_wildcard(*a)) || (b && is_wildcard(*b));
  return is_wildcard(*a) || is_wildcard(*b) || intersect(a->before, b->before) ||
         intersect(a->before, b->after) || intersect(a->after, b->before) ||
         intersect(a->after, b->after);
}

bool share_storage(const Storage& a, const Storage& b) { return a && a == b; }

std::vector<Tensor> tensors_in(const IValue& value) {
  std::vector<Tensor> tensors;
  value.for_each_tensor([&](const Tensor& t) {
    if (t.defined()) tensors.push_back(t);
  });
  return tensors;
}

}  // namespace

// One call: its arguments as they were before it.
class SchemaCheckMode::Call {
 public:
  Call(const OperatorHandle& op, const IValue* values, SchemaCheckMode* mode)
      : name_(op.name().to_string()), schema_(op.schema()), mode_(mode) {
    for (size_t i = 0; i < schema_.arguments.size(); ++i)
      for (const Tensor& tensor : tensors_in(values[i]))
        arguments_.push_back({i, TensorSnapshot(tensor, mode_->options_.to_cpu)});
    const OperatorEntry& entry = op.entry();
    const bool is_composite = entry.dispatcher().inspect(
        [&] { return !entry.kernels_at(DispatchKey::CompositeImplicitAutograd).empty(); });
    may_return_input_ = is_composite || entry.has_tag(Tag::derived_through);
    may_alias_ = is_composite || entry.has_tag(Tag::maybe_aliasing_or_mutating);
  }

  // Compares with what is now. `results` are the values that the call left.
  void check(const IValue* results, size_t count) const {
    for (const Given& given : arguments_) check_mutation(given);
    std::vector<std::vector<Tensor>> returned;
    for (size_t j = 0; j < count; ++j) returned.push_back(tensors_in(results[j]));
    for (size_t j = 0; j < count; ++j)
      for (const Tensor& result : returned[j]) check_result(result, j);
    for (size_t j = 0; j < count; ++j)
      for (size_t k = j + 1; k < count; ++k) check_results(returned[j], j, returned[k], k);
  }

 private:
  // A tensor of an argument.
  struct Given {
    size_t index;
    TensorSnapshot before;
  };

  const Argument& argument(const Given& given) const { return schema_.arguments[given.index]; }
  std::string describe(const Given& given) const {
    return str_cat("argument ", given.index, " '", argument(given).name, "'");
  }
  void note(const std::string& text) const {
    // A list of tensors is one argument.
    const std::string line = str_cat(name_, ": ", text);
    if (mode_->notes_.empty() || mode_->notes_.back() != line) mode_->notes_.push_back(line);
  }
  // Whether the argument may be written to, as itself or as another name of the same tensor; and
  // whether its memory may, through any argument on the same storage.
  bool may_be_written(const Given& given) const {
    return any_argument([&](const Given& other) {
      return argument(other).is_write() && other.before.tensor().is_same(given.before.tensor());
    });
  }
  bool memory_may_be_written(const Given& given) const {
    return may_be_written(given) || any_argument([&](const Given& other) {
             return argument(other).is_write() &&
                    share_storage(other.before.storage(), given.before.storage());
           });
  }
  template <class F>
  bool any_argument(F&& f) const {
    return std::any_of(arguments_.begin(), arguments_.end(), f);
  }

  void check_mutation(const Given& given) const {
    const std::string metadata = given.before.changed_metadata();
    const std::string change =
        metadata.empty() ? given.before.changed_data(mode_->options_.to_cpu) : metadata;
    if (change.empty()) return;
    const bool allowed = metadata.empty() ? memory_may_be_written(given) : may_be_written(given);
    SB_CHECK(allowed, name_, ": ", describe(given),
             " is not declared as written to, and changed: ", change,
             "; schema: ", schema_.to_string());
    note(str_cat(describe(given), " was written to"));
  }

  void check_result(const Tensor& result, size_t j) const {
    for (const Given& given : arguments_) {
      const Tensor& now = given.before.tensor();
      if (!result.is_same(now) && !share_storage(result.storage(), now.storage())) continue;
      // The same storage by another argument is as good.
      const bool declared = any_argument([&](const Given& other) {
        const bool same = other.index == given.index ||
                          share_storage(other.before.storage(), given.before.storage());
        return same && sets_meet(argument(other).alias, schema_.returns[j].alias);
      });
      SB_CHECK(declared || may_alias_, name_, ": result ", j, " is not declared to alias ",
               describe(given), ", and shares its storage; schema: ", schema_.to_string());
      SB_CHECK(!result.is_same(now) || may_be_written(given) || may_return_input_ || may_alias_,
               name_, ": result ", j, " is ", describe(given),
               " itself, which is not declared as written to: expected a view of it; schema: ",
               schema_.to_string());
      note(str_cat("result ", j, " shares the storage of ", describe(given)));
    }
  }

  void check_results(const std::vector<Tensor>& a, size_t j, const std::vector<Tensor>& b,
                     size_t k) const {
    for (const Tensor& x : a) {
      for (const Tensor& y : b) {
        const bool allowed = !share_storage(x.storage(), y.storage()) || may_alias_ ||
                             sets_meet(schema_.returns[j].alias, schema_.returns[k].alias);
        SB_CHECK(
            allowed, name_, ": results ", j, " and ", k,
            " are not declared to alias, and share their storage; schema: ", schema_.to_string());
      }
    }
  }

  std::string name_;
  FunctionSchema schema_;  // a copy: the call may remove its operator
  SchemaCheckMode* mode_;
  std::vector<Given> arguments_;
  bool may_return_input_;
  bool may_alias_;
};

void SchemaCheckMode::call(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  const size_t base = stack->size() - op.entry().num_arguments();
  const Call call(op, stack->data() + base, this);
  op.call_boxed(stack);
  call.check(stack->data() + base, stack->size() - base);
  checked_.push_back(op.name().to_string());
}

}  // namespace sb
