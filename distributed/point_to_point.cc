#include "switchboard/distributed/point_to_point.h"

#include <array>
#include <functional>
#include <string>

#include "absl/strings/str_join.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/distributed/digest.h"
#include "switchboard/distributed/text_line.h"

namespace sb {
namespace {

// Goes before the elements.
struct Header {
  uint64_t digest;
  TextLine text;
};

Bytes bytes_of(const Tensor& t) {
  if (t.numel() == 0) return {};
  return absl::MakeSpan(static_cast<std::byte*>(t.data_ptr()), t.nbytes());
}

std::string what_is(const Tensor& tensor, int64_t tag, const Group& group) {
  return str_cat(to_string(tensor.dtype()), "[", absl::StrJoin(tensor.sizes(), ", "), "] with tag ",
                 tag, " in group '", group.name(), "'");
}
uint64_t digest_of(const std::string& text) {
  Digest digest;
  digest.add(text);
  return digest.value();
}
// Keeps the messages of groups apart.
int64_t tag_of(const Group& group, int64_t tag) {
  Digest digest;
  digest.add(static_cast<int64_t>(group.id()));
  digest.add(tag);
  return static_cast<int64_t>(digest.value() >> 38);
}

}  // namespace

void send_tensor(const Call& call, const Tensor& tensor, int64_t to, int64_t tag) {
  const Group& group = *call.group();
  group.background().settle();
  const std::string what = what_is(tensor, tag, group);
  const Header header{digest_of(what),
                      text_line(str_cat(what, CallPlaceGuard::current().describe()))};
  const int64_t rank = group.ranks()[static_cast<size_t>(to)];
  group.engine().send(
      rank, tag_of(group, tag),
      absl::MakeConstSpan(reinterpret_cast<const std::byte*>(&header), sizeof(header)));
  group.engine().send(rank, tag_of(group, tag), bytes_of(tensor));
}

void receive_tensor(const Call& call, const Tensor& tensor, int64_t from, int64_t tag) {
  const Group& group = *call.group();
  group.background().settle();
  const int64_t rank = group.ranks()[static_cast<size_t>(from)];
  const std::string what = what_is(tensor, tag, group);
  const std::string here = str_cat(call.blame(), "receives ", what, " from rank ", rank,
                                   CallPlaceGuard::current().describe());
  const std::function<std::string()> describe = [&] { return here; };
  const Meeting meeting{group.ranks(), group.id(), &describe};
  Header header{};
  group.engine().receive(rank, tag_of(group, tag),
                         absl::MakeSpan(reinterpret_cast<std::byte*>(&header), sizeof(header)),
                         meeting);
  if (header.digest != digest_of(what))
    SB_THROW(DistError, here, ", which sends ", header.text.data());
  try {
    group.engine().receive(rank, tag_of(group, tag), bytes_of(tensor), meeting);
  } catch (...) {
    keep_for_ever({tensor});
    throw;
  }
}

}  // namespace sb
