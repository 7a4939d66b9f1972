#include "switchboard/devices/dummy/launch.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "switchboard/core/error.h"
#include "switchboard/devices/dummy/host_alias.h"
#include "switchboard/devices/dummy/memory.h"
#include "switchboard/devices/dummy/pinned_memory.h"
#include "switchboard/devices/dummy/streams.h"

namespace sb::dummy {
namespace {

// One launch, from the call of its operator until it has run.
struct Launch {
  DeviceMemory::Hold memory;
  std::vector<std::shared_ptr<const void>> pinned;
  std::vector<Tensor> host;
  Arithmetic arithmetic;

  void run() {
    DeviceMemory::Unlock open(memory);
    arithmetic(host);
  }
};

}  // namespace

void launch(std::string_view op, absl::Span<const Tensor> tensors, Arithmetic arithmetic) {
  for (const Tensor& t : tensors) {
    if (t.is_cpu()) continue;
    return launch_on(current_stream_of(t.device().index), op, tensors, std::move(arithmetic));
  }
  SB_THROW(RuntimeError, op, ": launch: got no tensor of ", to_string(DeviceType::PrivateUse1));
}

void launch_on(Stream stream, std::string_view op, absl::Span<const Tensor> tensors,
               Arithmetic arithmetic) {
  Launch work;
  AliasStorages storages;
  for (const Tensor& t : tensors) {
    work.host.push_back(storages.alias(t));
    if (t.is_cpu())
      work.pinned.push_back(hold_pinned(t.storage()->data()));
    else
      work.memory.add(t.storage());
  }
  work.arithmetic = std::move(arithmetic);
  run_on_stream(stream, std::string(op), [work = std::move(work)]() mutable { work.run(); });
}

}  // namespace sb::dummy
