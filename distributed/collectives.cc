#include "switchboard/distributed/collectives.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "switchboard/core/empty_tensor.h"
#include "switchboard/core/error.h"
#include "switchboard/ops/copying/copy.h"
#include "switchboard/ops/views/views.h"

namespace sb {
namespace {

using Sends = absl::InlinedVector<ConstBytes, 8>;
using Receives = absl::InlinedVector<Bytes, 8>;

Bytes bytes_of(const Tensor& t) {
  if (t.numel() == 0) return {};
  return absl::MakeSpan(static_cast<std::byte*>(t.data_ptr()), t.nbytes());
}

// The parts of a tensor's bytes, one behind the other.
Receives split_bytes(const Tensor& t, absl::Span<const size_t> sizes) {
  Receives parts;
  Bytes rest = bytes_of(t);
  for (size_t size : sizes) {
    parts.push_back(rest.first(size));
    rest.remove_prefix(size);
  }
  return parts;
}
Receives split_evenly(const Tensor& t, int64_t n) {
  return split_bytes(
      t, std::vector<size_t>(static_cast<size_t>(n), t.nbytes() / static_cast<size_t>(n)));
}

template <class... Tensors>
auto memory_of(const Tensors&... tensors) {
  return [&tensors...] { return std::vector<Tensor>{tensors...}; };
}

Tensor empty_vector(int64_t numel, const Tensor& like) {
  return empty_on(like.device(), {numel}, like.dtype());
}

// What each rank has of this rank's part, which is `own`, where `sends` has a part for each. That
// for this rank stays where it is.
std::vector<Tensor> exchange_parts(const Call& call, Sends sends, const Tensor& sent,
                                   const Tensor& own) {
  std::vector<Tensor> parts;
  Receives receives;
  for (int64_t r = 0; r < call.size(); ++r) {
    const bool here = r == call.rank();
    parts.push_back(here ? own : empty_vector(own.numel(), sent));
    receives.push_back(here ? Bytes() : bytes_of(parts.back()));
    if (here) sends[static_cast<size_t>(r)] = {};
  }
  call.exchange(sends, receives, [&] {
    std::vector<Tensor> memory = parts;
    memory.push_back(sent);
    return memory;
  });
  return parts;
}

}  // namespace

ConstBytes opening_data(const Tensor& data) {
  return goes_with_opening(static_cast<int64_t>(data.nbytes())) ? bytes_of(data) : ConstBytes();
}

void run_all_reduce(const Call& call, ReduceOp op, const Tensor& data) {
  const int64_t n = call.size();
  if (n == 1) return;
  const Tensor flat = view(data, {-1});
  const size_t here = static_cast<size_t>(call.rank());
  if (!call.opening_data(0).empty()) {
    std::vector<Tensor> parts;
    for (int64_t r = 0; r < n; ++r) {
      if (r == call.rank()) {
        parts.push_back(flat);
        continue;
      }
      const ConstBytes bytes = call.opening_data(r);
      parts.push_back(empty_vector(flat.numel(), data));
      std::memcpy(parts.back().data_ptr(), bytes.data(), bytes.size());
    }
    return reduce_tree_into(op, parts, flat);
  }
  if (data.nbytes() <= kSmallAllReduceBytes) {
    Sends sends(static_cast<size_t>(n), bytes_of(flat));
    return reduce_tree_into(op, exchange_parts(call, std::move(sends), data, flat), flat);
  }
  // The first ranks have one element more.
  const int64_t most = flat.numel() / n, more = flat.numel() % n;
  std::vector<size_t> sizes;
  for (int64_t r = 0; r < n; ++r)
    sizes.push_back(static_cast<size_t>(most + (r < more ? 1 : 0)) * data.itemsize());
  Receives parts = split_bytes(flat, sizes);
  const Tensor mine = narrow(flat, 0, call.rank() * most + std::min(call.rank(), more),
                             most + (call.rank() < more ? 1 : 0));
  // Nobody reads or writes this rank's part of it between the exchanges.
  reduce_tree_into(op, exchange_parts(call, Sends(parts.begin(), parts.end()), data, mine), mine);
  Sends sends(static_cast<size_t>(n), bytes_of(mine));
  sends[here] = {};
  parts[here] = {};
  call.exchange(sends, parts, memory_of(data));
}

void run_all_gather(const Call& call, const Tensor& input, const Tensor& out) {
  call.exchange(Sends(static_cast<size_t>(call.size()), bytes_of(input)),
                split_evenly(out, call.size()), memory_of(input, out));
}

void run_reduce_scatter(const Call& call, ReduceOp op, const Tensor& input, const Tensor& out) {
  const Receives parts = split_evenly(input, call.size());
  Tensor own = narrow(view(input, {-1}), 0, call.rank() * out.numel(), out.numel());
  if (own.is_alias_of(out)) own = clone(own);  // they may overlap in part
  reduce_tree_into(op, exchange_parts(call, Sends(parts.begin(), parts.end()), input, own),
                   view(out, {-1}));
}

void run_all_to_all(const Call& call, const Tensor& input, IntArrayRef input_rows,
                    const Tensor& out, IntArrayRef output_rows) {
  const size_t n = static_cast<size_t>(call.size());
  // What every rank sends and takes: [rank][0: to, 1: from][rank].
  std::vector<int64_t> all(n * 2 * n);
  std::vector<int64_t> mine(input_rows.begin(), input_rows.end());
  mine.insert(mine.end(), output_rows.begin(), output_rows.end());
  const auto bytes = [](std::vector<int64_t>& v, size_t first, size_t count) {
    return absl::MakeSpan(reinterpret_cast<std::byte*>(v.data() + first), count * sizeof(int64_t));
  };
  Receives rows;
  for (size_t r = 0; r < n; ++r) rows.push_back(bytes(all, r * 2 * n, 2 * n));
  // So few bytes that no engine goes on with them.
  call.exchange(Sends(n, bytes(mine, 0, 2 * n)), rows, memory_of());
  for (size_t from = 0; from < n; ++from) {
    for (size_t to = 0; to < n; ++to) {
      const int64_t sent = all[from * 2 * n + to], taken = all[to * 2 * n + n + from];
      if (sent != taken)
        SB_THROW(DistError, call.blame(), "rank ", call.group()->ranks()[from], " sends ", sent,
                 " rows to rank ", call.group()->ranks()[to], ", which expects ", taken);
    }
  }
  const auto sizes = [&](const Tensor& t, IntArrayRef counts) {
    const int64_t total = t.size(0);
    std::vector<size_t> list;
    for (int64_t count : counts)
      list.push_back(
          total == 0 ? 0 : t.nbytes() / static_cast<size_t>(total) * static_cast<size_t>(count));
    return list;
  };
  const Receives sends = split_bytes(input, sizes(input, input_rows));
  call.exchange(Sends(sends.begin(), sends.end()), split_bytes(out, sizes(out, output_rows)),
                memory_of(input, out));
}

void run_broadcast(const Call& call, int64_t src, const Tensor& data) {
  const size_t n = static_cast<size_t>(call.size());
  Sends sends(n);
  Receives receives(n);
  // The source keeps what it has: nobody sends to it.
  if (call.rank() == src) {
    for (size_t r = 0; r < n; ++r)
      if (r != static_cast<size_t>(src)) sends[r] = bytes_of(data);
  } else {
    receives[static_cast<size_t>(src)] = bytes_of(data);
  }
  call.exchange(sends, receives, memory_of(data));
}

}  // namespace sb
