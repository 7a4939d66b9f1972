#include "switchboard/io/recording/value_writer.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <type_traits>
#include <vector>

#include "switchboard/autograd/variable.h"
#include "switchboard/core/scalar.h"
#include "switchboard/dispatch/schema/boxing.h"
#include "switchboard/dispatch/schema/typed_frame.h"
#include "switchboard/io/recording/tensor_bits.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::internal {

using io::RecordedValue;
using io::wire::Writer;
using io::wire::zigzag;
using Kind = RecordedValue::Kind;
using Form = io::wire::ValueForm;

namespace {

constexpr uint64_t head(Form form, uint64_t payload) {
  return payload << 2 | static_cast<uint64_t>(form);
}

class Fingerprint {
 public:
  void add(uint64_t v) { hash_ = std::rotl(hash_ ^ v, 29) * 0x9e3779b97f4a7c15; }
  uint64_t get() const { return hash_ ^ hash_ >> 32; }

 private:
  uint64_t hash_ = 0x2545f4914f6cdd1d;
};

uint64_t flags_of(const Tensor& tensor) {
  const TensorImpl& impl = *tensor.impl();
  return (needs_grad(tensor) ? 1 : 0) | (impl.mode_data() ? 2 : 0) |
         (impl.is_wrapped_number() ? 4 : 0);
}

// Dtype, device, flags and number of dimensions; never 0.
uint64_t facts_of(const Tensor& tensor) {
  const TensorImpl& impl = *tensor.impl();
  return static_cast<uint64_t>(impl.dtype()) | flags_of(tensor) << 8 |
         static_cast<uint64_t>(impl.device().type) << 16 |
         static_cast<uint64_t>(static_cast<uint8_t>(impl.device().index)) << 24 |
         static_cast<uint64_t>(impl.dim()) << 32 | uint64_t{1} << 63;
}

uint64_t fingerprint_of(const Tensor& tensor, uint64_t facts) {
  const TensorImpl& impl = *tensor.impl();
  Fingerprint f;
  f.add(impl.key_set().bits());
  f.add(facts);
  const IntArrayRef sizes = impl.hint_sizes(), strides = impl.hint_strides();
  for (size_t d = 0; d < sizes.size(); ++d) {
    f.add(static_cast<uint64_t>(sizes[d]));
    f.add(static_cast<uint64_t>(strides[d]));
  }
  if (impl.symbolic_shape()) [[unlikely]]
    f.add(std::hash<std::string>()(tensor.describe()));
  else
    f.add(static_cast<uint64_t>(impl.storage_offset()));
  return f.get();
}

std::string symbols_of(const Tensor& tensor) {
  if (!tensor.is_symbolic()) return "";
  std::string text;
  for (const SymInt& s : tensor.sym_sizes()) text += (text.empty() ? "" : ", ") + s.to_string();
  return "[" + text + "]";
}

}  // namespace

bool ValueWriter::Description::is_of(const TensorImpl& impl, uint64_t other_facts) const {
  if (facts != other_facts || keys != impl.key_set().bits() || impl.symbolic_shape()) return false;
  const IntArrayRef other_sizes = impl.hint_sizes(), other_strides = impl.hint_strides();
  bool same = offset == impl.storage_offset();
  for (size_t d = 0; d < other_sizes.size(); ++d)
    same &= sizes[d] == other_sizes[d] && strides[d] == other_strides[d];
  return same;
}

void ValueWriter::Description::set(const TensorImpl& impl, uint64_t its_facts) {
  const IntArrayRef its_sizes = impl.hint_sizes(), its_strides = impl.hint_strides();
  facts = 0;
  if (impl.symbolic_shape() || its_sizes.size() > kMostDims) return;
  facts = its_facts;
  keys = impl.key_set().bits();
  offset = impl.storage_offset();
  std::copy(its_sizes.begin(), its_sizes.end(), sizes.begin());
  std::copy(its_strides.begin(), its_strides.end(), strides.begin());
}

uint32_t ValueWriter::string(std::string_view text) {
  const auto [it, added] =
      strings_.try_emplace(io::to_absl(text), static_cast<uint32_t>(strings_.size()));
  out_.reserve(Writer::kLongest);
  out_.number(it->second);
  if (added) out_.text(text);
  return it->second;
}

void ValueWriter::device(Device device) {
  if (last_device_ && last_device_->first == device) {
    out_.reserve(Writer::kLongest);
    return out_.number(last_device_->second);
  }
  const uint32_t number = string(to_string(device));
  last_device_ = {device, number};
}

uint64_t ValueWriter::storage_id(const Storage& storage) {
  return storage ? file_.storages.find(storage.get()).id : 0;
}

void ValueWriter::tensor(const Tensor& tensor) {
  if (!tensor.defined()) return other(Kind::Tensor);
  const TensorImpl* const impl = tensor.impl();
  const uint64_t epoch = file_.tensors.epoch() + file_.storages.epoch();
  Known& known = known_[reinterpret_cast<uintptr_t>(impl) / 64 % known_.size()];
  const uint64_t facts = facts_of(tensor);
  if (known.impl == impl && known.epoch == epoch && known.storage == impl->storage().get() &&
      known.version == impl->version() && file_.bits() == RecordedBits::Nothing &&
      known.description.is_of(*impl, facts)) [[likely]] {
    out_.reserve(Writer::kLongest);
    out_.number(head(Form::SameTensor, zigzag(static_cast<int64_t>(known.id - last_tensor_))));
    last_tensor_ = known.id;
    return;
  }
  tensor_anew(tensor, &known, facts, epoch);
}

void ValueWriter::tensor_anew(const Tensor& tensor, Known* known, uint64_t facts, uint64_t epoch) {
  using namespace io::wire;  // NOLINT: what is said anew
  const TensorImpl* const impl = tensor.impl();
  const uint64_t meta = fingerprint_of(tensor, facts);
  const StorageImpl* const storage = impl->storage().get();
  uint8_t what = 0;
  if (known->impl != impl || known->epoch != epoch) {
    known->impl = impl;
    known->id = file_.tensors.find(impl).id;
    known->epoch = epoch;
    known->hash = 0;
    what = kMeta | kStorage | kVersion;
  }
  if (known->meta != meta) what |= kMeta;
  if (known->storage != storage) what |= kStorage;
  if (known->version != impl->version()) what |= kVersion;
  uint64_t hash = 0;
  if (file_.bits() != RecordedBits::Nothing && io::has_bits(tensor))
    hash = io::hash_elements(tensor);
  if (known->hash != hash) what |= kHash;
  uint64_t storage_number = 0;
  if (what & kStorage && storage) {
    const auto found = file_.storages.find(storage);
    storage_number = found.id;
    if (found.is_new || (!bare_storages_.empty() && bare_storages_.erase(storage_number) != 0))
      what |= kStorageFacts;
  } else if (storage && known->nbytes != storage->nbytes()) {
    what |= kStorageFacts;
  }
  known->description.set(*impl, facts);
  known->meta = meta;
  known->storage = storage;
  known->nbytes = storage ? storage->nbytes() : 0;
  known->version = impl->version();
  known->hash = hash;

  const uint64_t id = zigzag(static_cast<int64_t>(known->id - last_tensor_));
  last_tensor_ = known->id;
  out_.reserve(8 * Writer::kLongest);
  if (what == 0) return out_.number(head(Form::SameTensor, id));
  out_.number(head(Form::Tensor, id));
  out_.byte(what);
  if (what & kMeta) this->meta(tensor, meta);
  if (what & kStorage) {
    out_.number(zigzag(static_cast<int64_t>(storage_number - last_storage_)));
    last_storage_ = storage_number;
  }
  if (what & kStorageFacts) {
    out_.number(known->nbytes);
    device(storage->device());
  }
  out_.reserve(2 * Writer::kLongest);
  if (what & kVersion) out_.number(known->version);
  if (what & kHash) out_.word(hash);
}

void ValueWriter::meta(const Tensor& tensor, uint64_t fingerprint) {
  const auto [it, added] = metas_.try_emplace(fingerprint, static_cast<uint32_t>(metas_.size()));
  out_.reserve(Writer::kLongest);
  out_.number(it->second);
  if (!added) return;
  const TensorImpl& impl = *tensor.impl();
  string(to_string(impl.dtype()));
  string(to_string(impl.device()));
  const IntArrayRef sizes = impl.hint_sizes();
  out_.reserve((2 * sizes.size() + 4) * Writer::kLongest);
  out_.number(sizes.size());
  for (const IntArrayRef list : {sizes, impl.hint_strides()})
    for (const int64_t n : list) out_.number(zigzag(n));
  out_.number(zigzag(tensor.is_symbolic() ? 0 : impl.storage_offset()));
  string(symbols_of(tensor));
  string(to_string(impl.key_set()));
  out_.reserve(1);
  out_.byte(static_cast<uint8_t>(flags_of(tensor)));
}

void ValueWriter::other(Kind kind, size_t room) {
  out_.reserve(Writer::kLongest + room);
  out_.number(head(Form::Other, static_cast<uint64_t>(kind)));
}

void ValueWriter::integer(int64_t v) {
  // Two bits of a number are taken.
  if (v < int64_t{1} << 60 && v > -(int64_t{1} << 60)) [[likely]] {
    out_.reserve(Writer::kLongest);
    out_.number(head(Form::Int, zigzag(v)));
    return;
  }
  other(Kind::Int, 8);
  out_.word(static_cast<uint64_t>(v));
}

void ValueWriter::real(double v) {
  other(Kind::Double, 8);
  out_.word(std::bit_cast<uint64_t>(v));
}

void ValueWriter::text_value(Kind kind, std::string_view text) {
  other(kind);
  out_.text(text);
}

void ValueWriter::list(Kind kind, size_t count) {
  other(kind, Writer::kLongest);
  out_.number(count);
}

void ValueWriter::generator(const Generator& generator) {
  const Device device = generator->device();
  string(to_string(device));
  std::vector<uint8_t> state;
  {
    const std::lock_guard lock(generator->mutex);
    state = generator->state();
  }
  out_.reserve(1);
  out_.byte(device.is_cpu() && generator == default_cpu_generator());
  out_.text({reinterpret_cast<const char*>(state.data()), state.size()});
}

// Writes a value of any C++ type of schemas.
struct ValueWriter::Visitor {
  ValueWriter& w;

  void operator()(const IValue& v) const { w.value(v); }
  void operator()(const Tensor& v) const { w.tensor(v); }
  void operator()(int64_t v) const { w.integer(v); }
  void operator()(double v) const { w.real(v); }
  void operator()(bool v) const {
    w.other(Kind::Bool, 1);
    w.out_.byte(v);
  }
  void operator()(std::complex<double> v) const {
    w.other(Kind::Complex, 16);
    w.out_.word(std::bit_cast<uint64_t>(v.real()));
    w.out_.word(std::bit_cast<uint64_t>(v.imag()));
  }
  void operator()(const SymInt& v) const {
    if (v.is_symbolic()) return w.text_value(Kind::Symbol, v.to_string());
    w.integer(v.expect_int());
  }
  void operator()(const Scalar& v) const {
    if (v.is_symbolic() || v.is_complex()) return w.value(IValue(v));
    if (v.is_int()) return w.integer(v.to<int64_t>());
    if (v.is_bool()) return (*this)(v.to<bool>());
    w.real(v.to<double>());
  }
  void operator()(const std::string& v) const { w.text_value(Kind::String, v); }
  void operator()(std::string_view v) const { w.text_value(Kind::String, v); }
  void operator()(DType v) const { name(Kind::DType, to_string(v)); }
  void operator()(Device v) const { name(Kind::Device, to_string(v)); }
  void operator()(Layout v) const { name(Kind::Layout, to_string(v)); }
  void operator()(MemoryFormat v) const { name(Kind::MemoryFormat, to_string(v)); }
  void operator()(const Generator& v) const {
    if (!v) return w.other(Kind::None);
    w.other(Kind::Generator);
    w.generator(v);
  }
  void operator()(const Storage& v) const {
    if (!v) return w.other(Kind::None);
    w.other(Kind::Storage, Writer::kLongest);
    const auto [id, is_new] = w.file_.storages.find(v.get());
    if (is_new) w.bare_storages_.insert(id);
    w.out_.number(zigzag(static_cast<int64_t>(id - w.last_storage_)));
    w.last_storage_ = id;
  }
  template <class T>
  void operator()(const std::optional<T>& v) const {
    if (!v) return w.other(Kind::None);
    (*this)(*v);
  }
  template <class T>
  void operator()(const OptionalSpan<T>& v) const {
    if (!v) return w.other(Kind::None);
    (*this)(*v);
  }
  template <class T>
  void operator()(absl::Span<const T> v) const {
    elements<T>(v);
  }
  template <class T>
  void operator()(const std::vector<T>& v) const {
    elements<T>(v);
  }

 private:
  void name(Kind kind, std::string_view text) const {
    w.other(kind);
    w.string(text);
  }
  template <class T, class List>
  void elements(const List& v) const {
    constexpr Kind kind = std::is_same_v<T, Tensor>                  ? Kind::TensorList
                          : std::is_same_v<T, std::optional<Tensor>> ? Kind::OptionalTensorList
                          : std::is_same_v<T, bool>                  ? Kind::BoolList
                          : std::is_same_v<T, double>                ? Kind::DoubleList
                          : std::is_same_v<T, int64_t> || std::is_same_v<T, SymInt> ? Kind::IntList
                                                                                    : Kind::List;
    w.list(kind, v.size());
    for (size_t i = 0; i < v.size(); ++i) (*this)(static_cast<const T&>(v[i]));
  }
};

void ValueWriter::typed_value(TypeCode code, const void* value) {
  with_argument(code, value, Visitor{*this});
}

void ValueWriter::typed_result(TypeCode code, void* value) {
  with_result(code, value, Visitor{*this});
}

void ValueWriter::value(const IValue& v) {
  const Visitor visit{*this};
  switch (v.tag()) {
    case IValue::Tag::None:
      return other(Kind::None);
    case IValue::Tag::Tensor:
      return tensor(v.unchecked_tensor());
    case IValue::Tag::Int:
      return integer(v.to_int());
    case IValue::Tag::Double:
      return real(v.to_double());
    case IValue::Tag::Bool:
      return visit(v.to_bool());
    case IValue::Tag::Device:
      return visit(v.to_device());
    case IValue::Tag::DType:
      return visit(v.to_dtype());
    case IValue::Tag::Layout:
      return visit(v.to_layout());
    case IValue::Tag::MemoryFormat:
      return visit(v.to_memory_format());
    case IValue::Tag::SymInt:
    case IValue::Tag::SymFloat:
    case IValue::Tag::SymBool:
      return text_value(Kind::Symbol, v.to_string());
    case IValue::Tag::Complex:
      return visit(v.to_complex());
    case IValue::Tag::String:
      return text_value(Kind::String, v.to_string_view());
    case IValue::Tag::IntList:
      return visit(v.to_int_list());
    case IValue::Tag::SymIntList:
      return visit(v.to_sym_int_list());
    case IValue::Tag::DoubleList:
      return visit(v.to_double_list());
    case IValue::Tag::BoolList:
      return visit(v.to_bool_list());
    case IValue::Tag::TensorList:
      return visit(v.to_tensor_list());
    case IValue::Tag::OptionalTensorList:
      return visit(v.to_optional_tensor_list());
    case IValue::Tag::List:
      return visit(v.to_list());
    case IValue::Tag::Generator:
      return visit(v.to_generator());
    case IValue::Tag::Storage:
      return visit(v.to_storage());
    case IValue::Tag::Object:
      return text_value(Kind::Opaque, v.to_object()->class_name());
  }
}

}  // namespace sb::internal
