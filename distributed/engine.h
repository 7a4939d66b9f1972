// What carries bytes between ranks: MPI, threads of one process, nothing at all.
//
// An engine knows no tensors, dtypes or operators. What collectives compute, and that the ranks
// agree on what they call, is above it, so that all engines give the same bits and the same errors.

#ifndef SWITCHBOARD_DISTRIBUTED_ENGINE_H_
#define SWITCHBOARD_DISTRIBUTED_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "switchboard/core/error.h"

namespace sb {

// Ranks do not agree, or one of them failed or did not come in time. As
// `torch.distributed.DistError`.
class DistError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
  std::string_view kind() const noexcept override { return "DistError"; }
};

// What waited for a rank that failed. The error of that rank says why.
class RankFailure : public DistError {
 public:
  using DistError::DistError;
};

using ConstBytes = absl::Span<const std::byte>;
using Bytes = absl::Span<std::byte>;

// Who takes part in an exchange, and what for.
struct Meeting {
  // Numbers of ranks in the engine, in an order that all members name alike.
  absl::Span<const int64_t> members;
  // The same at all members, and for one set of members only: keeps groups apart.
  uint64_t group = 0;
  // "call 3 of group '0', _c10d_functional::all_reduce(...)": for errors, made when one is.
  const std::function<std::string()>* describe = nullptr;
};

// One rank's end. Used by one thread at a time, but for fail(). Whatever it waits for ends: with
// the bytes, or with DistError, which names the rank that failed, ended or did not come within
// timeout().
class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string_view name() const = 0;
  virtual int64_t rank() const = 0;
  virtual int64_t size() const = 0;
  // False where no bytes move, and programs run on fake tensors only.
  virtual bool moves_data() const { return true; }
  // The longest wait, in seconds.
  virtual double timeout() const = 0;

  // Sends bytes to each member, this rank included, and receives from each; both lists are in the
  // order of the members. All members call it, with sizes that fit; ranges may be empty and those
  // sent may overlap.
  virtual void exchange(const Meeting& meeting, absl::Span<const ConstBytes> sends,
                        absl::Span<const Bytes> receives) = 0;

  // From rank to rank. Messages of one pair and tag come in the order in which they were sent. The
  // bytes may be written to again when send() returns, which waits for nobody.
  virtual void send(int64_t to, int64_t tag, ConstBytes bytes) = 0;
  virtual void receive(int64_t from, int64_t tag, Bytes bytes, const Meeting& meeting) = 0;

  // Says that this rank goes no further: every wait of another rank that depends on it, and one of
  // its own on another thread, ends with DistError, now and later. The first message counts.
  virtual void fail(std::string_view message) noexcept = 0;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISTRIBUTED_ENGINE_H_
