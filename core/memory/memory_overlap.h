// Checks for tensors that share memory in a way that a write to one of them cannot survive.

#ifndef SWITCHBOARD_CORE_MEMORY_MEMORY_OVERLAP_H_
#define SWITCHBOARD_CORE_MEMORY_MEMORY_OVERLAP_H_

#include <cstdint>

#include "switchboard/core/tensor.h"

namespace sb {

// As `at::MemOverlapStatus`. TooHard: strides leave gaps, so that deciding would take a search.
enum class Overlap : uint8_t { No, Full, Partial, TooHard };

// Full: the same elements in the same order.
Overlap overlap_between(const Tensor& a, const Tensor& b);
// Returns whether two elements of `t` surely have one address (an expanded dimension).
bool has_internal_overlap(const Tensor& t);

// The checks of every operator that writes; they throw RuntimeError. As at::assert_no_*.
void check_no_internal_overlap(const Tensor& written);
void check_no_partial_overlap(const Tensor& written, const Tensor& read);
void check_no_overlap(const Tensor& written, const Tensor& read);

}  // namespace sb

#endif  // SWITCHBOARD_CORE_MEMORY_MEMORY_OVERLAP_H_
