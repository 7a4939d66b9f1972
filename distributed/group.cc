#include "switchboard/distributed/group.h"

#include <algorithm>
#include <utility>

#include "switchboard/core/str_cat.h"
#include "switchboard/distributed/digest.h"

namespace sb {

Group::Group(std::shared_ptr<Engine> engine, std::shared_ptr<Background> background,
             std::string name, std::vector<int64_t> ranks)
    : engine_(std::move(engine)),
      background_(std::move(background)),
      name_(std::move(name)),
      ranks_(std::move(ranks)) {
  const auto here = std::find(ranks_.begin(), ranks_.end(), engine_->rank());
  rank_ = here == ranks_.end() ? -1 : here - ranks_.begin();
  Digest digest;
  digest.add(name_);
  for (int64_t rank : ranks_) digest.add(rank);
  id_ = digest.value();
}

std::string Group::describe() const {
  return str_cat("rank ", engine_->rank(), " of group '", name_, "'");
}

}  // namespace sb
