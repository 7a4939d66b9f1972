#include "switchboard/transforms/functionalization/functional_form.h"

#include <algorithm>
#include <iterator>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "switchboard/dispatch/dispatcher.h"

namespace sb {
namespace {

using Arguments = std::vector<std::optional<size_t>>;

// Whether a form takes by itself what an out= operator takes from its `out`.
bool is_tensor_option(const Argument& a) {
  static constexpr std::string_view kNames[] = {"dtype", "layout", "device", "pin_memory"};
  return a.kwarg_only && a.type.is_optional() &&
         std::find(std::begin(kNames), std::end(kNames), a.name) != std::end(kNames);
}

// How a form's arguments are those of the mutating operator; nullopt if they are not.
std::optional<Arguments> match_arguments(const FunctionSchema& form, const FunctionSchema& schema) {
  Arguments matched;
  size_t next = 0;  // of the mutating operator's
  const auto skip_out = [&] {
    while (next < schema.arguments.size() && schema.arguments[next].is_out()) ++next;
  };
  const bool has_out = std::any_of(schema.arguments.begin(), schema.arguments.end(),
                                   [](const Argument& a) { return a.is_out(); });
  for (const Argument& ours : form.arguments) {
    skip_out();
    const Argument* const theirs =
        next < schema.arguments.size() ? &schema.arguments[next] : nullptr;
    if (theirs && ours.name == theirs->name && ours.type == theirs->type) {
      matched.emplace_back(next++);
    } else if (has_out && is_tensor_option(ours)) {
      matched.emplace_back(std::nullopt);
    } else {
      return std::nullopt;
    }
  }
  skip_out();
  if (next != schema.arguments.size()) return std::nullopt;
  return matched;
}

// Whether a form returns exactly what the mutating operator writes.
bool returns_match(const FunctionSchema& form, const FunctionSchema& schema) {
  std::vector<const Argument*> written;
  for (const Argument& a : schema.arguments)
    if (a.is_write()) written.push_back(&a);
  if (form.returns.size() != written.size()) return false;
  for (size_t i = 0; i < written.size(); ++i)
    if (form.returns[i].type != written[i]->type) return false;
  // Returns that are not what is written to would be lost.
  return std::all_of(schema.returns.begin(), schema.returns.end(),
                     [](const Return& r) { return r.alias && r.alias->is_write; });
}

bool is_form_of(const FunctionSchema& form, const FunctionSchema& schema) {
  return !form.is_mutable() && returns_match(form, schema) && match_arguments(form, schema);
}

// The names that the form may have.
std::vector<std::string> names_of_form(const OperatorName& name) {
  std::vector<std::string> names = {name.name};
  const std::string& n = name.name;
  const size_t python = n.find("::__i");
  if (n.ends_with("__")) {  // __ilshift__ is Python's name of <<=
    if (python != std::string::npos)
      names.push_back(n.substr(0, python + 4) + n.substr(python + 5));
  } else if (n.ends_with("_")) {
    names.push_back(n.substr(0, n.size() - 1));
  }
  // Where the plain name was taken, ATen has "normal_functional".
  names.push_back(names.back() + "_functional");
  return names;
}

std::optional<OperatorHandle> search(const OperatorHandle& op) {
  const FunctionSchema& schema = op.schema();
  const std::vector<std::string> names = names_of_form(schema.name);
  const Dispatcher& dispatcher = op.entry().dispatcher();
  // What changes only how self lies in memory has a view for its form: a copy, as resize makes one,
  // would lose whose memory it is.
  const bool is_view = op.entry().has_tag(Tag::inplace_view);
  const auto fits = [&](const OperatorHandle& form) {
    return is_form_of(form.schema(), schema) && (!is_view || form.schema().is_view());
  };
  for (const std::string& name : names) {  // the usual case: the overload is called the same
    const auto form = dispatcher.find_op(OperatorName{name, schema.name.overload});
    if (form && fits(*form)) return form;
  }
  for (const OperatorHandle& form : dispatcher.all_ops()) {
    for (const std::string& name : names)
      if (form.name().name == name && fits(form)) return form;
  }
  return std::nullopt;
}

// Entries live as long as their dispatcher, which may be a test's own: those of other dispatchers
// than the default one are not kept.
struct Cache {
  std::mutex mutex;
  absl::flat_hash_map<const OperatorEntry*, OperatorEntry*> forms;
};
Cache& cache() {
  static Cache* const cache = new Cache;
  return *cache;
}

}  // namespace

std::optional<FunctionalForm> find_functional_form(const OperatorHandle& op) {
  const bool kept = &op.entry().dispatcher() == &default_dispatcher();
  std::optional<OperatorHandle> form;
  if (kept) {
    const std::lock_guard<std::mutex> lock(cache().mutex);
    const auto found = cache().forms.find(&op.entry());
    if (found != cache().forms.end() && !found->second->dead())
      form = OperatorHandle(found->second);
  }
  if (!form) {
    form = search(op);
    if (!form) return std::nullopt;
    if (kept) {
      const std::lock_guard<std::mutex> lock(cache().mutex);
      cache().forms[&op.entry()] = &form->entry();
    }
  }
  return FunctionalForm{*form, *match_arguments(form->schema(), op.schema())};
}

}  // namespace sb
