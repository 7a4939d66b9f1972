// The calls of a run by who made them.

#ifndef SWITCHBOARD_IO_RECORDING_CALL_TREE_H_
#define SWITCHBOARD_IO_RECORDING_CALL_TREE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/io/recording/recording.h"

namespace sb::io {

class CallTree {
 public:
  explicit CallTree(const RecordedRun& run)
      : children_(run.events.size()), roots_(run.num_threads + 1) {
    for (uint32_t i = 0; i < run.events.size(); ++i) {
      const RecordedEvent& event = run.events[i];
      (event.parent == RecordedEvent::kNone ? roots_[event.thread] : children_[event.parent])
          .push_back(i);
    }
  }
  // Of a thread, in order.
  const std::vector<uint32_t>& made_by_program(uint32_t thread) const { return roots_[thread]; }
  // Those that the kernel of an event made, in order.
  const std::vector<uint32_t>& children(uint32_t event) const { return children_[event]; }

 private:
  std::vector<std::vector<uint32_t>> children_, roots_;
};

// Whether the call has a fake tensor among its arguments or results.
bool touches_fake(const RecordedRun& run, const RecordedEvent& event);
// "AutogradCPU  ops/add.cc:31 [autograd kernel, from Autograd]".
std::string kernel_text(const RecordedSite& site);
// The arguments of a schema's text, which may be of an operator that is not here.
struct ArgumentName {
  std::string name;
  bool keyword_only = false;
};
std::vector<ArgumentName> argument_names(std::string_view schema);
// "0 'self'".
std::string argument_text(std::string_view schema, uint32_t index);
// "[1, 2]".
std::string int_list(const std::vector<int64_t>& list);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_RECORDING_CALL_TREE_H_
