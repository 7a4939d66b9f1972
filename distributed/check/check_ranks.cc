#include "switchboard/distributed/check/check_ranks.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/distributed/call.h"
#include "switchboard/distributed/fake/fake_engine.h"
#include "switchboard/distributed/operators.h"
#include "switchboard/distributed/world.h"
#include "switchboard/fake/fake_tensor_mode.h"

namespace sb {
namespace {

// What a rank calls.
struct Event {
  enum class Kind : uint8_t { Collective, Send, Receive } kind = Kind::Collective;
  uint64_t group = 0;
  std::string group_name;
  std::vector<int64_t> members;
  std::string text;   // what must be the same at all members, or at both ends
  std::string place;  // " at train.cc:12"
  int64_t peer = 0;   // of a message: its rank
  int64_t tag = 0;
};

std::string text_of(const Tensor& t, size_t from) {
  std::vector<std::string> sizes;
  for (const SymInt& size : t.sym_sizes()) sizes.push_back(size.to_string());
  sizes.erase(sizes.begin(),
              sizes.begin() + static_cast<std::ptrdiff_t>(std::min(from, sizes.size())));
  return str_cat(to_string(t.dtype()), "[", from == 0 ? "" : "..., ", absl::StrJoin(sizes, ", "),
                 "]");
}

bool is_collective(std::string_view op) {
  return op.starts_with("_c10d_functional::") || op.starts_with("_dtensor::");
}

// Writes down the collectives that it sees, and lets all calls go on.
class Recorder final : public DispatchMode {
 public:
  explicit Recorder(std::vector<Event>* events) : events_(*events) {}
  std::string name() const override { return "Recorder"; }
  bool only_watches() const override { return true; }
  void call(const OperatorHandle& op, DispatchKeySet, Stack* stack) override {
    const std::string name = op.name().to_string();
    if (!is_collective(name)) return op.call_boxed(stack);
    Event event = event_of(name, op.schema(), *stack);
    op.call_boxed(stack);  // its own checks come first
    events_.push_back(std::move(event));
  }

 private:
  static Event event_of(const std::string& name, const FunctionSchema& schema, const Stack& stack) {
    SB_CHECK_NOT_IMPLEMENTED(!c10d_functional::kBatchP2pOps.starts_with(name + "("),
                             "check_ranks: ", name,
                             " is not looked into; send and receive one by one");
    const bool is_message =
        name == c10d_functional::isend.name() || name == c10d_functional::irecv.name();
    const size_t from = name == c10d_functional::all_to_all_single.name() ? 1 : 0;
    Event event;
    std::vector<std::string> parts;
    const size_t first = stack.size() - schema.arguments.size();
    for (size_t i = 0; i < schema.arguments.size(); ++i) {
      const std::string& argument = schema.arguments[i].name;
      const IValue& value = stack[first + i];
      if (argument == "group_name") {
        if (const GroupPtr group = find_group(value)) {
          event.group = group->id();
          event.group_name = group->name();
          event.members.assign(group->ranks().begin(), group->ranks().end());
        }
      } else if (value.is_Tensor() || value.is_TensorList()) {
        // An out is as large as its input tells.
        if (argument != "out")
          value.for_each_tensor([&](const Tensor& t) { parts.push_back(text_of(t, from)); });
      } else if (argument == "dst" || argument == "src") {
        event.peer = value.to_int();
        if (!is_message) parts.push_back(str_cat("src=", event.peer));
      } else if (argument == "tag") {
        event.tag = value.to_int();
      } else if (!value.is_IntList() && !value.is_SymIntList()) {
        parts.push_back(value.to_string());
      }
    }
    event.place = CallPlaceGuard::current().describe();
    const std::string arguments = absl::StrJoin(parts, ", ");
    if (is_message) {
      event.kind = name == c10d_functional::isend.name() ? Event::Kind::Send : Event::Kind::Receive;
      if (!event.members.empty()) event.peer = event.members.at(static_cast<size_t>(event.peer));
      event.text = arguments;
    } else {
      event.text = str_cat(name, "(", arguments, ")");
    }
    return event;
  }

  std::vector<Event>& events_;
};

// Ranks that call alike share one list.
using Events = std::shared_ptr<const std::vector<Event>>;

Events record(int64_t rank, int64_t size, const std::function<void()>& program) {
  std::vector<Event> events;
  World world(fake_engine(rank, size));
  const WorldGuard guard(&world);
  const FakeTensorMode fake({.allow_non_fake_inputs = true});
  const FakeTensorModeGuard fake_guard(fake);
  Recorder recorder(&events);
  const ModeGuard mode(&recorder);
  try {
    program();
  } catch (const Error& e) {
    rethrow_with_context(e, str_cat("rank ", rank, ": "));
  }
  return std::make_shared<const std::vector<Event>>(std::move(events));
}

// Whether the rank is in every group in which these calls are.
bool is_in_all(const std::vector<Event>& events, int64_t rank) {
  return std::all_of(events.begin(), events.end(), [rank](const Event& event) {
    return std::find(event.members.begin(), event.members.end(), rank) != event.members.end();
  });
}

// The ranks' calls against each other, as an engine would run them.
class Play {
 public:
  explicit Play(const std::vector<Events>& ranks) : ranks_(ranks), next_(ranks.size()) {}

  void run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (size_t r = 0; r < ranks_.size(); ++r)
        while (head(r) && step(r)) moved = true;
    }
    for (size_t r = 0; r < ranks_.size(); ++r)
      if (head(r)) SB_THROW(DistError, "no rank can go on: ", describe_waits());
  }

 private:
  const Event* head(size_t rank) const {
    return next_[rank] < ranks_[rank]->size() ? &(*ranks_[rank])[next_[rank]] : nullptr;
  }

  // Whether the rank, or its group, went on by one.
  bool step(size_t rank) {
    const Event& event = *head(rank);
    if (event.kind == Event::Kind::Collective) return meet(event);
    const int64_t me = static_cast<int64_t>(rank);
    if (event.kind == Event::Kind::Send) {
      messages_[{me, event.peer, event.tag, event.group}].push_back(&event);
    } else {
      std::deque<const Event*>& queue = messages_[{event.peer, me, event.tag, event.group}];
      if (queue.empty()) return false;
      SB_CHECK_KIND(DistError, queue.front()->text == event.text, "rank ", rank, " is ",
                    describe(rank), ", and rank ", event.peer, " sends ", queue.front()->text,
                    queue.front()->place);
      queue.pop_front();
    }
    ++next_[rank];
    return true;
  }

  bool meet(const Event& event) {
    for (int64_t m : event.members) {
      const Event* const other = head(static_cast<size_t>(m));
      if (!other || other->kind != Event::Kind::Collective || other->group != event.group)
        return false;
    }
    // Those that say the same, in the order of their first ranks.
    std::vector<std::pair<std::string_view, std::vector<int64_t>>> parties;
    for (int64_t m : event.members) {
      const std::string_view text = head(static_cast<size_t>(m))->text;
      auto party = std::find_if(parties.begin(), parties.end(),
                                [&](const auto& p) { return p.first == text; });
      if (party == parties.end()) party = parties.insert(party, {text, {}});
      party->second.push_back(m);
    }
    if (parties.size() > 1) {
      std::string text;
      for (const auto& [unused, members] : parties)
        text +=
            str_cat(text.empty() ? "" : "; ", members.size() == 1 ? "rank " : "ranks ",
                    absl::StrJoin(members, ", "), ": ", describe(static_cast<size_t>(members[0])));
      SB_THROW(DistError, "the ranks of group '", event.group_name, "' part: ", text);
    }
    for (int64_t m : event.members) ++next_[static_cast<size_t>(m)];
    return true;
  }

  std::string describe(size_t rank) const {
    const Event& event = *head(rank);
    if (event.kind == Event::Kind::Receive)
      return str_cat("receiving ", event.text, " with tag ", event.tag, " in group '",
                     event.group_name, "' from rank ", event.peer, event.place);
    return str_cat("call ", next_[rank] + 1, " of the rank, in group '", event.group_name, "', ",
                   event.text, event.place);
  }
  std::string describe_waits() const {
    std::vector<std::string> parts;
    for (size_t r = 0; r < ranks_.size(); ++r)
      parts.push_back(head(r) ? str_cat("rank ", r, " waits in ", describe(r))
                              : str_cat("rank ", r, " has ended"));
    return absl::StrJoin(parts, "; ");
  }

  const std::vector<Events>& ranks_;
  std::vector<size_t> next_;  // by rank
  // Sent and not received, by sender, receiver, tag and group.
  std::map<std::tuple<int64_t, int64_t, int64_t, uint64_t>, std::deque<const Event*>> messages_;
};

}  // namespace

int64_t check_ranks(int64_t size, const std::function<void()>& program,
                    const CheckRanksOptions& options) {
  SB_CHECK_VALUE(size >= 1, "check_ranks: expected at least one rank, got ", size);
  std::vector<Events> ranks;
  int64_t calls = 0;
  for (int64_t rank = 0; rank < size; ++rank) {
    const int64_t same = options.same_as ? options.same_as(rank) : rank;
    SB_CHECK_VALUE(same >= 0 && same <= rank, "check_ranks: same_as(", rank,
                   "): expected a rank from 0 to ", rank, ", got ", same);
    const bool shares = same < rank && is_in_all(*ranks[static_cast<size_t>(same)], rank);
    ranks.push_back(shares ? ranks[static_cast<size_t>(same)] : record(rank, size, program));
    calls += static_cast<int64_t>(ranks.back()->size());
  }
  Play(ranks).run();
  return calls;
}

}  // namespace sb
