// Fake tensors, which have a device and no data, and the mode that runs programs on them.

#ifndef SWITCHBOARD_FAKE_FAKE_TENSOR_MODE_H_
#define SWITCHBOARD_FAKE_FAKE_TENSOR_MODE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "switchboard/core/intrusive_ptr.h"
#include "switchboard/core/memory/allocator.h"
#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/modes/mode.h"
#include "switchboard/fake/creation.h"
#include "switchboard/fake/dispatch_cache.h"
#include "switchboard/fake/draft_log.h"
#include "switchboard/fake/fake_errors.h"
#include "switchboard/fake/symbolic/shape_env.h"

namespace sb {

namespace internal {
class FakeMode;
}

struct FakeTensorOptions {
  // Real tensors among the arguments are converted; otherwise they are refused. Numbers that were
  // made tensors (x + 1) are always converted.
  bool allow_non_fake_inputs = false;
  // An operator of the namespaces that fallback_kernel.h names, without a shape rule, runs for real
  // on zeros; otherwise it is refused.
  bool allow_fallback_kernels = true;
  // The most bytes that these zeros may take; a call that needs more is refused.
  int64_t fallback_bytes = int64_t{1} << 30;
  // Fake tensors on the meta device are allowed. As `fake_tensor_allow_meta`.
  bool allow_meta = true;
  // With a ShapeEnv, sizes are symbols, and so is what data decides: item(), nonzero(). Without it
  // sizes are numbers, and operators whose result depends on data are refused.
  IntrusivePtr<ShapeEnv> shape_env = nullptr;
  // from_tensor gives sizes that are numbers, unless it is told otherwise.
  bool static_shapes = false;
  // The program runs for real, too, beside the fake run, where its inputs are known: symbols for
  // what data decides get their values. As `propagate_real_tensors`.
  bool propagate_real_tensors = false;
  // Chooses the calls that are remembered, and the cache: that of the process unless another is
  // given.
  FakeCacheUse cache_use = FakeCacheUse::Costly;
  IntrusivePtr<FakeDispatchCache> cache = nullptr;
  // Each fake tensor knows the call that made it: see creation_of.
  bool record_creation = false;
  // Set by DraftRun (draft_run.h): the run goes on where it can, and says here what to mend.
  IntrusivePtr<DraftLog> draft = nullptr;
};

// Options for making a fake tensor from a real one.
struct FromTensorOptions {
  std::optional<Device> device = std::nullopt;  // another than the tensor's own
  // Overrides FakeTensorOptions::static_shapes.
  std::optional<bool> static_shapes = std::nullopt;
  // The tensor's name in guards: "x" gives the sizes "x.size(0)" and so on. Made up where it is
  // empty.
  std::string source = {};
  // One entry for each dimension, or none for the ShapeEnv's own choice. Not together with static
  // shapes: ValueError.
  std::vector<SymbolicDim> dims = {};
  // What its sizes are, one entry for each dimension, in the place of `dims`: numbers, symbols of
  // the ShapeEnv, expressions of them, as in {batch, 2 * length + 1} (ShapeEnv::state_size). As the
  // dimensions of a `ShapesSpec`.
  std::vector<SymInt> sizes = {};
};

// As `FakeTensorMode`: while it is active on a thread, operators make fake tensors. These carry a
// device that need not exist here, run shape rules only and hold no data; every program that does
// not look at data runs on them as on the real device, layered kernels (autograd, autocast)
// included. Calls on fake tensors reach their mode whether it is active or not.
//
//   FakeTensorMode fake;
//   Tensor x = fake.from_tensor(real, Device("cuda:0"));
//   Tensor y = sb::relu(x);          // only the shape rule runs; y.device() is cuda:0
//
// A handle: fake tensors keep what they need of the mode alive. One mode is used by one thread at a
// time; modes of several threads may share a cache.
class FakeTensorMode {
 public:
  explicit FakeTensorMode(FakeTensorOptions options = {});
  FakeTensorMode(const FakeTensorMode& other);
  FakeTensorMode& operator=(const FakeTensorMode& other);
  ~FakeTensorMode();

  // The fake of a real tensor, on its own device or on another one. The same tensor gives the same
  // fake, and views of one storage stay views of one fake storage, as long as they live. An
  // accelerator without index becomes its device 0. With a ShapeEnv its sizes become symbols. It
  // requires a gradient where the real one does, and is a leaf where that is one.
  // Throws UnsupportedFakeTensorError for a tensor that has no storage, and so no fake (a
  // functional one), RuntimeError for a tensor that is fake already and of another mode, and
  // ValueError for the meta device, unless the mode allows it.
  Tensor from_tensor(const Tensor& real, std::optional<Device> device = std::nullopt);
  Tensor from_tensor(const Tensor& real, const FromTensorOptions& how);
  // The fake tensors of all of them, in their order. As `FakeCopyMode` does for the tensors of a
  // module.
  std::vector<Tensor> from_tensors(absl::Span<const Tensor> real,
                                   std::optional<Device> device = std::nullopt);
  // The fake tensor on `device` of a meta one, which gives the same each time. Throws ValueError
  // for a tensor that is not meta.
  Tensor from_meta(const Tensor& meta, Device device);

  // The mode itself, to activate: ModeGuard guard(fake.mode()).
  DispatchMode* mode() const;
  const FakeTensorOptions& options() const;
  // Null without one.
  ShapeEnv* shape_env() const;
  // Bytes that the storages of the mode's tensors would take on their devices, now and at most.
  AllocationStats& memory() const;
  // From here on, nothing that nonzero() and others found in tensors before holds any longer. As
  // `FakeTensorMode.epoch`.
  void new_epoch() const;

 private:
  IntrusivePtr<internal::FakeMode> impl_;
};

// Activates a fake mode on this thread for a scope. The mode that is active may be entered again,
// which changes nothing; another is out of sight until the end of the scope.
class FakeTensorModeGuard {
 public:
  explicit FakeTensorModeGuard(const FakeTensorMode& mode) : mode_(mode), guard_(mode.mode()) {}

 private:
  FakeTensorMode mode_;  // keeps it alive
  ModeGuard guard_;
};

// Returns whether the tensor belongs to some fake mode.
bool is_fake(const Tensor& tensor);
// Its mode; nullptr for a tensor that is not fake. As `maybe_get_fake_mode`.
DispatchMode* maybe_get_fake_mode(const Tensor& tensor);
// The data of a fake tensor of one element, where the mode knows it; an undefined tensor otherwise.
Tensor constant_of(const Tensor& fake);
// Returns the tensor that the program would have made in its place, in a mode with
// propagate_real_tensors; an undefined tensor where that is not known.
Tensor real_of(const Tensor& fake);
// Returns the call that made a fake tensor of a mode that records it; nullptr otherwise. Valid as
// long as the tensor.
const Creation* creation_of(const Tensor& fake);

}  // namespace sb

#endif  // SWITCHBOARD_FAKE_FAKE_TENSOR_MODE_H_
