#include "switchboard/fake/cache_key.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>
#include <typeinfo>
#include <utility>

#include "switchboard/core/dtype.h"
#include "switchboard/dispatch/dispatch_tls.h"
#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/dispatch/operator_entry.h"
#include "switchboard/dispatch/schema/boxing.h"
#include "switchboard/fake/symbolic/expr_sym_node.h"

namespace sb::internal {
namespace {

// What a walk through a call does with its words, which come in pairs. put() returns whether the
// walk goes on.
struct HashedWords {
  bool put(uint64_t a, uint64_t b) {
    // Every bit of both changes all of the hash.
    const auto product =
        static_cast<unsigned __int128>(hash ^ a) * (b ^ uint64_t{0x9e3779b97f4a7c15});
    hash = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    return true;
  }
  uint64_t hash = 0;
};
struct WrittenWords {
  WrittenWords() { words.reserve(64); }  // most calls have fewer
  bool put(uint64_t a, uint64_t b) {
    words.push_back(a);
    words.push_back(b);
    return true;
  }
  std::vector<uint64_t> words;
};
// Stops at the first word that differs, which is there before these end: the first word of a value
// tells how many pairs follow.
struct ComparedWords {
  bool put(uint64_t a, uint64_t b) {
    if (next[0] != a || next[1] != b) return false;
    next += 2;
    return true;
  }
  const uint64_t* next;
};

}  // namespace

// Goes through all that decides a call. Its functions return false where the words stop, and where
// there is no key.
template <class Words>
class CacheKey::Walk {
 public:
  explicit Walk(const ShapeEnv* env, Words words = {}) : words(std::move(words)), env_(env) {}

  bool call(const CacheKey& key) {
    const OperatorEntry& op = key.op_.entry();
    return words.put(reinterpret_cast<uintptr_t>(&op), op.defined_order()) &&
           // A trace changes nothing.
           words.put((dispatch_tls.included - DispatchKey::Observed).bits(),
                     dispatch_tls.kept.bits()) &&
           words.put(key.rules_version_, op.dispatcher().kernel_registrations()) &&
           words.put(key.settings_, static_cast<uint64_t>(default_dtype())) &&
           (key.frame_ ? typed(*key.frame_, key.data_) : stacked(key.stacked_));
  }
  Words words;

 private:
  // As many as the words have bits for.
  static constexpr size_t kMostDims = 255, kMostSymbolicDims = 63, kMostTensors = 32767;

  bool stacked(absl::Span<const IValue> arguments) {
    return std::ranges::all_of(arguments, [this](const IValue& v) { return value(v); });
  }
  bool typed(const TypedFrame& frame, const ModeData* data) {
    const absl::Span<const TypeCode> codes = frame.description.types->arguments;
    for (size_t i = 0; i < codes.size(); ++i) {
      const void* const argument = frame.arguments[i];
      if (codes[i] == SB_T(Tensor)) {
        const TensorImpl& impl = *static_cast<const Tensor*>(argument)->impl();
        if (!(impl.mode_data().get() == data ? tensor(impl) : undefined(impl))) return false;
      } else if (codes[i] == SB_T(Scalar) && static_cast<const Scalar*>(argument)->is_int() &&
                 !static_cast<const Scalar*>(argument)->is_symbolic()) {  // most often, 1
        if (!pair(IValue::Tag::Int, static_cast<const Scalar*>(argument)->to<int64_t>()))
          return false;
      } else if (!boxed(box_argument(codes[i], argument), data)) {
        return false;
      }
    }
    return true;
  }
  bool boxed(const IValue& v, const ModeData* data) {
    bool plain = true;
    v.for_each_tensor([&](const Tensor& t) {
      plain = plain && (!t.defined() || t.impl()->mode_data().get() == data);
    });
    return plain && value(v);
  }

  bool undefined(const TensorImpl& impl) { return !impl.defined() && pair(IValue::Tag::Tensor, 0); }
  // A tensor that is defined.
  [[gnu::always_inline]] bool tensor(const TensorImpl& impl) {
    const size_t rank = impl.hint_sizes().size();
    // The scale of a quantized one would have to be part of the key, and of the result.
    if (impl.quantizer() || rank > kMostDims || seen_ == kMostTensors) [[unlikely]]
      return false;
    const StorageImpl& storage = *impl.storage();
    const SymbolicShape* const symbols = impl.symbolic_shape();
    const int64_t* const sizes = impl.hint_sizes().data();
    const int64_t* const strides = impl.hint_strides().data();
    const uint64_t facts = static_cast<uint64_t>(IValue::Tag::Tensor) +
                           (static_cast<uint64_t>(impl.dtype()) << 8) +
                           (static_cast<uint64_t>(impl.is_wrapped_number()) << 16) +
                           (static_cast<uint64_t>(impl.autograd_meta() != nullptr) << 17) +
                           (static_cast<uint64_t>(storage.resizable()) << 18) +
                           (static_cast<uint64_t>(symbols != nullptr) << 19) +
                           (static_cast<uint64_t>(std::bit_cast<uint16_t>(impl.device())) << 24) +
                           (static_cast<uint64_t>(rank) << 40) + (alias_of_earlier(impl) << 48);
    if (!words.put(facts, impl.key_set().bits())) return false;
    if (symbols) [[unlikely]] {
      if (!shape(*symbols)) return false;
    } else {
      for (size_t d = 0; d < rank; ++d)
        if (!words.put(static_cast<uint64_t>(sizes[d]), static_cast<uint64_t>(strides[d])))
          return false;
    }
    if (seen_ < kFew) [[likely]]
      few_[seen_] = &impl;
    else
      more_.push_back(&impl);
    ++seen_;
    return words.put(symbols ? 0 : static_cast<uint64_t>(impl.storage_offset()), storage.nbytes());
  }
  // Which of the numbers are symbols, and all of them.
  [[gnu::noinline]] bool shape(const SymbolicShape& symbols) {
    const size_t rank = symbols.sizes.size();
    if (!env_ || rank > kMostSymbolicDims) return false;
    uint64_t of_sizes = 0, of_strides = 0;
    for (size_t d = 0; d < rank; ++d) {
      of_sizes |= static_cast<uint64_t>(symbols.sizes[d].is_symbolic()) << d;
      of_strides |= static_cast<uint64_t>(symbols.strides[d].is_symbolic()) << d;
    }
    of_sizes |= static_cast<uint64_t>(symbols.storage_offset.is_symbolic()) << kMostSymbolicDims;
    uint64_t size = 0, stride = 0;
    if (!words.put(of_sizes, of_strides)) return false;
    for (size_t d = 0; d < rank; ++d)
      if (!word(symbols.sizes[d], &size) || !word(symbols.strides[d], &stride) ||
          !words.put(size, stride))
        return false;
    return word(symbols.storage_offset, &size) && words.put(size, 0);
  }
  // A number, or the expression of a symbol, which the environment keeps.
  bool word(const SymInt& number, uint64_t* to) const {
    if (number.is_symbolic()) return word(*number.node(), to);
    *to = static_cast<uint64_t>(number.expect_int());
    return true;
  }
  bool word(const SymNode& symbol, uint64_t* to) const {
    if (typeid(symbol) != typeid(ExprSymNode)) return false;
    const auto& node = static_cast<const ExprSymNode&>(symbol);
    *to = reinterpret_cast<uintptr_t>(node.expr());
    return &node.env() == env_;
  }

  bool value(const IValue& v) {
    switch (v.tag()) {
      case IValue::Tag::None:
        return pair(v.tag(), 0);
      case IValue::Tag::Tensor:
        return one(v.unchecked_tensor());
      case IValue::Tag::Int:
        return pair(v.tag(), v.to_int());
      case IValue::Tag::Double:
        return pair(v.tag(), std::bit_cast<int64_t>(v.to_double()));
      case IValue::Tag::Bool:
        return pair(v.tag(), v.to_bool());
      case IValue::Tag::Device:
        return pair(v.tag(), static_cast<int64_t>(v.to_device().type) + 256 * v.to_device().index);
      case IValue::Tag::DType:
        return pair(v.tag(), static_cast<int64_t>(v.to_dtype()));
      case IValue::Tag::Layout:
        return pair(v.tag(), static_cast<int64_t>(v.to_layout()));
      case IValue::Tag::MemoryFormat:
        return pair(v.tag(), static_cast<int64_t>(v.to_memory_format()));
      case IValue::Tag::Complex:
        return pair(v.tag(), std::bit_cast<int64_t>(v.to_complex().real())) &&
               words.put(std::bit_cast<uint64_t>(v.to_complex().imag()), 0);
      case IValue::Tag::SymInt:
        return symbol(v.tag(), *v.to_sym_int().node());
      case IValue::Tag::SymFloat:
        return symbol(v.tag(), *v.to_sym_float().node());
      case IValue::Tag::SymBool:
        return symbol(v.tag(), *v.to_sym_bool().node());
      case IValue::Tag::SymIntList:
        return pair(v.tag(), static_cast<int64_t>(v.to_sym_int_list().size())) &&
               std::ranges::all_of(v.to_sym_int_list(), [this](const SymInt& i) {
                 uint64_t number = 0;
                 return word(i, &number) && words.put(i.is_symbolic(), number);
               });
      case IValue::Tag::String:
        return list(v.tag(), v.to_string_view(), [](char c) { return c; });
      case IValue::Tag::IntList:
        return list(v.tag(), v.to_int_list(), [](int64_t i) { return i; });
      case IValue::Tag::DoubleList:
        return list(v.tag(), v.to_double_list(),
                    [](double d) { return std::bit_cast<int64_t>(d); });
      case IValue::Tag::BoolList:
        return list(v.tag(), v.to_bool_list(), [](bool b) { return b; });
      case IValue::Tag::TensorList:
        return pair(v.tag(), static_cast<int64_t>(v.to_tensor_list().size())) &&
               std::ranges::all_of(v.to_tensor_list(), [this](const Tensor& t) { return one(t); });
      case IValue::Tag::OptionalTensorList:
        return pair(v.tag(), static_cast<int64_t>(v.to_optional_tensor_list().size())) &&
               std::ranges::all_of(
                   v.to_optional_tensor_list(),
                   [this](const std::optional<Tensor>& t) { return one(t ? *t : Tensor()); });
      case IValue::Tag::List:
        return pair(v.tag(), static_cast<int64_t>(v.to_list().size())) && stacked(v.to_list());
      default:
        return false;
    }
  }
  bool one(const Tensor& t) { return t.defined() ? tensor(*t.impl()) : undefined(*t.impl()); }
  bool pair(IValue::Tag tag, int64_t number) {
    return words.put(static_cast<uint64_t>(tag), static_cast<uint64_t>(number));
  }
  bool symbol(IValue::Tag tag, const SymNode& node) {
    uint64_t expression = 0;
    return word(node, &expression) && words.put(static_cast<uint64_t>(tag), expression);
  }
  bool list(IValue::Tag tag, const auto& values, auto&& number) {
    if (!pair(tag, static_cast<int64_t>(values.size()))) return false;
    return std::ranges::all_of(
        values, [&](auto v) { return words.put(static_cast<uint64_t>(int64_t{number(v)}), 0); });
  }

  // Which tensor before has the same storage, and whether it is the same tensor; 0: none.
  uint64_t alias_of_earlier(const TensorImpl& impl) const {
    for (size_t i = 0; i < seen_; ++i) {
      const TensorImpl* const earlier = i < kFew ? few_[i] : more_[i - kFew];
      if (earlier->storage() == impl.storage()) return 2 * (i + 1) + (earlier == &impl);
    }
    return 0;
  }

  const ShapeEnv* const env_;
  // The tensors so far.
  static constexpr size_t kFew = 8;
  size_t seen_ = 0;
  const TensorImpl* few_[kFew];
  std::vector<const TensorImpl*> more_;
};

std::optional<uint64_t> CacheKey::hash() const {
  Walk<HashedWords> walk(env_);
  return walk.call(*this) ? std::optional(walk.words.hash) : std::nullopt;
}

bool CacheKey::is(absl::Span<const uint64_t> words) const {
  Walk<ComparedWords> walk(env_, {words.data()});
  return walk.call(*this) && walk.words.next == words.data() + words.size();
}

std::vector<uint64_t> CacheKey::words() const {
  Walk<WrittenWords> walk(env_);
  walk.call(*this);
  return std::move(walk.words.words);
}

}  // namespace sb::internal
