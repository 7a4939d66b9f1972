// Operators by name: sb::ops["aten"]["add"]["Tensor"].

#ifndef SWITCHBOARD_DISPATCH_OBJECTS_OP_NAMESPACE_H_
#define SWITCHBOARD_DISPATCH_OBJECTS_OP_NAMESPACE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/objects/op_overload_packet.h"

namespace sb {

// As `torch._ops._OpNamespace`: the operators of one namespace, each looked up when it is first
// asked for, and kept. An operator that was removed is forgotten. Cheap to copy, valid as long as
// its dispatcher. Thread-safe.
class OpNamespace {
 public:
  // "aten".
  const std::string& name() const;

  // The operator of that name in the namespace, with all its overloads. Throws AttributeError that
  // names what is near.
  OpOverloadPacket operator[](std::string_view op) const;
  std::optional<OpOverloadPacket> find(std::string_view op) const;

  // The operators that exist, sorted, without the namespace. Those of "higher_order", in the
  // default dispatcher, are the higher-order operators, which find_higher_order_op() gives.
  std::vector<std::string> names() const;
  // Those of them that were looked up so far. As `iter(torch.ops.aten)`.
  std::vector<std::string> known() const;

 private:
  friend class Ops;
  struct State;
  explicit OpNamespace(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

// As `torch.ops`. Thread-safe.
class Ops {
 public:
  // The operators of the default dispatcher.
  constexpr Ops() = default;
  // Those of another, which outlives this.
  explicit Ops(const Dispatcher& dispatcher);

  // The namespace of that name, whether it has operators or not.
  OpNamespace operator[](std::string_view ns) const;
  // The namespaces that have operators, sorted.
  std::vector<std::string> names() const;

  // As the functions of load_library.h.
  static void load_library(const std::string& path);
  static std::vector<std::string> loaded_libraries();
  static void import_module(std::string_view name);

 private:
  struct State;
  State& state() const;

  std::shared_ptr<State> state_;  // null: that of the default dispatcher
};

inline constinit const Ops ops;

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OBJECTS_OP_NAMESPACE_H_
