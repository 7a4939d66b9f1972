// Kernels that exist once for each CPU capability, and the choice among them. As `DispatchStub`.
//
//   // gemm.h
//   using GemmFunction = void (*)(const GemmArguments&);
//   extern const CpuKernel<GemmFunction> gemm_kernel;
//
//   // gemm_kernels.cc, among the cpu_kernels of its sb_cc_library (build_defs.bzl)
//   namespace { void gemm(const GemmArguments& a) { ... } }
//   SB_CPU_KERNEL(GemmFunction, gemm_kernel, &gemm);
//
//   (*gemm_kernel)(arguments);
//
// A file of cpu_kernels is compiled for the baseline, and again for AVX2 and AVX-512 with
// SB_CPU_VARIANT defined as `avx2` and `avx512`. All that an object for a higher capability shows
// to the linker are its kernels, which are data: an inline function compiled for AVX-512 can never
// stand in for the baseline's. Hence such a file may have no initialisation at run time besides
// what SB_CPU_KERNEL makes; put registrations and the like under #ifndef SB_CPU_VARIANT.

#ifndef SWITCHBOARD_OPS_CPU_CPU_KERNEL_H_
#define SWITCHBOARD_OPS_CPU_CPU_KERNEL_H_

#include "switchboard/ops/cpu/cpu_capability.h"

namespace sb {

// The variant of a kernel that suits this machine. T is a pointer to a function, or a table of
// them.
template <class T>
class CpuKernel {
 public:
  // The variants for higher capabilities are nullptr where they were not compiled.
  CpuKernel(const T* baseline, const T* avx2, const T* avx512) : chosen_(baseline) {
    if (avx2 && cpu_capability() >= CpuCapability::Avx2) chosen_ = avx2;
    if (avx512 && cpu_capability() >= CpuCapability::Avx512) chosen_ = avx512;
  }
  const T& operator*() const { return *chosen_; }
  const T* get() const { return chosen_; }

 private:
  const T* chosen_;
};

}  // namespace sb

#define SB_CPU_KERNEL_CONCAT_(a, b) a##_##b
#define SB_CPU_KERNEL_CONCAT(a, b) SB_CPU_KERNEL_CONCAT_(a, b)

// Defines the CpuKernel<T> `handle`, in a named namespace. The initialiser is a constant
// expression.
#ifdef SB_CPU_VARIANT
#define SB_CPU_KERNEL(T, handle, ...)                          \
  extern const T SB_CPU_KERNEL_CONCAT(handle, SB_CPU_VARIANT); \
  constinit const T SB_CPU_KERNEL_CONCAT(handle, SB_CPU_VARIANT) = __VA_ARGS__
#else
#define SB_CPU_KERNEL(T, handle, ...)                       \
  extern const T handle##_avx2 [[gnu::weak]];               \
  extern const T handle##_avx512 [[gnu::weak]];             \
  static constinit const T handle##_baseline = __VA_ARGS__; \
  extern const ::sb::CpuKernel<T> handle;                   \
  const ::sb::CpuKernel<T> handle(&handle##_baseline, &handle##_avx2, &handle##_avx512)
#endif

#endif  // SWITCHBOARD_OPS_CPU_CPU_KERNEL_H_
