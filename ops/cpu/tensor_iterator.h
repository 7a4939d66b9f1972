// What every elementwise operator shares: broadcasting, the common dtype, the output's strides and
// memory, overlap checks, and the walk over the elements. As `at::TensorIterator`, with one output.

#ifndef SWITCHBOARD_OPS_CPU_TENSOR_ITERATOR_H_
#define SWITCHBOARD_OPS_CPU_TENSOR_ITERATOR_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "switchboard/core/tensor.h"
#include "switchboard/ops/shape/symbolic_operands.h"

namespace sb {

// How an operator treats dtypes; combined by |. The names in brackets are TensorIteratorConfig's.
using IteratorFlags = uint32_t;
// The inputs are converted to a common dtype. Without it each keeps its own.
inline constexpr IteratorFlags kPromoteInputs = 1;
// An integral common dtype becomes the default dtype. [promote_integer_inputs_to_float]
inline constexpr IteratorFlags kIntToFloat = 2;
// A given output may have any dtype that the common one can be cast to.
// [cast_common_dtype_to_outputs, enforce_safe_casting_to_output]
inline constexpr IteratorFlags kSafeCastOutput = 4;
// A given output has the inputs' dtype. [check_all_same_dtype]
inline constexpr IteratorFlags kSameDtypeOutput = 8;
// A new output is bool, a given one has any dtype. [build_comparison_op]
inline constexpr IteratorFlags kBoolOutput = 16;
// No overlap checks: for copies, whose source may be anything. [set_check_mem_overlap(false)]
inline constexpr IteratorFlags kNoOverlapCheck = 32;
// A given output keeps its shape, and the inputs broadcast to it. [resize_outputs(false)]
inline constexpr IteratorFlags kFixedOutput = 64;
// Operands on several devices: for copies. [check_all_same_device(false)]
inline constexpr IteratorFlags kAnyDevice = 128;

// Computes n elements. data[0] is the output, data[1..] the inputs: contiguous arrays of the dtypes
// that the loop was made for. `params` is the operator's own. Runs on several threads at once, on
// different elements.
using ElementwiseLoop = void (*)(char* const* data, int64_t n, const void* params);

// The dtype that elements of `t` are computed in: float32 for the 16-bit floating-point dtypes.
constexpr DType compute_dtype(DType t) {
  return t == DType::Float16 || t == DType::BFloat16 ? DType::Float32 : t;
}

// The common dtype of tensors, where those with dimensions outrank those without, and these outrank
// numbers. As `torch.result_type`.
DType result_type(absl::Span<const Tensor* const> tensors);

// The shape that both broadcast to. Throws RuntimeError.
absl::InlinedVector<int64_t, 5> broadcast_shapes(IntArrayRef a, IntArrayRef b);

class TensorIterator {
 public:
  using Dims = absl::InlinedVector<int64_t, 5>;
  static constexpr size_t kMaxOperands = 4;

  // Makes every check; changes nothing. `out` is undefined (a new tensor is wanted), one of the
  // inputs (in-place), or given by the caller. Holds pointers: the tensors must live as long.
  // Throws RuntimeError.
  TensorIterator(std::string_view op, IteratorFlags flags, const Tensor& out,
                 absl::Span<const Tensor* const> inputs);

  DType common_dtype() const { return common_dtype_; }
  Device device() const { return device_; }
  int64_t numel() const { return numel_; }
  // Not broadcast, reordered or converted.
  size_t num_inputs() const { return num_operands_ - 1; }
  const Tensor& input(size_t i) const { return *operands_[i + 1].tensor; }
  // After allocate_output.
  const Tensor& output() const { return *operands_[0].tensor; }
  // Whether all operands are contiguous, of the output's shape, and the inputs of the common dtype,
  // so that element i of the output is made of elements i of the inputs. After allocate_output.
  bool is_contiguous() const;

  // Makes, or resizes, the output, of `dtype` if it is new. Elements are rounded to `dtype` in any
  // case, before they go to an output of another one. Once.
  const Tensor& allocate_output(DType dtype);
  // Walks over the elements. `loop` reads inputs of `in` (or, without kPromoteInputs, of their own
  // dtypes) and writes `out`; other dtypes are converted. After allocate_output.
  void run(ElementwiseLoop loop, DType in, DType out, const void* params);
  // Copies the one input, converted. After allocate_output.
  void run_copy();

 private:
  struct Operand {
    const Tensor* tensor = nullptr;  // nullptr: an output to be made
    bool is_output = false;
    bool will_resize = false;
    // What stands for an input in the choice of the output's strides. PyTorch converts inputs
    // first, and converting closes gaps.
    Tensor converted;
    char* data = nullptr;
    Dims strides;  // in bytes, in the order of shape_
    Dims order;    // the strides that decide the order of dimensions
    const Tensor& layout() const { return converted.defined() ? converted : *tensor; }
    bool present() const { return tensor && !will_resize; }
  };
  class Walk;
  struct CopyWalk;

  void compute_shape();
  void compute_types(std::string_view op);
  void compute_strides();
  void reorder_dimensions();
  void coalesce_dimensions();
  void prepare_walk();
  void straighten_inputs(absl::Span<Tensor> copies);
  int compare_dimensions(size_t dim0, size_t dim1) const;
  bool fast_output_strides();

  absl::Span<Operand> operands() { return {operands_, num_operands_}; }

  IteratorFlags flags_;
  bool inplace_ = false;
  bool same_shape_ = true;
  DType result_dtype_ = DType::Float32;  // what allocate_output was asked for
  size_t num_operands_;
  Operand operands_[kMaxOperands];
  DType common_dtype_ = DType::Float32;
  Device device_;
  int64_t numel_ = 1;
  Dims shape_;  // first as the output's sizes, then reordered, fastest dimension first
  Dims perm_;   // perm_[i] is the output's dimension that shape_[i] was
  Dims out_sizes_;
  Dims out_strides_;  // in elements; empty for contiguous
  Tensor made_;
  std::unique_ptr<internal::SymbolicOperands> symbols_;  // null unless a size is symbolic
};

}  // namespace sb

#endif  // SWITCHBOARD_OPS_CPU_TENSOR_ITERATOR_H_
