#include "switchboard/distributed/sequence_guard.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

#include "absl/hash/hash.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/distributed/call.h"
#include "switchboard/distributed/gather_values.h"
#include "switchboard/distributed/parties.h"
#include "switchboard/distributed/text_line.h"
#include "switchboard/distributed/world.h"

namespace sb {
namespace {

constinit thread_local SequenceGuard* innermost = nullptr;

// Keeps these exchanges apart from those of groups.
constexpr uint64_t kMeeting = 0x5e9ce;
// Of programs whose calls are new again and again, no more are kept.
constexpr size_t kMostTexts = 4096;

struct State {
  int64_t calls;
  uint64_t hash;
};

}  // namespace

SequenceGuard::SequenceGuard(int64_t every)
    : every_(every), outer_(std::exchange(innermost, this)) {
  if (every >= 1 && find_world()) return;
  innermost = outer_;
  SB_CHECK_VALUE(every >= 1, "SequenceGuard: expected at least 1 call between checks, got ", every);
  world();  // throws
}

SequenceGuard::~SequenceGuard() { innermost = outer_; }

void SequenceGuard::on_call(const Call& call) {
  if (innermost) innermost->add(call);
}

void SequenceGuard::add(const Call& call) {
  ++calls_;
  // Where the group's ranks are, from the first: the same for all lines of a mesh along a
  // dimension.
  const absl::Span<const int64_t> ranks = call.group()->ranks();
  sequence_.add(call.size());
  if (ranks.size() > 1) {
    sequence_.add(ranks[1] - ranks[0]);
    sequence_.add(ranks.back() - ranks[0]);
  }
  sequence_.add(static_cast<int64_t>(call.hash()));
  const CallPlace& place = call.place();
  const uint64_t text = absl::HashOf(call.hash(), place.where.file_name(), place.where.line(),
                                     place.text, call.group().get());
  const auto [known, is_new] = texts_.try_emplace(text);
  if (is_new) known->second = {call.text(), place.describe(), call.group()};
  recent_.push_back({text, sequence_.value()});
  if (std::ssize(recent_) == every_) check();
}

std::string SequenceGuard::describe(int64_t index) const {
  const Text& text = texts_.at(recent_[static_cast<size_t>(index)].text);
  return str_cat(text.call, " in group '", text.group->name(), "'", text.place);
}

void SequenceGuard::check() {
  world().settle();
  Engine& engine = world().engine();
  const absl::Span<const int64_t> members = world().group()->ranks();
  if (members.size() > 1 && engine.moves_data()) {
    const int64_t made = std::ssize(recent_);
    const std::function<std::string()> text = [this, made] {
      return str_cat("the check of all calls so far, ", calls_, " of the rank",
                     recent_.empty() ? "" : ", the last of them " + describe(made - 1));
    };
    const Meeting meeting{members, kMeeting, &text};
    const std::vector<State> states =
        gather_values(engine, meeting, State{calls_, sequence_.value()});
    const bool agree = std::all_of(states.begin(), states.end(), [&](const State& state) {
      return state.calls == calls_ && state.hash == sequence_.value();
    });
    if (!agree) {
      // All began at the same call, and none has more than the longest.
      const int64_t before = calls_ - made;
      int64_t longest = 0;
      for (const State& state : states) longest = std::max(longest, state.calls - before);
      for (int64_t i = 0; i < longest; ++i) {
        const bool there = i < made;
        const uint64_t hash = there ? recent_[static_cast<size_t>(i)].sequence : 0;
        const std::vector<uint64_t> hashes = gather_values(engine, meeting, hash);
        if (std::all_of(hashes.begin(), hashes.end(), [&](uint64_t h) { return h == hashes[0]; }))
          continue;
        const std::string mine = there ? describe(i) : str_cat("has made ", calls_, " calls");
        const std::vector<TextLine> lines = gather_values(engine, meeting, text_line(mine));
        SB_THROW(DistError, "the ranks part at call ", before + i + 1,
                 " of each: ", describe_parties(members, hashes, lines));
      }
    }
  }
  recent_.clear();
  if (texts_.size() > kMostTexts) texts_.clear();
}

}  // namespace sb
