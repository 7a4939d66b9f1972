#include "switchboard/distributed/call.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/distributed/digest.h"
#include "switchboard/distributed/gather_values.h"
#include "switchboard/distributed/parties.h"
#include "switchboard/distributed/sequence_guard.h"
#include "switchboard/distributed/text_line.h"
#include "switchboard/distributed/world.h"

namespace sb {
namespace {

constinit thread_local const CallPlaceGuard* innermost_place = nullptr;

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
    : op_(op), has_data_(has_data), group_(sb::find_group(group_name)) {
  if (!group_ && !has_data_) return;
  SB_CHECK(group_, op, ": expected a group or the name of one, got ", group_name.to_string(),
           find_world() ? "" : "; no ranks were started on this thread, run_ranks() starts some");
  SB_CHECK(group_->rank() >= 0, op, ": ", group_->describe(), " is not in it: it has ranks ",
           absl::StrJoin(group_->ranks(), ", "));
  SB_CHECK(!has_data_ || group_->engine().moves_data(), blame(), "the ", group_->engine().name(),
           " engine moves no data; give the operator fake tensors");
}

void Call::add(const Tensor& tensor, size_t from) {
  if (!has_data_) return;  // symbols stay as they are: nobody compares them
  const IntArrayRef sizes = tensor.sizes();
  from = std::min(from, sizes.size());
  said_.push_back({tensor.dtype(), from, {sizes.begin() + from, sizes.end()}, ""});
}

void Call::add(std::string_view option) {
  said_.emplace_back();
  said_.back().option = option;
}

std::string Call::text() const {
  std::string text = str_cat(op_, "(");
  for (const Said& said : said_) {
    if (text.back() != '(') text += ", ";
    text += !said.option.empty()
                ? said.option
                : str_cat(to_string(said.dtype), "[", said.from == 0 ? "" : "..., ",
                          absl::StrJoin(said.sizes, ", "), "]");
  }
  return text + ")";
}

std::string Call::blame() const {
  return group_ ? str_cat(op_, ": ", group_->describe(), ": ") : str_cat(op_, ": ");
}

Meeting Call::meeting() const { return {group_->ranks(), group_->id(), &describe_}; }

bool Call::begin() {
  if (!has_data_) return false;
  number_ = group_->next_call();
  // Now, as another thread may ask for it.
  place_ = CallPlaceGuard::current();
  Digest digest;
  digest.add(op_);
  for (const Said& said : said_) {
    digest.add(said.option);
    digest.add(static_cast<int64_t>(said.dtype));
    digest.add(static_cast<int64_t>(said.sizes.size()));
    for (const int64_t size : said.sizes) digest.add(size);
  }
  hash_ = digest.value();
  SequenceGuard::on_call(*this);
  describe_ = [this] {
    return str_cat("call ", number_, " of group '", group_->name(), "', ", text(),
                   place_.describe());
  };
  return true;
}

void Call::agree(ConstBytes data) {
  if (size() == 1) return;
  Digest digest;
  digest.add(static_cast<int64_t>(number_));
  digest.add(static_cast<int64_t>(hash_));
  Opening mine{digest.value()};
  SB_ASSERT(data.size() <= kOpeningData);
  std::copy(data.begin(), data.end(), mine.data.begin());
  opening_size_ = data.size();
  openings_ = gather_values(group_->engine(), meeting(), mine);
  if (std::all_of(openings_.begin(), openings_.end(),
                  [&](const Opening& o) { return o.digest == mine.digest; }))
    return;
  std::vector<uint64_t> digests;
  for (const Opening& opening : openings_) digests.push_back(opening.digest);
  const std::vector<TextLine> lines =
      gather_values(group_->engine(), meeting(), text_line(describe_()));
  SB_THROW(DistError, "the ranks of group '", group_->name(),
           "' part: ", describe_parties(group_->ranks(), digests, lines));
}

bool Call::begin_and_agree(ConstBytes data) {
  if (!has_data_) return false;
  // What it throws is of another call: this one has not been made.
  group_->background().settle();
  begin();
  agree(data);
  return true;
}

ConstBytes Call::opening_data(int64_t rank) const {
  if (openings_.empty()) return {};
  return absl::MakeSpan(openings_[static_cast<size_t>(rank)].data).first(opening_size_);
}

void keep_for_ever(const std::vector<Tensor>& tensors) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<Tensor>;
  const std::lock_guard<std::mutex> lock(mutex);
  kept->insert(kept->end(), tensors.begin(), tensors.end());
}

CallPlaceGuard::CallPlaceGuard(SourceLocation where)
    : place_{where, ""}, outer_(std::exchange(innermost_place, this)) {}
CallPlaceGuard::CallPlaceGuard(std::string place)
    : place_{SourceLocation(), std::move(place)}, outer_(std::exchange(innermost_place, this)) {}
CallPlaceGuard::~CallPlaceGuard() { innermost_place = outer_; }

CallPlace CallPlaceGuard::current() {
  return innermost_place ? innermost_place->place_ : CallPlace();
}

std::string CallPlace::describe() const {
  if (!text.empty()) return " at " + text;
  if (where.line() == 0) return "";
  return str_cat(" at ", where.file_name(), ":", static_cast<uint64_t>(where.line()));
}

}  // namespace sb
