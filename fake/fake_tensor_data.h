// The data of a fake tensor beside its shape: its mode, and facts about the elements that it stands
// for.

#ifndef SWITCHBOARD_FAKE_FAKE_TENSOR_DATA_H_
#define SWITCHBOARD_FAKE_FAKE_TENSOR_DATA_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "switchboard/core/tensor.h"
#include "switchboard/dispatch/schema/ivalue.h"
#include "switchboard/fake/creation.h"

namespace sb::internal {

class FakeMode;

// One storage of real data that fake tensors hold constants of. A write to any of them makes all of
// them unknown.
struct ConstantStorage : IntrusiveTarget {
  explicit ConstantStorage(Storage s) : storage(std::move(s)) {}
  Storage storage;
  bool valid = true;
};

// A symbol that stands for something in a tensor's data. It holds as long as nobody writes to the
// tensor, and within one epoch of the mode. As `UnbackedMemoDescriptor`.
class UnbackedMemo {
 public:
  // None where there is none, or where it holds no more.
  IValue get(const Tensor& tensor, uint64_t epoch) const {
    return version_ == tensor.version() && epoch_ == epoch ? value_ : IValue();
  }
  void set(const Tensor& tensor, uint64_t epoch, IValue value) {
    value_ = std::move(value);
    version_ = tensor.version();
    epoch_ = epoch;
  }

 private:
  IValue value_;
  uint32_t version_ = 0;
  uint64_t epoch_ = 0;
};

// Data that few fake tensors have.
struct FakeExtras {
  Tensor constant;  // the data, where it is known
  IntrusivePtr<ConstantStorage> constant_storage;
  Tensor real;  // what the program would have made, if the mode runs that too
  UnbackedMemo nonzero;
  UnbackedMemo item;
  UnbackedMemo unique;
  std::unique_ptr<Creation> creation;
  // What gave it ("higher_order::cond"), of several tensors of which only the data choose one.
  std::string_view chosen_by;
};

// The mode data of fake tensors. Those without extras share one.
class FakeTensorData final : public ModeData {
 public:
  explicit FakeTensorData(IntrusivePtr<FakeMode> mode);
  ~FakeTensorData() override;
  DispatchMode& mode() const override;
  FakeMode& fake_mode() const { return *mode_; }

  const FakeExtras* extras() const { return extras_.get(); }
  FakeExtras& make_extras() {
    if (!extras_) extras_ = std::make_unique<FakeExtras>();
    return *extras_;
  }

 protected:
  void release_resources() override;  // the mode has a weak reference to this

 private:
  IntrusivePtr<FakeMode> mode_;
  std::unique_ptr<FakeExtras> extras_;
};

// The data of a fake tensor; nullptr for any other.
FakeTensorData* find_fake_data(const Tensor& tensor);
// Its extras, or nullptr; and the same, made where there are none. The latter for fake tensors
// only.
const FakeExtras* find_extras(const Tensor& tensor);
FakeExtras& extras_of(const Tensor& tensor);

}  // namespace sb::internal

#endif  // SWITCHBOARD_FAKE_FAKE_TENSOR_DATA_H_
