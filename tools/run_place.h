// Where a program runs, and how its tensors get there.

#ifndef SWITCHBOARD_TOOLS_RUN_PLACE_H_
#define SWITCHBOARD_TOOLS_RUN_PLACE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/core/tensor.h"
#include "switchboard/fake/fake_tensor_mode.h"
#include "switchboard/io/exported/device_copies.h"
#include "switchboard/io/exported/program.h"

namespace sb::tools {

// A device, or the pretence of one.
struct RunPlace {
  std::string name;  // as it was asked for: "fake:cuda:0"
  Device device;
  bool fake = false;

  // "cpu", "dummy", "fake" (the CPU's), "fake:cuda:0". Throws ValueError for what is no device, and
  // NotImplementedError for a real one that this program was built without.
  static RunPlace parse(const std::string& text);
  // "all" is every place that a newcomer wants to see: cpu, dummy, fake, fake:cuda:0.
  static std::vector<RunPlace> parse_list(const std::string& text);
};

// A contiguous copy on the CPU, made by the operators `aten::empty_strided` and `aten::copy_`.
Tensor to_cpu(const Tensor& tensor);

// Brings tensors to one place, for one run. In a fake place its mode is active as long as it lives.
class Mover {
 public:
  // `env` lets a fake place have sizes that are symbols.
  explicit Mover(const RunPlace& place, IntrusivePtr<ShapeEnv> env = nullptr);

  // A copy of a CPU tensor with its sizes, strides and offset. Tensors that share a storage (and
  // their dtype) share one there.
  Tensor move(const Tensor& tensor);
  // A copy of a CPU tensor in the strides of `meta`, as far as these can be written to.
  Tensor move_as(const Tensor& tensor, const io::TensorMeta& meta);
  // A tensor without data, of sizes that are numbers or, under `values`, symbols. In a fake place
  // only.
  Tensor make(const io::ValueMeta& meta, const io::SymbolValues& values);

  bool is_fake() const { return mode_.has_value(); }
  // What the place has given out.
  AllocationStats& memory();

 private:
  Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, DType dtype) const;
  Device device_;
  std::optional<FakeTensorMode> mode_;
  std::optional<FakeTensorModeGuard> guard_;
  io::DeviceCopies copies_;
};

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_RUN_PLACE_H_
