#include "switchboard/dispatch/schema/tag.h"

#include <vector>

#include "absl/strings/str_join.h"
#include "switchboard/core/str_cat.h"

namespace sb {
namespace {

constexpr std::string_view kNames[] = {
#define SB_TAG(name) #name,
    SB_FORALL_TAGS(SB_TAG)
#undef SB_TAG
};

}  // namespace

std::string_view to_string(Tag tag) { return kNames[static_cast<size_t>(tag)]; }

std::optional<Tag> find_tag(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) return static_cast<Tag>(i);
  return std::nullopt;
}

[[gnu::cold]] std::string to_string(TagSet tags) {
  std::vector<std::string> names;
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (tags.has(static_cast<Tag>(i))) names.emplace_back(kNames[i]);
  return str_cat("{", absl::StrJoin(names, ", "), "}");
}

}  // namespace sb
