#include "switchboard/distributed/parallel/sharded_graph.h"

#include <algorithm>
#include <cstddef>

#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/distributed/operators.h"

namespace sb {
namespace {

int64_t bytes_of(const io::TensorMeta& meta) {
  int64_t bytes = static_cast<int64_t>(itemsize(meta.dtype));
  for (const int64_t size : meta.sizes) bytes *= size;
  return bytes;
}

io::TensorMeta part_of(const io::TensorMeta& meta, const Placement& placement, int64_t ranks) {
  return contiguous_meta(meta.dtype, local_sizes(placement, meta.sizes, ranks));
}

}  // namespace

io::TensorMeta contiguous_meta(DType dtype, std::vector<int64_t> sizes) {
  io::TensorMeta meta;
  meta.dtype = dtype;
  meta.strides.assign(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;)
    meta.strides[d - 1] = meta.strides[d] * std::max<int64_t>(sizes[d], 1);
  meta.sizes = std::move(sizes);
  return meta;
}

std::string ShardedGraph::name_of(const std::string& value, const Placement& placement) {
  if (placement.is_replicate()) return value;
  if (placement.is_partial()) return value + ".partial";
  return placement.pieces == 1 ? str_cat(value, ".shard", placement.dim)
                               : str_cat(value, ".shard", placement.dim, "of", placement.pieces);
}

std::string ShardedGraph::fresh(std::string_view stem) { return str_cat(stem, ".", next_++); }

void ShardedGraph::set_meta(const std::string& name, const io::TensorMeta& meta) {
  io::ValueMeta value;
  value.dtype = meta.dtype;
  value.sizes.assign(meta.sizes.begin(), meta.sizes.end());
  value.strides.assign(meta.strides.begin(), meta.strides.end());
  metas_.insert_or_assign(name, std::move(value));
}

void ShardedGraph::define(const std::string& value, const Placement& placement,
                          const io::TensorMeta& meta) {
  Value& known = values_.try_emplace(value, Value{meta, {}, false}).first->second;
  known.there.push_back(placement);
  set_meta(name_of(value, placement), part_of(meta, placement, ranks_));
}

void ShardedGraph::define_as_is(const std::string& value, const io::ValueMeta& recorded,
                                const io::TensorMeta* meta) {
  values_.insert_or_assign(value,
                           Value{meta ? *meta : io::TensorMeta(), {Placement::replicate()}, false});
  metas_.insert_or_assign(value, recorded);
}

std::vector<Placement> ShardedGraph::all_placements(const std::string& value) const {
  const auto known = values_.find(value);
  return known == values_.end() ? std::vector<Placement>() : known->second.there;
}

bool ShardedGraph::has(const std::string& value, const Placement& placement) const {
  const auto known = values_.find(value);
  return known != values_.end() &&
         std::ranges::find(known->second.there, placement) != known->second.there.end();
}

std::vector<Placement> ShardedGraph::placements(const std::string& value) const {
  const auto known = values_.find(value);
  if (known == values_.end() || known->second.only_whole) return {};
  std::vector<Placement> found = known->second.there;
  std::erase_if(found, [](const Placement& placement) { return placement.is_replicate(); });
  return found;
}

int64_t ShardedGraph::cost(const std::string& value, const Placement& placement) const {
  const auto known = values_.find(value);
  SB_ASSERT(known != values_.end());
  if (has(value, placement) || has(value, Placement::replicate())) return 0;
  const int64_t bytes = bytes_of(known->second.meta);
  // As need() does it: by the whole value.
  const bool by_gather = known->second.there[0].is_shard();
  return by_gather ? bytes / ranks_ * (ranks_ - 1) : 2 * (bytes - bytes / ranks_);
}

std::string ShardedGraph::call(std::string_view op, std::string_view overload,
                               const std::string& result, std::vector<io::NamedArgument> arguments,
                               const io::TensorMeta& meta) {
  io::Node node;
  node.op = op;
  node.overload = overload;
  node.inputs = std::move(arguments);
  node.outputs = {io::TensorRef{result}};
  node.name = result;
  set_meta(result, meta);
  nodes_.push_back(std::move(node));
  return result;
}

std::string ShardedGraph::reshape(const std::string& from, const std::string& result,
                                  std::vector<int64_t> sizes, DType dtype) {
  const io::TensorMeta meta = contiguous_meta(dtype, sizes);
  return call("aten::reshape", "", result,
              {{"self", io::TensorRef{from}}, {"shape", std::move(sizes)}}, meta);
}

std::string ShardedGraph::wait(const std::string& from, const std::string& result,
                               const io::TensorMeta& meta) {
  return call(c10d_functional::wait_tensor.name(), "", result, {{"tensor", io::TensorRef{from}}},
              meta);
}

std::string ShardedGraph::need(const std::string& value, const Placement& placement,
                               const std::string& because) {
  const std::string name = name_of(value, placement);
  if (has(value, placement)) return name;
  const auto known = values_.find(value);
  SB_ASSERT(known != values_.end());
  const io::TensorMeta meta = known->second.meta;
  if (!has(value, Placement::replicate())) {
    const Placement from = known->second.there[0];
    if (from.is_shard())
      gather(value, from, because);
    else
      reduce(value, because);
    define(value, Placement::replicate(), meta);
  }
  if (placement.is_replicate()) return name;
  make_from_whole(value, placement);
  define(value, placement, meta);
  return name;
}

void ShardedGraph::make_from_whole(const std::string& value, const Placement& placement) {
  if (placement.is_shard()) {
    cut(value, placement);
    return;
  }
  // Once among all ranks.
  const io::TensorMeta& meta = values_.at(value).meta;
  call(rank_ == 0 ? "aten::alias" : "aten::zeros_like", "", name_of(value, placement),
       {{"self", io::TensorRef{value}}}, contiguous_meta(meta.dtype, meta.sizes));
}

std::string ShardedGraph::reduce(const std::string& value, const std::string& because) {
  const io::TensorMeta& meta = values_.at(value).meta;
  const io::TensorMeta whole = contiguous_meta(meta.dtype, meta.sizes);
  const std::string sent = name_of(value, Placement::partial());
  const std::string reduced = call(c10d_functional::all_reduce.name(), "", fresh(value),
                                   {{"input", io::TensorRef{sent}},
                                    {"reduce_op", std::string("sum")},
                                    {"group_name", std::string("0")}},
                                   whole);
  collectives_.push_back(
      {nodes_.back().op, value, Placement::partial(), Placement::replicate(), whole, because});
  return wait(reduced, value, whole);
}

std::string ShardedGraph::gather(const std::string& value, const Placement& from,
                                 const std::string& because) {
  const io::TensorMeta& meta = values_.at(value).meta;
  const io::TensorMeta part = part_of(meta, from, ranks_);
  const size_t dim = static_cast<size_t>(from.dim);
  std::vector<int64_t> joined = part.sizes;
  joined[0] *= ranks_;
  const std::string gathered =
      call(c10d_functional::all_gather_into_tensor.name(), "", fresh(value),
           {{"input", io::TensorRef{name_of(value, from)}},
            {"group_size", ranks_},
            {"group_name", std::string("0")}},
           contiguous_meta(meta.dtype, joined));
  collectives_.push_back({nodes_.back().op, value, from, Placement::replicate(), part, because});
  const bool in_order = dim == 0 && from.pieces == 1;
  const std::string parts =
      wait(gathered, in_order ? value : fresh(value), contiguous_meta(meta.dtype, joined));
  if (in_order) return parts;
  // [rank, ..., pieces, part of a piece, ...] to [..., pieces, rank, part of a piece, ...].
  std::vector<int64_t> sizes = {ranks_};
  sizes.insert(sizes.end(), part.sizes.begin(), part.sizes.end());
  sizes[dim + 1] /= from.pieces;
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(dim) + 1, from.pieces);
  const std::string apart = reshape(parts, fresh(value), sizes, meta.dtype);
  std::vector<int64_t> order, moved;
  for (size_t d = 1; d < sizes.size(); ++d) {
    order.push_back(static_cast<int64_t>(d));
    if (d == dim + 1) order.push_back(0);
  }
  for (const int64_t d : order) moved.push_back(sizes[static_cast<size_t>(d)]);
  const std::string beside =
      call("aten::permute", "", fresh(value), {{"self", io::TensorRef{apart}}, {"dims", order}},
           contiguous_meta(meta.dtype, moved));
  return reshape(beside, value, meta.sizes, meta.dtype);
}

std::string ShardedGraph::cut(const std::string& value, const Placement& to) {
  const io::TensorMeta& meta = values_.at(value).meta;
  const std::string name = name_of(value, to);
  const io::TensorMeta part = part_of(meta, to, ranks_);
  const size_t dim = static_cast<size_t>(to.dim);
  if (to.pieces == 1) {
    const int64_t size = part.sizes[dim];
    return call("aten::slice", "Tensor", name,
                {{"self", io::TensorRef{value}},
                 {"dim", to.dim},
                 {"start", rank_ * size},
                 {"end", (rank_ + 1) * size}},
                part);
  }
  std::vector<int64_t> sizes = meta.sizes;
  sizes[dim] /= to.pieces * ranks_;
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(dim), {to.pieces, ranks_});
  const std::string apart = reshape(value, fresh(value), sizes, meta.dtype);
  sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(dim) + 1);
  const std::string mine =
      call("aten::select", "int", fresh(value),
           {{"self", io::TensorRef{apart}}, {"dim", to.dim + 1}, {"index", rank_}},
           contiguous_meta(meta.dtype, sizes));
  return reshape(mine, name, part.sizes, meta.dtype);
}

}  // namespace sb
