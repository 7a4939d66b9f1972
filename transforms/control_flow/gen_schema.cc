#include "switchboard/transforms/control_flow/gen_schema.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/modes/grad_hooks.h"
#include "switchboard/dispatch/schema/schema_parser.h"
#include "switchboard/transforms/control_flow/trace_control_flow.h"

namespace sb {
namespace {

// An argument of the schema. Tensors have their place among all of the call.
struct Entry {
  std::string type, name;
  std::optional<size_t> tensor = std::nullopt;
};

std::string type_of(const IValue& value) {
  switch (value.tag()) {
    case IValue::Tag::Bool:
      return "bool";
    case IValue::Tag::Int:
    case IValue::Tag::SymInt:
      return "SymInt";
    case IValue::Tag::Double:
      return "float";
    case IValue::Tag::String:
      return "str";
    case IValue::Tag::Tensor:
      return "Tensor";
    default:
      return "Any";
  }
}

// "operand" of "operands", but "xs".
std::string item_name(std::string list) {
  if (list.size() > 2 && list.ends_with('s')) list.pop_back();
  return list;
}

struct WithoutGrad {
  WithoutGrad() { internal::grad_hooks->set_grad_enabled(false); }
  ~WithoutGrad() { internal::grad_hooks->set_grad_enabled(was_enabled); }
  const bool was_enabled = internal::grad_hooks->is_grad_enabled();
};

class Call {
 public:
  Call(const HigherOrderOperator& op, const std::vector<IValue>& arguments) : op_(op) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      const bool named = i < op.parameters().size();
      add(arguments[i], named ? op.parameters()[i] : str_cat("arg", i));
    }
    given_ = arguments;
  }

  FunctionSchema schema() {
    const NoModesGuard no_modes;
    const WithoutGrad without_grad;
    copies_ = control_flow::copies_to_trace(tensors_);
    written_.resize(copies_.size());
    TraceOptions options;
    options.refuse_data_dependent = false;  // nobody runs the graph
    options.without_effects_in = op_.name();
    options.before_write_outside = [&](const Tensor& written) {
      for (size_t i = 0; i < copies_.size(); ++i)
        if (copies_[i].is_same(written)) written_[i] = true;
    };
    std::vector<IValue> results;
    trace_values(
        [&](const std::vector<IValue>& copies) {
          size_t next = 0;
          std::vector<IValue> with_copies;
          for (const IValue& value : given_) with_copies.push_back(replaced(value, copies, &next));
          results = op_(std::move(with_copies));
          return std::vector<IValue>();
        },
        {copies_.begin(), copies_.end()}, options);
    return parse_schema(text(results));
  }

 private:
  void add(const IValue& value, const std::string& name) {
    if (value.is_TensorList()) {
      const TensorList list = value.to_tensor_list();
      for (size_t i = 0; i < list.size(); ++i) add(list[i], str_cat(item_name(name), i));
    } else if (value.is_List()) {
      const std::vector<IValue>& list = value.to_list();
      for (size_t i = 0; i < list.size(); ++i) add(list[i], str_cat(item_name(name), i));
    } else if (value.is_Tensor() && value.unchecked_tensor().defined()) {
      entries_.push_back({"Tensor", name, tensors_.size()});
      tensors_.push_back(value.unchecked_tensor());
    } else {
      entries_.push_back({type_of(value), name});
    }
  }

  // The value with the copies in the place of its tensors, from number *next on.
  static IValue replaced(const IValue& value, const std::vector<IValue>& copies, size_t* next) {
    if (value.is_TensorList()) {
      std::vector<Tensor> list;
      for (const Tensor& t : value.to_tensor_list())
        list.push_back(replaced(t, copies, next).to_tensor());
      return list;
    }
    if (value.is_List()) {
      std::vector<IValue> list;
      for (const IValue& item : value.to_list()) list.push_back(replaced(item, copies, next));
      return list;
    }
    const bool copied = value.is_Tensor() && value.unchecked_tensor().defined();
    return copied ? copies[(*next)++] : value;
  }

  // "(a3!)" for an argument that is written to, "(a3)" for one that a result is a view of, else "".
  std::string alias_text(size_t entry, const std::vector<IValue>& results) const {
    const std::optional<size_t> tensor = entries_[entry].tensor;
    if (!tensor) return "";
    bool shared = false;
    for (const IValue& result : results)
      shared |= result.is_Tensor() && result.unchecked_tensor().is_alias_of(copies_[*tensor]);
    if (!shared && !written_[*tensor]) return "";
    return str_cat("(a", entry, written_[*tensor] ? "!)" : ")");
  }

  std::string text(const std::vector<IValue>& results) const {
    std::vector<std::string> arguments, returns;
    for (size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      arguments.push_back(str_cat(entry.type, alias_text(i, results), " ", entry.name));
    }
    for (const IValue& result : results) {
      std::string alias;
      for (size_t i = 0; i < entries_.size() && alias.empty(); ++i) {
        if (!result.is_Tensor() || !entries_[i].tensor) continue;
        if (result.unchecked_tensor().is_alias_of(copies_[*entries_[i].tensor]))
          alias = alias_text(i, results);
      }
      returns.push_back(type_of(result) + alias);
    }
    return str_cat(op_.name(), "(", absl::StrJoin(arguments, ", "), ") -> (",
                   absl::StrJoin(returns, ", "), ")");
  }

  const HigherOrderOperator& op_;
  std::vector<IValue> given_;
  std::vector<Entry> entries_;
  std::vector<Tensor> tensors_, copies_;
  std::vector<bool> written_;
};

}  // namespace

FunctionSchema gen_schema(const HigherOrderOperator& op, const std::vector<IValue>& arguments) {
  return Call(op, arguments).schema();
}

}  // namespace sb
