#include "switchboard/core/memory/memory_overlap.h"

#include "switchboard/core/symbols/known.h"

namespace sb {
namespace {

bool shares_storage(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined() || !a.storage() || !b.storage()) return false;
  if (a.storage() == b.storage()) return true;
  // Two storages over one memory (from_blob).
  void* const data = a.storage()->data();
  return data && data == b.storage()->data();
}

// Whether elements of the same index lie in the same place, given that the first ones do. The
// stride of a dimension of size 1 says nothing.
bool same_places(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
  for (size_t d = 0; d < a.sizes().size(); ++d)
    if (a.sizes()[d] != 1 && a.strides()[d] != b.strides()[d]) return false;
  return true;
}

[[noreturn, gnu::cold]] void throw_overlap() {
  SB_THROW(RuntimeError,
           "unsupported operation: some elements of the input tensor and the written-to tensor "
           "refer to a single memory location; clone() the tensor before performing the operation");
}

// Of tensors on one storage with symbols, of which nothing is asked: what is not known to be apart
// may overlap, and what is known to lie in the same places, without gaps, does.
Overlap symbolic_overlap(const Tensor& a, const Tensor& b) {
  if (known(a.sym_numel() == 0) || known(b.sym_numel() == 0)) return Overlap::No;
  if (!a.impl()->is_known_dense() || !known(a.sym_storage_offset() == b.sym_storage_offset()) ||
      a.dtype() != b.dtype() || a.dim() != b.dim()) {
    return Overlap::TooHard;
  }
  for (int64_t d = 0; d < a.dim(); ++d) {
    if (!known(a.sym_size(d) == b.sym_size(d)) || !known(a.sym_stride(d) == b.sym_stride(d)))
      return Overlap::TooHard;
  }
  return Overlap::Full;
}

}  // namespace

Overlap overlap_between(const Tensor& a, const Tensor& b) {
  if (a.is_same(b)) return Overlap::Full;
  if (a.is_symbolic() || b.is_symbolic())
    return shares_storage(a, b) ? symbolic_overlap(a, b) : Overlap::No;
  if (!shares_storage(a, b) || a.numel() == 0 || b.numel() == 0) return Overlap::No;
  if (!a.impl()->is_non_overlapping_and_dense() || !b.impl()->is_non_overlapping_and_dense()) {
    return Overlap::TooHard;
  }
  const int64_t a_begin = a.storage_offset() * static_cast<int64_t>(a.itemsize());
  const int64_t b_begin = b.storage_offset() * static_cast<int64_t>(b.itemsize());
  const int64_t a_end = a_begin + static_cast<int64_t>(a.nbytes());
  const int64_t b_end = b_begin + static_cast<int64_t>(b.nbytes());
  if (a_begin == b_begin && a_end == b_end) {
    return same_places(a, b) ? Overlap::Full : Overlap::Partial;
  }
  return a_begin < b_end && b_begin < a_end ? Overlap::Partial : Overlap::No;
}

bool has_internal_overlap(const Tensor& t) {
  if (t.is_symbolic()) {
    if (known(t.sym_numel() == 0)) return false;
    // Nothing is asked of sizes unless there is a stride of 0.
    for (int64_t d = 0; d < t.dim(); ++d) {
      if (known(t.sym_stride(d) == 0) && guard_size_oblivious(t.sym_size(d) > 1)) return true;
    }
    return false;
  }
  if (t.impl()->is_non_overlapping_and_dense()) return false;
  const IntArrayRef sizes = t.sizes(), strides = t.strides();
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (strides[d] == 0 && sizes[d] > 1) return true;
  }
  return false;
}

void check_no_internal_overlap(const Tensor& written) {
  SB_CHECK(!has_internal_overlap(written),
           "unsupported operation: more than one element of the written-to tensor refers to a "
           "single memory location; clone() the tensor before performing the operation");
}

void check_no_partial_overlap(const Tensor& written, const Tensor& read) {
  if (overlap_between(written, read) == Overlap::Partial) throw_overlap();
}

void check_no_overlap(const Tensor& written, const Tensor& read) {
  const Overlap overlap = overlap_between(written, read);
  if (overlap == Overlap::Partial || overlap == Overlap::Full) throw_overlap();
}

}  // namespace sb
