#include "switchboard/dispatch/objects/op_namespace.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/objects/higher_order_operator.h"
#include "switchboard/dispatch/plugins/load_library.h"
#include "switchboard/dispatch/schema/near_names.h"

namespace sb {
namespace {

std::vector<std::string> sorted_unique(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

constexpr std::string_view kHigherOrder = "higher_order";

// Higher-order operators are the program's: they count to the default dispatcher.
std::vector<std::string> higher_order_names(const Dispatcher& dispatcher) {
  return &dispatcher == &default_dispatcher() ? higher_order_op_names()
                                              : std::vector<std::string>();
}

std::vector<std::string> namespaces_of(const Dispatcher& dispatcher) {
  std::vector<std::string> names;
  for (const OperatorHandle& op : dispatcher.all_ops()) names.emplace_back(op.name().ns());
  if (!higher_order_names(dispatcher).empty()) names.emplace_back(kHigherOrder);
  return sorted_unique(std::move(names));
}

}  // namespace

struct OpNamespace::State {
  State(const Dispatcher& dispatcher, std::string name)
      : dispatcher(dispatcher), name(std::move(name)) {}

  // The operators that exist, without the namespace.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    if (name == kHigherOrder) found = higher_order_names(dispatcher);
    for (const OperatorHandle& op : dispatcher.all_ops()) {
      if (op.name().ns() == name) found.push_back(op.name().name.substr(name.size() + 2));
    }
    return sorted_unique(std::move(found));
  }

  // Forgets the operators that were removed. The lock is held.
  void refresh() {
    const uint64_t now = dispatcher.definitions();
    if (definitions == now) return;
    for (auto it = packets.begin(); it != packets.end();)
      it = it->second.items().empty() ? packets.erase(it) : std::next(it);
    definitions = now;
  }

  const Dispatcher& dispatcher;
  const std::string name;
  std::mutex mutex;
  std::map<std::string, OpOverloadPacket, std::less<>> packets;
  uint64_t definitions = 0;  // the dispatcher's, when the packets were looked through
};

const std::string& OpNamespace::name() const { return state_->name; }

std::optional<OpOverloadPacket> OpNamespace::find(std::string_view op) const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->refresh();
  if (const auto it = state_->packets.find(op); it != state_->packets.end()) return it->second;
  OpOverloadPacket packet(state_->dispatcher, str_cat(name(), "::", op));
  if (packet.items().empty()) return std::nullopt;
  return state_->packets.emplace(op, std::move(packet)).first->second;
}

OpOverloadPacket OpNamespace::operator[](std::string_view op) const {
  if (std::optional<OpOverloadPacket> packet = find(op)) return *std::move(packet);
  if (name() == kHigherOrder && find_higher_order_op(op)) {
    SB_THROW(AttributeError, name(), "::", op,
             ": a higher-order operator has no overloads; find_higher_order_op() gives it");
  }
  const std::vector<std::string> here = names();
  if (here.empty()) {
    const std::vector<std::string> others = namespaces_of(state_->dispatcher);
    SB_THROW(AttributeError, name(), "::", op, ": the namespace '", name(), "' has no operators",
             "; namespaces: ", others.empty() ? "none" : absl::StrJoin(others, ", "));
  }
  const std::vector<std::string> near = internal::near_names(op, here);
  SB_THROW(AttributeError, name(), "::", op, ": no operator of that name is registered",
           near.empty() ? str_cat("; the namespace has ", here.size(), " others")
                        : str_cat("; there is ", absl::StrJoin(near, ", ")));
}

std::vector<std::string> OpNamespace::names() const { return state_->names(); }

std::vector<std::string> OpNamespace::known() const {
  std::vector<std::string> names;
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->refresh();
  for (const auto& [name, packet] : state_->packets) names.push_back(name);
  return names;
}

struct Ops::State {
  explicit State(const Dispatcher& dispatcher) : dispatcher(dispatcher) {}

  const Dispatcher& dispatcher;
  std::mutex mutex;
  std::map<std::string, OpNamespace, std::less<>> namespaces;
};

Ops::Ops(const Dispatcher& dispatcher) : state_(std::make_shared<State>(dispatcher)) {}

Ops::State& Ops::state() const {
  if (state_) return *state_;
  static auto* const state = new State(default_dispatcher());
  return *state;
}

OpNamespace Ops::operator[](std::string_view ns) const {
  State& s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  auto it = s.namespaces.find(ns);
  if (it == s.namespaces.end()) {
    auto made = std::make_shared<OpNamespace::State>(s.dispatcher, std::string(ns));
    it = s.namespaces.emplace(ns, OpNamespace(std::move(made))).first;
  }
  return it->second;
}

std::vector<std::string> Ops::names() const { return namespaces_of(state().dispatcher); }

void Ops::load_library(const std::string& path) { sb::load_library(path); }
std::vector<std::string> Ops::loaded_libraries() { return sb::loaded_libraries(); }
void Ops::import_module(std::string_view name) { sb::import_module(name); }

}  // namespace sb
