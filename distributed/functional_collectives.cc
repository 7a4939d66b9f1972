#include "switchboard/distributed/functional_collectives.h"

#include "switchboard/core/error.h"
#include "switchboard/distributed/call.h"
#include "switchboard/distributed/operators.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

namespace c10d = c10d_functional;

// A group that must be known, since its size is asked for.
int64_t size_of(std::string_view op, const GroupRef& group) {
  const GroupPtr found = find_group(group.value());
  SB_CHECK(found, op, ": expected a group or the name of one, got ", group.value().to_string());
  return found->size();
}

std::vector<SymInt> even_splits(const Tensor& self, int64_t size) {
  SB_CHECK(self.dim() >= 1 && self.sym_size(0) % size == 0,
           "all_to_all_single: expected a first dimension that ", size,
           " ranks can divide, or sizes, got ", self.describe());
  return std::vector<SymInt>(static_cast<size_t>(size), self.sym_size(0) / size);
}
std::vector<SymInt> splits_of(const Tensor& self, const OptionalIntArrayRef& given, int64_t size) {
  return given ? std::vector<SymInt>(given->begin(), given->end()) : even_splits(self, size);
}

}  // namespace

Tensor all_reduce(const Tensor& self, std::string_view reduce_op, const GroupRef& group,
                  SourceLocation where) {
  const CallPlaceGuard place(where);
  return c10d::wait_tensor(c10d::all_reduce(self, reduce_op, group.value()));
}

std::vector<Tensor> all_reduce_coalesced(TensorList self, std::string_view reduce_op,
                                         const GroupRef& group, SourceLocation where) {
  const CallPlaceGuard place(where);
  std::vector<Tensor> results = c10d::all_reduce_coalesced(self, reduce_op, group.value());
  for (Tensor& t : results) t = c10d::wait_tensor(t);
  return results;
}

void all_reduce_(const Tensor& self, std::string_view reduce_op, const GroupRef& group,
                 SourceLocation where) {
  const CallPlaceGuard place(where);
  c10d::all_reduce_(self, reduce_op, group.value());
}

Tensor all_gather_tensor(const Tensor& self, int64_t gather_dim, const GroupRef& group,
                         SourceLocation where) {
  const CallPlaceGuard place(where);
  const int64_t n = size_of("all_gather_tensor", group);
  const Tensor rows = c10d::wait_tensor(c10d::all_gather_into_tensor(self, n, group.value()));
  return gather_dim == 0 ? rows : cat(chunk(rows, n, 0), gather_dim);
}

Tensor reduce_scatter_tensor(const Tensor& self, std::string_view reduce_op, int64_t scatter_dim,
                             const GroupRef& group, SourceLocation where) {
  const CallPlaceGuard place(where);
  const int64_t n = size_of("reduce_scatter_tensor", group);
  const Tensor rows = scatter_dim == 0 ? self : cat(chunk(self, n, scatter_dim), 0);
  SB_CHECK(scatter_dim == 0 || self.sym_size(scatter_dim) % n == 0,
           "reduce_scatter_tensor: expected dimension ", scatter_dim, " to be one that ", n,
           " ranks can divide, got ", self.describe());
  return c10d::wait_tensor(c10d::reduce_scatter_tensor(rows, reduce_op, n, group.value()));
}

Tensor all_to_all_single(const Tensor& self, OptionalIntArrayRef output_split_sizes,
                         OptionalIntArrayRef input_split_sizes, const GroupRef& group,
                         SourceLocation where) {
  const CallPlaceGuard place(where);
  const int64_t n = size_of("all_to_all_single", group);
  return c10d::wait_tensor(c10d::all_to_all_single(self, splits_of(self, output_split_sizes, n),
                                                   splits_of(self, input_split_sizes, n),
                                                   group.value()));
}

Tensor broadcast(const Tensor& self, int64_t src, const GroupRef& group, SourceLocation where) {
  const CallPlaceGuard place(where);
  return c10d::wait_tensor(c10d::broadcast(self, src, group.value()));
}

void broadcast_(const Tensor& self, int64_t src, const GroupRef& group, SourceLocation where) {
  const CallPlaceGuard place(where);
  c10d::broadcast_(self, src, group.value());
}

void send(const Tensor& tensor, int64_t dst, int64_t tag, std::string_view group,
          SourceLocation where) {
  const CallPlaceGuard place(where);
  c10d::isend(tensor, dst, tag, group);
}

void receive(const Tensor& tensor, int64_t src, int64_t tag, std::string_view group,
             SourceLocation where) {
  const CallPlaceGuard place(where);
  c10d::irecv(tensor, src, tag, group);
}

void barrier(const GroupRef& group, SourceLocation where) {
  const CallPlaceGuard place(where);
  c10d::all_reduce_(zeros({1}, DType::Int8), "sum", group.value());
}

}  // namespace sb
