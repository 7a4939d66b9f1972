#include "switchboard/distributed/call.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_join.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/distributed/digest.h"
#include "switchboard/distributed/text_line.h"
#include "switchboard/distributed/world.h"

namespace sb {
namespace {

constinit thread_local const CallPlaceGuard* innermost_place = nullptr;

template <class T>
ConstBytes bytes_of(const T& value) {
  return absl::MakeConstSpan(reinterpret_cast<const std::byte*>(&value), sizeof(T));
}
template <class T>
Bytes writable_bytes_of(T& value) {
  return absl::MakeSpan(reinterpret_cast<std::byte*>(&value), sizeof(T));
}

// The same value from every member.
template <class T>
std::vector<T> gather(Engine& engine, const Meeting& meeting, const T& mine) {
  const size_t n = meeting.members.size();
  std::vector<T> all(n);
  absl::InlinedVector<ConstBytes, 8> sends(n, bytes_of(mine));
  absl::InlinedVector<Bytes, 8> receives;
  for (T& one : all) receives.push_back(writable_bytes_of(one));
  engine.exchange(meeting, sends, receives);
  return all;
}

}  // namespace

GroupPtr find_group(const IValue& group_name) {
  if (group_name.is_String()) {
    World* const here = find_world();
    return here ? here->find_group(group_name.to_string_view()) : GroupPtr();
  }
  if (group_name.is_Object())
    if (auto* const group = dynamic_cast<Group*>(group_name.to_object().get()))
      return GroupPtr::share(group);
  return GroupPtr();
}

Call::Call(std::string_view op, const IValue& group_name, bool has_data)
    : op_(op), has_data_(has_data), group_(sb::find_group(group_name)), text_(str_cat(op, "(")) {
  if (!group_ && !has_data_) return;
  SB_CHECK(group_, op, ": expected a group or the name of one, got ", group_name.to_string(),
           find_world() ? "" : "; no ranks were started on this thread, run_ranks() starts some");
  SB_CHECK(group_->rank() >= 0, op, ": ", group_->describe(), " is not in it: it has ranks ",
           absl::StrJoin(group_->ranks(), ", "));
  SB_CHECK(!has_data_ || group_->engine().moves_data(), blame(), "the ", group_->engine().name(),
           " engine moves no data; give the operator fake tensors");
}

void Call::add(const Tensor& tensor, size_t from) {
  // Symbols stay as they are: nobody compares them.
  if (has_data_)
    add(str_cat(to_string(tensor.dtype()), "[", from == 0 ? "" : "..., ",
                absl::StrJoin(tensor.sizes().subspan(std::min(from, tensor.sizes().size())), ", "),
                "]"));
}

void Call::add(std::string_view option) {
  if (text_.back() != '(') text_ += ", ";
  text_ += option;
}

std::string Call::blame() const {
  return group_ ? str_cat(op_, ": ", group_->describe(), ": ") : op_ + ": ";
}

Meeting Call::meeting() const { return {group_->ranks(), group_->id(), &describe_}; }

bool Call::agree() {
  if (!has_data_) return false;
  text_ += ")";
  number_ = group_->next_call();
  // Now, as another thread may ask for it.
  place_ = CallPlaceGuard::describe();
  describe_ = [this] {
    return str_cat("call ", number_, " of group '", group_->name(), "', ", text_, place_);
  };
  if (size() == 1) return true;
  Digest digest;
  digest.add(static_cast<int64_t>(number_));
  digest.add(text_);
  const std::vector<uint64_t> digests = gather(group_->engine(), meeting(), digest.value());
  if (std::all_of(digests.begin(), digests.end(), [&](uint64_t d) { return d == digests[0]; }))
    return true;
  const std::vector<TextLine> lines = gather(group_->engine(), meeting(), text_line(describe_()));
  // Those that say the same, in the order of their first ranks.
  std::vector<std::pair<uint64_t, std::vector<size_t>>> parties;
  for (size_t m = 0; m < digests.size(); ++m) {
    auto party = std::find_if(parties.begin(), parties.end(),
                              [&](const auto& p) { return p.first == digests[m]; });
    if (party == parties.end()) party = parties.insert(party, {digests[m], {}});
    party->second.push_back(m);
  }
  std::string text;
  for (const auto& [unused, places] : parties) {
    std::vector<int64_t> ranks;
    for (size_t m : places) ranks.push_back(group_->ranks()[m]);
    text += str_cat(text.empty() ? "" : "; ", ranks.size() == 1 ? "rank " : "ranks ",
                    absl::StrJoin(ranks, ", "), ": ", lines[places[0]].data());
  }
  SB_THROW(DistError, "the ranks of group '", group_->name(), "' part: ", text);
}

void Call::exchange(absl::Span<const ConstBytes> sends, absl::Span<const Bytes> receives) const {
  group_->engine().exchange(meeting(), sends, receives);
}

CallPlaceGuard::CallPlaceGuard(SourceLocation where)
    : where_(where), outer_(std::exchange(innermost_place, this)) {}
CallPlaceGuard::CallPlaceGuard(std::string place)
    : place_(std::move(place)), outer_(std::exchange(innermost_place, this)) {}
CallPlaceGuard::~CallPlaceGuard() { innermost_place = outer_; }

std::string CallPlaceGuard::describe() {
  if (!innermost_place) return "";
  if (!innermost_place->place_.empty()) return " at " + innermost_place->place_;
  if (innermost_place->where_.line() == 0) return "";
  return str_cat(" at ", innermost_place->where_.file_name(), ":",
                 static_cast<uint64_t>(innermost_place->where_.line()));
}

}  // namespace sb
