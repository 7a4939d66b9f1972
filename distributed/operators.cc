#include "switchboard/distributed/operators.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/library.h"
#include "switchboard/dispatch/modes/effects.h"
#include "switchboard/dispatch/objects/functionalize_api.h"
#include "switchboard/dispatch/objects/operator_base.h"
#include "switchboard/distributed/background.h"
#include "switchboard/distributed/call.h"
#include "switchboard/distributed/collectives.h"
#include "switchboard/distributed/point_to_point.h"
#include "switchboard/distributed/reduce_op.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/factories/factories.h"
#include "switchboard/ops/views/cat.h"
#include "switchboard/ops/views/views.h"
#include "switchboard/transforms/functionalization/functionalization.h"

namespace sb {
namespace {

// Each kernel below serves CPU and Meta: it checks the call, makes the results, and stops there
// where there is no data (Call::begin).

bool have_data(TensorList tensors) {
  for (const Tensor& t : tensors)
    if (t.is_meta()) return false;
  return true;
}
bool has_data(const Tensor& t) { return !t.is_meta(); }

void check_defined(const Call& call, const Tensor& t) {
  SB_CHECK(t.defined(), call.blame(), "expected a tensor, got an undefined one");
}
// What is written to must be memory that bytes go to as they come.
void check_contiguous(const Call& call, const Tensor& t) {
  check_defined(call, t);
  SB_CHECK(t.is_contiguous(), call.blame(), "expected contiguous memory to write to, got ",
           t.describe(), " with other strides");
}
void check_rank(const Call& call, std::string_view name, int64_t rank) {
  SB_CHECK_VALUE(rank >= 0, call.blame(), "expected ", name, " to be a rank, got ", rank);
  if (call.group())
    SB_CHECK_VALUE(rank < call.size(), call.blame(), "expected ", name, " from 0 to ",
                   call.size() - 1, ", got ", rank);
}
void check_group_size(const Call& call, int64_t group_size) {
  SB_CHECK_VALUE(group_size >= 1, call.blame(), "expected a group_size of at least 1, got ",
                 group_size);
  if (call.group())
    SB_CHECK_VALUE(group_size == call.size(), call.blame(), "group_size is ", group_size,
                   ", and the group has ", call.size(), " ranks");
}
void check_dim(const Call& call, const Tensor& t) {
  check_defined(call, t);
  SB_CHECK(t.dim() >= 1, call.blame(), "expected a tensor with a dimension to divide, got ",
           t.describe());
}

std::vector<SymInt> sizes_of(const Tensor& t) {
  const SymIntArrayRef sizes = t.sym_sizes();
  return {sizes.begin(), sizes.end()};
}
Tensor dense(const Tensor& t) { return contiguous(t); }
Tensor fresh_copy(const Call& call, const Tensor& t) {
  check_defined(call, t);
  return clone(t, MemoryFormat::Contiguous);
}

// The shapes of results, which are not filled.
Tensor gathered(const Call& call, const Tensor& input, int64_t group_size) {
  check_defined(call, input);
  check_group_size(call, group_size);
  std::vector<SymInt> sizes = sizes_of(input);
  if (sizes.empty()) sizes.emplace_back(1);
  sizes[0] = sizes[0] * group_size;
  return new_empty(input, sizes);
}
Tensor scattered(const Call& call, const Tensor& input, int64_t group_size) {
  check_dim(call, input);
  check_group_size(call, group_size);
  std::vector<SymInt> sizes = sizes_of(input);
  SB_CHECK(sizes[0] % group_size == 0, call.blame(), "expected a first dimension that ", group_size,
           " ranks can divide, got ", input.describe());
  sizes[0] = sizes[0] / group_size;
  return new_empty(input, sizes);
}
void check_out(const Call& call, const Tensor& out, const Tensor& expected) {
  check_contiguous(call, out);
  SB_CHECK(out.dtype() == expected.dtype() && out.device() == expected.device() &&
               out.dim() == expected.dim(),
           call.blame(), "expected out to be ", expected.describe(), ", got ", out.describe());
  for (int64_t d = 0; d < out.dim(); ++d)
    SB_CHECK(out.sym_size(d) == expected.sym_size(d), call.blame(), "expected out to be ",
             expected.describe(), ", got ", out.describe());
}

// A call with fresh results takes place behind the program's back where they are so many bytes:
// handing it to another thread, and its results back, takes some 10 us. Others are quicker at once.
constexpr size_t kBackgroundBytes = size_t{64} << 10;
bool goes_to_background(const Call& call, TensorList results) {
  if (!call.has_data() || call.size() == 1) return false;
  size_t bytes = 0;
  for (const Tensor& t : results) bytes += t.nbytes();
  return bytes >= kBackgroundBytes;
}

// Has `run` fill the results of a call: at once, or in the background, where they wait for that.
// Whatever else may throw, copies of arguments too, comes before, so that no call counts that is
// not made. `data` is for Call::agree. The engine runs other calls of the rank before and after.
template <class Run>
std::vector<Tensor> filled(std::shared_ptr<Call> call, std::vector<Tensor> results, bool later,
                           Run run, ConstBytes data = {}) {
  if (!later) {
    if (call->begin_and_agree(data)) run(*call);
    return results;
  }
  call->begin();
  Background& background = call->group()->background();
  const bool inference = results[0].impl()->is_inference();
  const auto work = background.start([call = std::move(call), run = std::move(run), inference] {
    std::optional<InferenceModeGuard> as_the_program;
    if (inference) as_the_program.emplace();
    try {
      call->agree();
      run(*call);
    } catch (const DistError&) {
      throw;  // the others have it, too
    } catch (const std::exception& e) {
      // They would wait for what this rank does not send any more.
      call->group()->engine().fail(e.what());
      throw;
    }
  });
  for (Tensor& t : results) t = result_of(work, t);
  return results;
}

// What a call reads of these: in the background, copies, which are nobody else's to write to.
std::vector<Tensor> read_by(TensorList tensors, bool later) {
  std::vector<Tensor> read(tensors.begin(), tensors.end());
  if (later)
    for (Tensor& t : read) t = clone(t, MemoryFormat::Contiguous);
  return read;
}

std::vector<ReduceOp> say_reduction(Call& call, TensorList tensors, std::string_view reduce_op) {
  std::vector<ReduceOp> ops;
  for (const Tensor& t : tensors) {
    ops.push_back(parse_reduce_op(reduce_op, t.dtype(), [&call] { return call.blame(); }));
    call.add(t);
  }
  call.add(reduce_op);
  return ops;
}
// That of a single tensor travels with what ranks compare, where it is small.
ConstBytes data_along(const Call& call, TensorList tensors) {
  return call.has_data() && tensors.size() == 1 ? opening_data(tensors[0]) : ConstBytes();
}
// Reductions of all tensors in place.
void reduce_all(Call& call, TensorList tensors, std::string_view reduce_op) {
  const std::vector<ReduceOp> ops = say_reduction(call, tensors, reduce_op);
  if (!call.begin_and_agree(data_along(call, tensors))) return;
  for (size_t i = 0; i < tensors.size(); ++i) run_all_reduce(call, ops[i], tensors[i]);
}
std::vector<Tensor> all_reduce_each(std::string_view op, TensorList inputs,
                                    std::string_view reduce_op, const IValue& group_name) {
  const auto call = std::make_shared<Call>(op, group_name, have_data(inputs));
  std::vector<Tensor> outs;
  for (const Tensor& input : inputs) outs.push_back(fresh_copy(*call, input));
  const std::vector<ReduceOp> ops = say_reduction(*call, outs, reduce_op);
  const auto run = [ops, outs](const Call& c) {
    for (size_t i = 0; i < outs.size(); ++i) run_all_reduce(c, ops[i], outs[i]);
  };
  return filled(call, outs, goes_to_background(*call, outs), run, data_along(*call, outs));
}
void all_reduce_each_in_place(std::string_view op, TensorList inputs, std::string_view reduce_op,
                              const IValue& group_name) {
  Call call(op, group_name, have_data(inputs));
  for (const Tensor& input : inputs) check_contiguous(call, input);
  reduce_all(call, inputs, reduce_op);
}

void gather_all(Call& call, TensorList inputs, TensorList outs) {
  for (const Tensor& input : inputs) call.add(input);
  if (!call.begin_and_agree()) return;
  for (size_t i = 0; i < inputs.size(); ++i) run_all_gather(call, dense(inputs[i]), outs[i]);
}
std::vector<Tensor> gather_each(std::string_view op, TensorList inputs, int64_t group_size,
                                const IValue& group_name) {
  const auto call = std::make_shared<Call>(op, group_name, have_data(inputs));
  std::vector<Tensor> outs;
  for (const Tensor& input : inputs) outs.push_back(gathered(*call, input, group_size));
  for (const Tensor& input : inputs) call->add(input);
  const bool later = goes_to_background(*call, outs);
  const auto run = [given = read_by(inputs, later), outs](const Call& c) {
    for (size_t i = 0; i < outs.size(); ++i) run_all_gather(c, dense(given[i]), outs[i]);
  };
  return filled(call, outs, later, run);
}

void scatter_all(Call& call, TensorList inputs, std::string_view reduce_op, TensorList outs) {
  const std::vector<ReduceOp> ops = say_reduction(call, inputs, reduce_op);
  if (!call.begin_and_agree()) return;
  for (size_t i = 0; i < inputs.size(); ++i)
    run_reduce_scatter(call, ops[i], dense(inputs[i]), outs[i]);
}
std::vector<Tensor> scatter_each(std::string_view op, TensorList inputs, std::string_view reduce_op,
                                 int64_t group_size, const IValue& group_name) {
  const auto call = std::make_shared<Call>(op, group_name, have_data(inputs));
  std::vector<Tensor> outs;
  for (const Tensor& input : inputs) outs.push_back(scattered(*call, input, group_size));
  const std::vector<ReduceOp> ops = say_reduction(*call, inputs, reduce_op);
  const bool later = goes_to_background(*call, inputs);
  const auto run = [ops, given = read_by(inputs, later), outs](const Call& c) {
    for (size_t i = 0; i < outs.size(); ++i)
      run_reduce_scatter(c, ops[i], dense(given[i]), outs[i]);
  };
  return filled(call, outs, later, run);
}

Tensor only(std::vector<Tensor> tensors) { return std::move(tensors[0]); }
TensorList one(const Tensor& t) { return {&t, 1}; }

SymInt checked_sum(const Call& call, std::string_view name, SymIntArrayRef splits) {
  if (call.group())
    SB_CHECK_VALUE(static_cast<int64_t>(splits.size()) == call.size(), call.blame(), "expected ",
                   call.size(), " ", name, ", one for each rank, got ", splits.size());
  SymInt sum = 0;
  for (const SymInt& split : splits) {
    SB_CHECK_VALUE(split >= 0, call.blame(), "expected ", name, " of at least 0, got ",
                   split.to_string());
    sum = sum + split;
  }
  return sum;
}
std::vector<int64_t> numbers(SymIntArrayRef splits) {
  std::vector<int64_t> list;
  for (const SymInt& split : splits) list.push_back(split.expect_int());
  return list;
}
Tensor all_to_all(const Tensor& input, SymIntArrayRef output_splits, SymIntArrayRef input_splits,
                  const IValue& group_name) {
  const auto made = std::make_shared<Call>(c10d_functional::all_to_all_single.name(), group_name,
                                           has_data(input));
  Call& call = *made;
  check_dim(call, input);
  const SymInt sent = checked_sum(call, "input_split_sizes", input_splits);
  SB_CHECK(sent == input.sym_size(0), call.blame(),
           "expected input_split_sizes that make up dimension 0 of ", input.describe(), ", got ",
           sent.to_string());
  std::vector<SymInt> sizes = sizes_of(input);
  sizes[0] = checked_sum(call, "output_split_sizes", output_splits);
  const Tensor out = new_empty(input, sizes);
  call.add(input, 1);
  if (!call.has_data()) return out;  // and symbols stay as they are
  const bool later = goes_to_background(call, {input, out});
  return only(filled(made, {out}, later,
                     [given = read_by(one(input), later), out, rows = numbers(input_splits),
                      out_rows = numbers(output_splits)](const Call& c) {
                       run_all_to_all(c, dense(given[0]), rows, out, out_rows);
                     }));
}

void say_broadcast(Call& call, const Tensor& data, int64_t src) {
  check_rank(call, "src", src);
  call.add(data);
  call.add(str_cat("src=", src));
}

Tensor shard_dim_alltoall(const Tensor& input, int64_t gather_dim, int64_t shard_dim,
                          const IValue& group_name) {
  Call call(dtensor::shard_dim_alltoall.name(), group_name, has_data(input));
  // The result's shape depends on the number of ranks, which nothing else tells.
  SB_CHECK(call.group(), call.blame(), "expected a group or the name of one, got ",
           group_name.to_string());
  check_dim(call, input);
  const int64_t dim = input.dim(), n = call.size();
  for (int64_t* d : {&gather_dim, &shard_dim}) {
    SB_CHECK_INDEX(*d >= -dim && *d < dim, call.blame(), "expected dimensions from ", -dim, " to ",
                   dim - 1, ", got ", *d);
    if (*d < 0) *d += dim;
  }
  SB_CHECK(input.sym_size(shard_dim) % n == 0, call.blame(), "expected dimension ", shard_dim,
           " to be one that ", n, " ranks can divide, got ", input.describe());
  call.add(input);
  call.add(str_cat("gather_dim=", gather_dim));
  call.add(str_cat("shard_dim=", shard_dim));
  std::vector<Tensor> parts = chunk(input, n, shard_dim);
  // Of a dimension without elements there is one chunk.
  parts.resize(static_cast<size_t>(n), parts[0]);
  if (!call.begin_and_agree()) return contiguous(cat(parts, gather_dim));
  const Tensor packed = stack(parts, 0);
  const Tensor out = empty_like(packed);
  const std::vector<int64_t> rows(static_cast<size_t>(n), 1);
  run_all_to_all(call, packed, rows, out, rows);
  return cat(unbind(out, 0), gather_dim);
}

Tensor no_elements(const Tensor& like) { return new_empty(like, std::vector<SymInt>{SymInt(0)}); }

// Messages need no agreement of the group: each says what it is.
Tensor isend_kernel(const Tensor& tensor, int64_t dst, int64_t tag, std::string_view group_name) {
  const Call call(c10d_functional::isend.name(), IValue(group_name), has_data(tensor));
  check_defined(call, tensor);
  check_rank(call, "dst", dst);
  if (has_data(tensor)) send_tensor(call, dense(tensor), dst, tag);
  return no_elements(tensor);
}
Tensor irecv_kernel(const Tensor& tensor, int64_t src, int64_t tag, std::string_view group_name) {
  const Call call(c10d_functional::irecv.name(), IValue(group_name), has_data(tensor));
  check_contiguous(call, tensor);
  check_rank(call, "src", src);
  if (has_data(tensor)) receive_tensor(call, tensor, src, tag);
  // The schema does not say that it writes.
  tensor.impl()->bump_version();
  return tensor;
}
std::vector<Tensor> batch_p2p(std::string_view op, const std::vector<IValue>& ops,
                              IntArrayRef peers, IntArrayRef tags, TensorList tensors,
                              std::string_view group_name) {
  const Call call(op, IValue(group_name), have_data(tensors));
  SB_CHECK_VALUE(
      ops.size() == tensors.size() && peers.size() == ops.size() && tags.size() == ops.size(),
      call.blame(), "expected lists of one length, got ", ops.size(), ", ", peers.size(), ", ",
      tags.size(), " and ", tensors.size());
  const auto sends = [&](size_t i) { return ops[i].to_string_view() == "isend"; };
  for (size_t i = 0; i < ops.size(); ++i)
    SB_CHECK_VALUE(sends(i) || ops[i].to_string_view() == "irecv", call.blame(),
                   "expected isend or irecv, got '", ops[i].to_string_view(), "'");
  std::vector<Tensor> results(ops.size());
  // What is sent waits for nobody, and so goes first.
  for (const bool sending : {true, false}) {
    for (size_t i = 0; i < ops.size(); ++i) {
      if (sends(i) != sending) continue;
      results[i] = sending ? isend_kernel(tensors[i], peers[i], tags[i], group_name)
                           : irecv_kernel(tensors[i], peers[i], tags[i], group_name);
    }
  }
  return results;
}

void batch_p2p_kernel(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  const std::vector<IValue> in(stack->end() - 5, stack->end());
  stack->resize(stack->size() - 5);
  // An empty list has no type.
  const std::vector<IValue> ops = in[0].is_List() ? in[0].to_list() : std::vector<IValue>();
  const TensorList tensors = in[3].is_TensorList() ? in[3].to_tensor_list() : TensorList();
  stack->push_back(batch_p2p(op.name().to_string(), ops, in[1].to_int_list(), in[2].to_int_list(),
                             tensors, in[4].to_string_view()));
}

// For operators that write to arguments of which their schemas do not say so.
void refuse_functionalization(Library& m, const OperatorHandle& op) {
  const auto refuse = [name = op.name().to_string()] {
    SB_THROW(NotImplementedError, name,
             ": functionalize: it writes to a tensor, which its schema does not say; call it "
             "outside of the program");
  };
  m.impl(op, DispatchKey::Functionalize,
         [refuse](const OperatorHandle&, DispatchKeySet, Stack*) { refuse(); });
  m.own(operator_base(op.entry())
            .impl_functionalize(
                [refuse](const FunctionalizeApi&, DispatchKeySet, Stack*) { refuse(); },
                functionalize_routes()));
}

// A collective that neither is left out nor changes places with another: the other ranks count on
// it.
template <class OpTag, class F>
void collective(Library& m, const Op<OpTag>& op, F kernel,
                SourceLocation where = SourceLocation::current()) {
  m.own(register_effect(m.define(op, sb::Tag::pt2_compliant_tag, where), Effect::Ordered, where));
  m.impl(op, DispatchKey::CPU, kernel, where);
  m.impl(op, DispatchKey::Meta, kernel, where);
}

}  // namespace

SB_LIBRARY(_c10d_functional, m) {
  using namespace c10d_functional;  // NOLINT
  collective(m, all_reduce,
             [](const Tensor& input, std::string_view reduce_op, const IValue& group_name) {
               return only(all_reduce_each(all_reduce.name(), one(input), reduce_op, group_name));
             });
  collective(m, all_reduce_,
             [](const Tensor& input, std::string_view reduce_op, const IValue& group_name) {
               all_reduce_each_in_place(all_reduce_.name(), one(input), reduce_op, group_name);
               return input;
             });
  collective(m, all_reduce_coalesced,
             [](TensorList inputs, std::string_view reduce_op, const IValue& group_name) {
               return all_reduce_each(all_reduce_coalesced.name(), inputs, reduce_op, group_name);
             });
  collective(m, all_reduce_coalesced_,
             [](TensorList inputs, std::string_view reduce_op, const IValue& group_name) {
               all_reduce_each_in_place(all_reduce_coalesced_.name(), inputs, reduce_op,
                                        group_name);
               return std::vector<Tensor>(inputs.begin(), inputs.end());
             });

  collective(
      m, all_gather_into_tensor,
      [](const Tensor& input, int64_t group_size, const IValue& group_name) {
        return only(gather_each(all_gather_into_tensor.name(), one(input), group_size, group_name));
      });
  collective(
      m, all_gather_into_tensor_out,
      [](const Tensor& input, int64_t group_size, const IValue& group_name, const Tensor& out) {
        Call call(all_gather_into_tensor_out.name(), group_name, has_data(input));
        check_out(call, out, gathered(call, input, group_size));
        gather_all(call, one(input), one(out));
        return out;
      });
  collective(m, all_gather_into_tensor_coalesced,
             [](TensorList inputs, int64_t group_size, const IValue& group_name) {
               return gather_each(all_gather_into_tensor_coalesced.name(), inputs, group_size,
                                  group_name);
             });

  collective(m, reduce_scatter_tensor,
             [](const Tensor& input, std::string_view reduce_op, int64_t group_size,
                const IValue& group_name) {
               return only(scatter_each(reduce_scatter_tensor.name(), one(input), reduce_op,
                                        group_size, group_name));
             });
  collective(m, reduce_scatter_tensor_out,
             [](const Tensor& input, std::string_view reduce_op, int64_t group_size,
                const IValue& group_name, const Tensor& out) {
               Call call(reduce_scatter_tensor_out.name(), group_name, has_data(input));
               check_out(call, out, scattered(call, input, group_size));
               scatter_all(call, one(input), reduce_op, one(out));
               return out;
             });
  collective(m, reduce_scatter_tensor_coalesced,
             [](TensorList inputs, std::string_view reduce_op, int64_t group_size,
                const IValue& group_name) {
               return scatter_each(reduce_scatter_tensor_coalesced.name(), inputs, reduce_op,
                                   group_size, group_name);
             });

  collective(m, all_to_all_single, all_to_all);
  collective(m, broadcast, [](const Tensor& input, int64_t src, const IValue& group_name) {
    const auto call = std::make_shared<Call>(broadcast.name(), group_name, has_data(input));
    const Tensor out = fresh_copy(*call, input);
    say_broadcast(*call, out, src);
    return only(filled(call, {out}, goes_to_background(*call, one(out)),
                       [src, out](const Call& c) { run_broadcast(c, src, out); }));
  });
  collective(m, broadcast_, [](const Tensor& input, int64_t src, const IValue& group_name) {
    Call call(broadcast_.name(), group_name, has_data(input));
    check_contiguous(call, input);
    say_broadcast(call, input, src);
    if (call.begin_and_agree()) run_broadcast(call, src, input);
    return input;
  });

  // Composed of nothing, so that the result is the argument under every layer, with its history.
  m.define(wait_tensor, Tag::pt2_compliant_tag);
  m.impl(wait_tensor, DispatchKey::CompositeImplicitAutograd,
         [](const Tensor& tensor) { return tensor; });

  collective(m, isend, isend_kernel);
  collective(m, irecv, irecv_kernel);
  const OperatorHandle batch = m.define(kBatchP2pOps, Tag::pt2_compliant_tag);
  m.own(register_effect(batch, Effect::Ordered));
  for (DispatchKey key : {DispatchKey::CPU, DispatchKey::Meta})
    m.impl(batch, key, batch_p2p_kernel);
  refuse_functionalization(m, irecv.handle());
  refuse_functionalization(m, batch);
}

// Older programs call these, which have gradients like the others.
SB_LIBRARY(_c10d_functional_autograd, m) {
  using namespace c10d_functional_autograd;  // NOLINT
  m.define(all_gather_into_tensor);
  m.impl(all_gather_into_tensor, DispatchKey::CompositeImplicitAutograd,
         [](const Tensor& input, int64_t group_size, const IValue& group_name) {
           return c10d_functional::all_gather_into_tensor(input, group_size, group_name);
         });
  m.define(reduce_scatter_tensor);
  m.impl(reduce_scatter_tensor, DispatchKey::CompositeImplicitAutograd,
         [](const Tensor& input, std::string_view reduce_op, int64_t group_size,
            const IValue& group_name) {
           return c10d_functional::reduce_scatter_tensor(input, reduce_op, group_size, group_name);
         });
  m.define(all_to_all_single);
  m.impl(all_to_all_single, DispatchKey::CompositeImplicitAutograd,
         [](const Tensor& input, SymIntArrayRef output_split_sizes,
            SymIntArrayRef input_split_sizes, const IValue& group_name) {
           return c10d_functional::all_to_all_single(input, output_split_sizes, input_split_sizes,
                                                     group_name);
         });
}

SB_LIBRARY(_dtensor, m) { collective(m, dtensor::shard_dim_alltoall, shard_dim_alltoall); }

}  // namespace sb
