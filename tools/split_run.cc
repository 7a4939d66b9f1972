#include "switchboard/tools/split_run.h"

#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/str_join.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/distributed/world.h"
#include "switchboard/io/exported/symbol_rules.h"
#include "switchboard/tools/plan/text_table.h"
#include "switchboard/tools/run_report.h"

namespace sb::tools {
namespace {

int64_t bytes_of(const io::TensorMeta& meta) {
  int64_t bytes = static_cast<int64_t>(itemsize(meta.dtype));
  for (const int64_t size : meta.sizes) bytes *= size;
  return bytes;
}

std::vector<std::string> texts_of(const std::vector<Placement>& placements) {
  std::vector<std::string> texts;
  for (const Placement& placement : placements) texts.push_back(placement.to_string());
  return texts;
}

// "all_reduce".
std::string short_name(const std::string& op) { return op.substr(op.rfind(':') + 1); }

}  // namespace

SplitRun::SplitRun(const std::string& how, const RunPlan& plan) {
  if (how == "data") {
    batch_.emplace(plan.archive.program, plan.inputs);
    plan_.emplace(plan);
    plan_->inputs = batch_->part(plan.inputs);
    plan_->sizes = io::SymbolRules(plan.archive.program).numbers_of(plan_->inputs);
    plan_->gather = [this](std::vector<Tensor> outputs) {
      return batch_->gather(std::move(outputs));
    };
    return;
  }
  SB_CHECK_VALUE(how == "tensor", "--parallel: expected data or tensor, got ", how);
  tensor_.emplace(plan.archive, plan.sizes, get_rank(), get_world_size());
  runner_.emplace(tensor_->archive().program);
  plan_.emplace(RunPlan{tensor_->archive(),
                        *runner_,
                        tensor_->part(plan.inputs),
                        plan.expected,
                        plan.labels,
                        plan.tolerance,
                        plan.repeats,
                        plan.sizes,
                        {},
                        /*own_strides=*/true});
}

std::vector<std::string> SplitRun::warnings() const {
  if (!batch_ || !plan_->expected.empty()) return {};
  return {
      "--parallel data: outputs are those of one rank if no example of a batch affects another, "
      "and are compared with nothing"};
}

std::string SplitRun::summary() const {
  if (!tensor_) return "";
  int64_t weights = 0, cut = 0, all_bytes = 0, rank_bytes = 0;
  for (const PlacedValue& value : tensor_->values()) {
    if (value.op != "weight") continue;
    const int64_t bytes = bytes_of(value.meta);
    const bool is_cut = value.placements.size() == 1 && value.placements[0].is_shard();
    ++weights;
    cut += is_cut ? 1 : 0;
    all_bytes += bytes;
    rank_bytes += is_cut ? bytes / get_world_size() : bytes;
  }
  std::map<std::string, std::pair<int64_t, int64_t>> sent;  // calls and bytes
  for (const AddedCollective& one : tensor_->collectives()) {
    ++sent[one.op].first;
    sent[one.op].second += bytes_of(one.sent);
  }
  std::string text =
      str_cat("tensor parallel over ", get_world_size(), " ranks: ", cut, " of ", weights,
              " weights are sharded; a rank has ", with_separators(rank_bytes), " of their ",
              with_separators(all_bytes), " bytes\n");
  if (sent.empty()) return text + "no collectives\n\n";
  plan::TextTable table({"collective", ">calls", ">bytes of a rank"});
  for (const auto& [op, count] : sent)
    table.add({short_name(op), with_separators(count.first), with_separators(count.second)});
  return text + table.to_string() + "\n";
}

std::string SplitRun::placements() const {
  if (!tensor_) return "";
  plan::TextTable values({"value", "operator", "tensor", "placements"});
  for (const PlacedValue& value : tensor_->values())
    values.add({value.value, value.op, value.meta.describe(),
                absl::StrJoin(texts_of(value.placements), ", ")});
  plan::TextTable collectives({"collective", "value", "from", "to", ">bytes", "because"});
  for (const AddedCollective& one : tensor_->collectives())
    collectives.add({short_name(one.op), one.value, one.from.to_string(), one.to.to_string(),
                     with_separators(bytes_of(one.sent)), one.because});
  std::string text = values.to_string() + "\n";
  if (!tensor_->collectives().empty()) text += collectives.to_string() + "\n";
  return text;
}

Json SplitRun::to_json() const {
  if (!tensor_) return nullptr;
  Json values = Json::array(), collectives = Json::array();
  for (const PlacedValue& value : tensor_->values())
    values.push_back({{"name", value.value},
                      {"operator", value.op},
                      {"tensor", value.meta.describe()},
                      {"placements", texts_of(value.placements)}});
  for (const AddedCollective& one : tensor_->collectives())
    collectives.push_back({{"operator", one.op},
                           {"value", one.value},
                           {"from", one.from.to_string()},
                           {"to", one.to.to_string()},
                           {"bytes", bytes_of(one.sent)},
                           {"because", one.because}});
  return {{"ranks", get_world_size()}, {"values", values}, {"collectives", collectives}};
}

}  // namespace sb::tools
