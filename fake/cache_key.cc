#include "switchboard/fake/cache_key.h"

#include <bit>
#include <cstring>

#include "absl/hash/hash.h"
#include "switchboard/core/dtype.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/operator_entry.h"

namespace sb::internal {

class CacheKey::Writer {
 public:
  explicit Writer(CacheKey* key) : words_(key->words_) {}

  void word(uint64_t w) { words_.push_back(w); }
  void ints(IntArrayRef list) {
    word(list.size());
    for (const int64_t i : list) word(static_cast<uint64_t>(i));
  }
  void text(std::string_view s) {
    word(s.size());
    for (size_t i = 0; i < s.size(); i += sizeof(uint64_t)) {
      uint64_t w = 0;
      std::memcpy(&w, s.data() + i, std::min(sizeof(w), s.size() - i));
      word(w);
    }
  }

  bool tensor(const Tensor& t) {
    if (!t.defined()) return word(0), true;
    // Its scale would have to be part of the key, and of the result.
    if (t.impl()->quantizer()) return false;
    const TensorImpl& impl = *t.impl();
    word(1 + static_cast<uint64_t>(impl.dtype()) +
         (static_cast<uint64_t>(impl.is_wrapped_number()) << 8) +
         (static_cast<uint64_t>(impl.autograd_meta() != nullptr) << 9) +
         (static_cast<uint64_t>(impl.storage()->resizable()) << 10) +
         (static_cast<uint64_t>(impl.device().type) << 16) +
         (static_cast<uint64_t>(static_cast<uint8_t>(impl.device().index)) << 24) +
         (static_cast<uint64_t>(impl.dim()) << 32));
    word(impl.key_set().bits());
    for (const int64_t i : impl.sizes()) word(static_cast<uint64_t>(i));
    for (const int64_t i : impl.strides()) word(static_cast<uint64_t>(i));
    word(static_cast<uint64_t>(impl.storage_offset()));
    word(impl.storage()->nbytes());
    // Which tensor before has the same storage, and whether it is the same tensor.
    for (size_t i = 0; i < seen_.size(); ++i) {
      if (seen_[i]->storage() != impl.storage()) continue;
      word(2 * (i + 1) + (seen_[i] == &impl));
      seen_.push_back(&impl);
      return true;
    }
    word(0);
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
      case IValue::Tag::OptionalTensorList:
        word(v.to_optional_tensor_list().size());
        for (const std::optional<Tensor>& t : v.to_optional_tensor_list())
          if (!tensor(t ? *t : Tensor())) return false;
        return true;
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
  absl::InlinedVector<uint64_t, 48>& words_;
  absl::InlinedVector<const TensorImpl*, 4> seen_;
};

std::optional<CacheKey> CacheKey::of(const OperatorHandle& op, uint64_t rules_version,
                                     uint64_t settings, absl::Span<const IValue> arguments) {
  CacheKey key;
  Writer writer(&key);
  writer.word(reinterpret_cast<uintptr_t>(&op.entry()));
  writer.word(op.entry().defined_order());
  writer.word(rules_version);
  writer.word(settings + (static_cast<uint64_t>(default_dtype()) << 56));
  writer.word(dispatch_tls.included.bits());
  writer.word(dispatch_tls.kept.bits());
  for (const IValue& argument : arguments)
    if (!writer.value(argument)) return std::nullopt;
  key.hash_ = absl::HashOf(absl::MakeConstSpan(key.words_));
  return key;
}

}  // namespace sb::internal
