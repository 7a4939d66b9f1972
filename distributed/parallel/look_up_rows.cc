#include "switchboard/distributed/parallel/look_up_rows.h"

#include <utility>
#include <vector>

namespace sb {
void look_up_rows(const std::string& table, const std::string& rows, const OpCall& call,
                  const std::string& result, ShardedGraph* graph) {
  const int64_t all = call.uses()[0].sizes[0], size = all / graph->ranks();
  const int64_t begin = graph->rank() * size, end = begin + size;
  const SizeList& sizes = call.uses()[1].sizes;
  const io::TensorMeta truth = contiguous_meta(DType::Bool, sizes);
  const io::TensorMeta index = contiguous_meta(call.uses()[1].dtype, sizes);
  const auto self = [](const std::string& name) {
    return io::NamedArgument{"self", io::TensorRef{name}};
  };
  const auto compare = [&](const char* op, int64_t number) {
    return graph->call(op, "Scalar", graph->fresh(rows), {self(rows), {"other", number}}, truth);
  };
  const auto combine = [&](const char* op, const std::string& a, const std::string& b) {
    return graph->call(op, "", graph->fresh(rows), {self(a), {"other", io::TensorRef{b}}}, truth);
  };
  // Rows of the ranks before and behind. A row that is neither theirs nor in the table stays
  // outside.
  const std::string before =
      combine("aten::logical_and", compare("aten::ge", 0), compare("aten::lt", begin));
  const std::string behind =
      combine("aten::logical_and", compare("aten::ge", end), compare("aten::lt", all));
  const std::string others = combine("aten::logical_or", before, behind);
  const std::string shifted =
      graph->call("aten::sub", "Scalar", graph->fresh(rows), {self(rows), {"other", begin}}, index);
  const std::string mine =
      graph->call("aten::masked_fill", "Scalar", graph->fresh(rows),
                  {self(shifted), {"mask", io::TensorRef{others}}, {"value", int64_t{0}}}, index);
  const io::TensorMeta found = contiguous_meta(call.results()[0].dtype, call.results()[0].sizes);
  const std::string looked_up =
      graph->call("aten::embedding", "", graph->fresh(rows),
                  {{"weight", io::TensorRef{table}}, {"indices", io::TensorRef{mine}}}, found);
  SizeList column = sizes;
  column.push_back(1);
  const std::string mask =
      graph->call("aten::unsqueeze", "", graph->fresh(rows), {self(others), {"dim", int64_t{-1}}},
                  contiguous_meta(DType::Bool, column));
  graph->call("aten::masked_fill", "Scalar", result,
              {self(looked_up), {"mask", io::TensorRef{mask}}, {"value", int64_t{0}}}, found);
}

}  // namespace sb
