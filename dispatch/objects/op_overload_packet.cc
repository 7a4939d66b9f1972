#include "switchboard/dispatch/objects/op_overload_packet.h"

#include <mutex>

#include "absl/strings/str_join.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/values/bind_arguments.h"

namespace sb {
namespace {

// "aten.add" for "aten::add".
std::string dotted(const std::string& name) {
  const size_t colons = name.find("::");
  return colons == std::string::npos
             ? name
             : str_cat(name.substr(0, colons), ".", name.substr(colons + 2));
}

// A reason without the name of the operator that it begins with.
std::string without_name(std::string_view reason, const OpOverload& op) {
  const std::string prefix = op.name() + ": ";
  if (reason.substr(0, prefix.size()) == prefix) reason.remove_prefix(prefix.size());
  return std::string(reason);
}

// The schema, or nullptr if the operator was removed, by another thread too. It stays valid.
const FunctionSchema* find_schema(const OpOverload& op) {
  try {
    return op.handle().entry().dead() ? nullptr : &op.schema();
  } catch (const NotImplementedError&) {
    return nullptr;
  }
}

}  // namespace

struct OpOverloadPacket::State {
  State(const Dispatcher& dispatcher, std::string name)
      : dispatcher(dispatcher), name(std::move(name)) {}

  const Dispatcher& dispatcher;
  const std::string name;
  std::mutex mutex;
  std::shared_ptr<const Overloads> overloads;  // null: never looked up
  uint64_t definitions = 0;                    // the dispatcher's, when they were looked up
};

OpOverloadPacket::OpOverloadPacket(const Dispatcher& dispatcher, std::string name)
    : state_(std::make_shared<State>(dispatcher, std::move(name))) {}

const std::string& OpOverloadPacket::name() const { return state_->name; }

std::string OpOverloadPacket::to_string() const { return dotted(name()); }

std::string OpOverloadPacket::repr() const {
  return str_cat("<OpOverloadPacket(op='", to_string(), "')>");
}

std::shared_ptr<const OpOverloadPacket::Overloads> OpOverloadPacket::snapshot(
    bool may_be_empty) const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  // Read first: what is defined meanwhile is looked up the next time.
  const uint64_t definitions = state_->dispatcher.definitions();
  if (!state_->overloads || state_->definitions != definitions) {
    auto overloads = std::make_shared<Overloads>();
    for (const OperatorHandle& op : state_->dispatcher.overloads(name()))
      overloads->emplace_back(op);
    state_->overloads = std::move(overloads);
    state_->definitions = definitions;
  }
  SB_CHECK_NOT_IMPLEMENTED(may_be_empty || !state_->overloads->empty(), name(),
                           ": no operator of that name is registered, or no longer");
  return state_->overloads;
}

std::optional<OpOverload> OpOverloadPacket::find(std::string_view overload) const {
  for (const OpOverload& op : items())
    if (op.overload_name() == overload) return op;
  return std::nullopt;
}

OpOverload OpOverloadPacket::operator[](std::string_view overload) const {
  if (const std::optional<OpOverload> op = find(overload)) return *op;
  const std::vector<std::string> names = overloads();
  if (names.empty())
    SB_THROW(AttributeError, name(), ": no operator of that name is registered, or no longer");
  SB_THROW(AttributeError, name(), ": no overload '", overload,
           "'; overloads: ", absl::StrJoin(names, ", "));
}

std::vector<OpOverload> OpOverloadPacket::items() const { return *snapshot(true); }

std::vector<std::string> OpOverloadPacket::overloads() const {
  std::vector<std::string> names;
  for (const OpOverload& op : items()) names.emplace_back(op.overload_name());
  return names;
}

std::vector<FunctionSchema> OpOverloadPacket::schemas() const {
  std::vector<FunctionSchema> schemas;
  for (const OpOverload& op : items())
    if (const FunctionSchema* const schema = find_schema(op)) schemas.push_back(*schema);
  return schemas;
}

std::pair<OpOverload, Stack> OpOverloadPacket::bind(const Arguments& positional,
                                                    const KeywordArguments& keyword) const {
  // Again if another thread removed one of them meanwhile: the others may not be all that there is.
  for (;;) {
    const std::shared_ptr<const Overloads> overloads = snapshot(false);
    bool removed = false;
    std::string reasons;
    for (const OpOverload& op : *overloads) {
      const FunctionSchema* const schema = find_schema(op);
      if (!schema) {
        removed = true;
        continue;
      }
      try {
        return {op, bind_arguments(*schema, positional, keyword)};
      } catch (const TypeError& error) {
        // Its own words are the best ones where there is no choice.
        if (overloads->size() == 1) throw;
        reasons += str_cat("\n  ", schema->to_string(), "\n    ", without_name(error.what(), op));
      }
    }
    if (removed) continue;
    SB_THROW(TypeError, name(),
             ": no overload takes these arguments; tried, in this order:", reasons);
  }
}

OpOverload OpOverloadPacket::resolve(const Arguments& positional,
                                     const KeywordArguments& keyword) const {
  return bind(positional, keyword).first;
}

Arguments OpOverloadPacket::call(const Arguments& positional,
                                 const KeywordArguments& keyword) const {
  auto [op, stack] = bind(positional, keyword);
  op.call_boxed(&stack);
  return std::move(stack);
}

bool operator==(const OpOverloadPacket& a, const OpOverloadPacket& b) {
  return &a.state_->dispatcher == &b.state_->dispatcher && a.name() == b.name();
}

OpOverloadPacket packet_of(const OpOverload& op) {
  return OpOverloadPacket(op.handle().entry().dispatcher(), op.handle().name().name);
}

std::ostream& operator<<(std::ostream& out, const OpOverloadPacket& packet) {
  return out << packet.to_string();
}

}  // namespace sb
