#include "switchboard/fake/cache_key.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/hash/hash.h"
#include "switchboard/core/dtype.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb::internal {

class CacheKey::Writer {
 public:
  explicit Writer(CacheKey* key) : key_(*key), next_(key->few_), end_(key->few_ + kFew) {}

  absl::Span<const uint64_t> words() const {
    const uint64_t* const first = key_.many_.empty() ? key_.few_ : key_.many_.data();
    return {first, static_cast<size_t>(next_ - first)};
  }

  // Room for n words, which the caller fills.
  uint64_t* room(size_t n) {
    if (static_cast<size_t>(end_ - next_) < n) [[unlikely]]
      grow(n);
    return std::exchange(next_, next_ + n);
  }
  void word(uint64_t w) { *room(1) = w; }
  void ints(IntArrayRef list) {
    word(list.size());
    std::ranges::copy(list, room(list.size()));
  }
  void text(std::string_view s) {
    word(s.size());
    const size_t n = (s.size() + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    if (n == 0) return;
    uint64_t* const words = room(n);
    words[n - 1] = 0;
    std::memcpy(words, s.data(), s.size());
  }

  bool tensor(const Tensor& t) {
    if (!t.defined()) return word(0), true;
    // Its scale would have to be part of the key, and of the result.
    if (t.impl()->quantizer()) return false;
    const TensorImpl& impl = *t.impl();
    const StorageImpl& storage = *impl.storage();
    const size_t rank = impl.sizes().size();
    uint64_t* w = room(5 + 2 * rank);
    *w++ = 1 + static_cast<uint64_t>(impl.dtype()) +
           (static_cast<uint64_t>(impl.is_wrapped_number()) << 8) +
           (static_cast<uint64_t>(impl.autograd_meta() != nullptr) << 9) +
           (static_cast<uint64_t>(storage.resizable()) << 10) +
           (static_cast<uint64_t>(impl.device().type) << 16) +
           (static_cast<uint64_t>(static_cast<uint8_t>(impl.device().index)) << 24) +
           (static_cast<uint64_t>(rank) << 32);
    *w++ = impl.key_set().bits();
    const int64_t* const sizes = impl.sizes().data();
    const int64_t* const strides = impl.strides().data();
    for (size_t d = 0; d < rank; ++d) {
      *w++ = static_cast<uint64_t>(sizes[d]);
      *w++ = static_cast<uint64_t>(strides[d]);
    }
    *w++ = static_cast<uint64_t>(impl.storage_offset());
    *w++ = storage.nbytes();
    *w++ = alias_of_earlier(impl);
    seen_.push_back(&impl);
    return true;
  }

  // False for a value that cannot be written.
  bool value(const IValue& v) {
    word(static_cast<uint64_t>(v.tag()));
    switch (v.tag()) {
      case IValue::Tag::None:
        return true;
      case IValue::Tag::Tensor:
        return tensor(v.unchecked_tensor());
      case IValue::Tag::Int:
        word(static_cast<uint64_t>(v.to_int()));
        return true;
      case IValue::Tag::Double:
        word(std::bit_cast<uint64_t>(v.to_double()));
        return true;
      case IValue::Tag::Bool:
        word(v.to_bool());
        return true;
      case IValue::Tag::Device:
        word(static_cast<uint64_t>(v.to_device().type));
        word(static_cast<uint64_t>(v.to_device().index));
        return true;
      case IValue::Tag::DType:
        word(static_cast<uint64_t>(v.to_dtype()));
        return true;
      case IValue::Tag::Layout:
        word(static_cast<uint64_t>(v.to_layout()));
        return true;
      case IValue::Tag::MemoryFormat:
        word(static_cast<uint64_t>(v.to_memory_format()));
        return true;
      case IValue::Tag::Complex:
        word(std::bit_cast<uint64_t>(v.to_complex().real()));
        word(std::bit_cast<uint64_t>(v.to_complex().imag()));
        return true;
      case IValue::Tag::String:
        text(v.to_string_view());
        return true;
      case IValue::Tag::IntList:
        ints(v.to_int_list());
        return true;
      case IValue::Tag::DoubleList:
        word(v.to_double_list().size());
        for (const double d : v.to_double_list()) word(std::bit_cast<uint64_t>(d));
        return true;
      case IValue::Tag::BoolList:
        word(v.to_bool_list().size());
        for (const bool b : v.to_bool_list()) word(b);
        return true;
      case IValue::Tag::TensorList:
        word(v.to_tensor_list().size());
        for (const Tensor& t : v.to_tensor_list())
          if (!tensor(t)) return false;
        return true;
      case IValue::Tag::OptionalTensorList: {
        const OptionalTensorList list = v.to_optional_tensor_list();
        const Tensor undefined;
        word(list.size());
        for (const std::optional<Tensor>& t : list)
          if (!tensor(t ? *t : undefined)) return false;
        return true;
      }
      case IValue::Tag::List:
        word(v.to_list().size());
        for (const IValue& element : v.to_list())
          if (!value(element)) return false;
        return true;
      default:
        return false;
    }
  }

 private:
  // Which tensor before has the same storage, and whether it is the same tensor; 0: none.
  uint64_t alias_of_earlier(const TensorImpl& impl) const {
    for (size_t i = 0; i < seen_.size(); ++i)
      if (seen_[i]->storage() == impl.storage()) return 2 * (i + 1) + (seen_[i] == &impl);
    return 0;
  }
  [[gnu::cold, gnu::noinline]] void grow(size_t n) {
    const absl::Span<const uint64_t> so_far = words();
    std::vector<uint64_t> larger(std::max(2 * (so_far.size() + n), 2 * kFew));
    std::ranges::copy(so_far, larger.begin());
    next_ = larger.data() + so_far.size();
    end_ = larger.data() + larger.size();
    key_.many_ = std::move(larger);
  }

  CacheKey& key_;
  uint64_t* next_;
  uint64_t* end_;
  absl::InlinedVector<const TensorImpl*, 8> seen_;
};

bool CacheKey::assign(const OperatorHandle& op, uint64_t rules_version, uint64_t settings,
                      absl::Span<const IValue> arguments) {
  many_.clear();
  Writer writer(this);
  uint64_t* const w = writer.room(7);
  w[0] = reinterpret_cast<uintptr_t>(&op.entry());
  w[1] = op.entry().defined_order();
  w[2] = rules_version;
  w[3] = settings + (static_cast<uint64_t>(default_dtype()) << 56);
  w[4] = (dispatch_tls.included - DispatchKey::Observed).bits();  // a trace changes nothing
  w[5] = dispatch_tls.kept.bits();
  w[kRegistrations] = op.entry().dispatcher().kernel_registrations();
  for (const IValue& argument : arguments)
    if (!writer.value(argument)) return false;
  words_ = writer.words();
  hash_ = absl::HashOf(words_);
  return true;
}

}  // namespace sb::internal
