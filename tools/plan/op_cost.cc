#include "switchboard/tools/plan/op_cost.h"

#include "switchboard/core/str_cat.h"
#include "switchboard/tools/plan/bytes_moved.h"
#include "switchboard/tools/plan/flop_formulas.h"

namespace sb::plan {
namespace {

// "aten::_foreach_add_" is "aten::_foreach_add", then "aten::add".
constexpr std::string_view kForeach = "_foreach_";

std::string without_foreach(std::string_view name) {
  const size_t at = name.find(kForeach);
  if (at == std::string_view::npos) return "";
  return str_cat(name.substr(0, at), name.substr(at + kForeach.size()));
}

}  // namespace

CallCost CallCost::operator+(const CallCost& other) const {
  return {flops + other.flops, counted && other.counted, bytes_read + other.bytes_read,
          bytes_written + other.bytes_written};
}

const CostTable& CostTable::standard() {
  static const CostTable& table = *new CostTable(internal::make_standard_costs());
  return table;
}

const OpCost* CostTable::find(std::string_view name) const {
  if (const auto found = costs_.find(name); found != costs_.end()) return &found->second;
  if (name.ends_with('_')) return find(name.substr(0, name.size() - 1));
  if (const std::string single = without_foreach(name); !single.empty()) return find(single);
  return nullptr;
}

CallCost cost_of(const OpCost* row, const OpCall& call) {
  const BytesMoved moved = bytes_moved(call, row ? row->traffic : Traffic::Usual);
  CallCost cost{0, true, moved.read, moved.written};
  if (is_view_call(call)) return cost;
  cost.counted = row && row->flops;
  if (cost.counted) cost.flops = row->flops(call);
  return cost;
}

}  // namespace sb::plan
