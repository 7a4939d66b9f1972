// What ADInplaceOrView does for operators that write or give views: it counts writes, and notes
// what is a view of what.

#include <algorithm>
#include <utility>

#include "switchboard/autograd/fallback.h"
#include "switchboard/autograd/fallback_call.h"
#include "switchboard/autograd/recording.h"
#include "switchboard/autograd/variable.h"
#include "switchboard/dispatch/library.h"

namespace sb::internal {
namespace {

template <class Call>
void count_and_note(Call& call, DispatchKeySet keys) {
  const auto written = call.written();
  const Tensor base = call.base();
  if (base.defined()) call.keep_arguments();
  for (const Tensor& t : written) check_no_inference(call.op().name(), t);
  const auto count_writes = [&] {
    for (const Tensor& t : written) count_write(&call.op(), t);
  };
  try {
    const BelowRecordingGuard below;
    call.go_on(keys_below_recording(keys));
  } catch (...) {
    count_writes();  // it may have written before it threw
    throw;
  }
  count_writes();
  if (!base.defined() || !written.empty()) return;
  const bool several = !call.gave_tensor();
  call.each_result([&](const Tensor& view) {
    if (!view.defined()) return;
    ViewReplay replay;
    if (!several && (view.dtype() != base.dtype() || view.key_set() != base.key_set()))
      replay = replay_by_calling(OperatorHandle(&call.op()), call.kept_arguments());
    note_view(base, view, view_origin(several), std::move(replay));
  });
}

struct InplaceOrViewFallback {
  static void call_boxed(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
    StackCall call(op, stack);
    count_and_note(call, keys);
  }
  static bool call_typed(FrameCall& call, DispatchKeySet keys) {
    count_and_note(call, keys);
    return true;
  }
};

bool writes_or_views(const FunctionSchema& schema) {
  return schema.is_mutable() || schema.is_view();
}

const ExplainFallback explain_counting(DispatchKey::ADInplaceOrView, explain_recording);
const ExplainConvention explain_counted(DispatchKey::ADInplaceOrView, explain_own_kernel);

}  // namespace
}  // namespace sb::internal

SB_LIBRARY_IMPL(_, ADInplaceOrView, m) {
  m.fallback_for(sb::DispatchKey::ADInplaceOrView, sb::internal::writes_or_views,
                 sb::internal::make_fallback<sb::internal::InplaceOrViewFallback>());
}
