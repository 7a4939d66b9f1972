// All overloads of one operator, as an object that picks among them.

#ifndef SWITCHBOARD_DISPATCH_OBJECTS_OP_OVERLOAD_PACKET_H_
#define SWITCHBOARD_DISPATCH_OBJECTS_OP_OVERLOAD_PACKET_H_

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/objects/op_overload.h"

namespace sb {

// No operator, overload or namespace of that name. As Python's.
SB_DEFINE_ERROR_KIND(AttributeError);

// As `torch._ops.OpOverloadPacket`. Cheap to copy, valid as long as its dispatcher. It shows what
// is defined at the moment: overloads that come later too, and no longer those that were removed.
// With none left, calls throw NotImplementedError; so does a call whose overload is removed after
// it was chosen. Thread-safe.
class OpOverloadPacket {
 public:
  // The operator called `name` ("aten::add"), which need not exist yet.
  OpOverloadPacket(const Dispatcher& dispatcher, std::string name);

  // "aten::add".
  const std::string& name() const;
  // "aten.add". As `str(packet)`.
  std::string to_string() const;
  // "<OpOverloadPacket(op='aten.add')>". As `repr(packet)`.
  std::string repr() const;

  // The overload of that name; "default" is the one without. Throws AttributeError that names those
  // that exist.
  OpOverload operator[](std::string_view overload) const;
  std::optional<OpOverload> find(std::string_view overload) const;

  // In the order in which they were defined: the overloads, their names ("default" for the one
  // without) and their schemas.
  std::vector<OpOverload> items() const;
  std::vector<std::string> overloads() const;
  std::vector<FunctionSchema> schemas() const;

  // The first overload, in that order, whose schema takes the arguments (bind_arguments). Throws
  // TypeError that lists every overload with the reason why it does not.
  OpOverload resolve(const Arguments& positional, const KeywordArguments& keyword = {}) const;
  // Calls that overload.
  Arguments call(const Arguments& positional, const KeywordArguments& keyword = {}) const;
  template <class... A>
  requires(std::is_convertible_v<A, IValue>&&...) Arguments operator()(A&&... args) const {
    return call({IValue(std::forward<A>(args))...});
  }

  // Of the same operator of the same dispatcher.
  friend bool operator==(const OpOverloadPacket& a, const OpOverloadPacket& b);
  template <class H>
  friend H AbslHashValue(H h, const OpOverloadPacket& packet) {
    return H::combine(std::move(h), packet.name());
  }

 private:
  struct State;
  using Overloads = std::vector<OpOverload>;
  // The overloads of this moment; not empty unless `may_be_empty`, or NotImplementedError.
  std::shared_ptr<const Overloads> snapshot(bool may_be_empty) const;
  std::pair<OpOverload, Stack> bind(const Arguments& positional,
                                    const KeywordArguments& keyword) const;

  std::shared_ptr<State> state_;
};

// The packet that an overload belongs to. As `overloadpacket`.
OpOverloadPacket packet_of(const OpOverload& op);

// to_string().
std::ostream& operator<<(std::ostream& out, const OpOverloadPacket& packet);

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_OBJECTS_OP_OVERLOAD_PACKET_H_
