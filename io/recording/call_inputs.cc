#include "switchboard/io/recording/call_inputs.h"

#include <algorithm>

#include "switchboard/core/checked_math.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/recording/storage_contents.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {
namespace {

// Elements that stand in the source as numbers: all inputs together, so that it stays short.
constexpr size_t kMostNumbers = 60;

// Elements of a storage, more than which no recording holds.
constexpr int64_t kMostElements = int64_t{1} << 40;

}  // namespace

CallInputs::CallInputs(const RecordedRun& run, uint32_t event) : run_(run), event_(event) {
  SB_CHECK_VALUE(event < run.events.size(), "expected a call of ", run.events.size(), ", got ",
                 event);
  for (const RecordedValue& v : run.arguments(run.events[event]))
    if (v.kind == RecordedValue::Kind::Tensor && run.tensor(v).defined()) add(run.tensor(v));
  find_reach();
  for (auto& [id, storage] : storages) read_elements(id, storage);
  choose_for_file();
}

void CallInputs::add(const RecordedTensor& tensor) {
  for (const Tensor& known : tensors)
    if (known.tensor.id == tensor.id) return;
  const RecordedMeta& meta = run_.meta(tensor);
  SB_CHECK_VALUE(meta.symbols.empty(), "a tensor of sizes ", meta.symbols,
                 ", which are no numbers");
  tensors.push_back({tensor, &meta, tensor.storage, meta.offset});
}

void CallInputs::find_reach() {
  for (const Tensor& input : tensors) {
    const RecordedMeta& meta = *input.meta;
    const auto [at, first] = storages.try_emplace(input.storage);
    Storage& storage = at->second;
    SB_CHECK_VALUE(first || storage.dtype == meta.dtype,
                   "tensors of two dtypes that share their memory");
    storage.dtype = meta.dtype;
    storage.fake = storage.fake || meta.fake;
    int64_t end = input.offset;
    if (checked_numel(meta.sizes) > 0) {
      for (size_t d = 0; d < meta.sizes.size(); ++d)
        end = checked_add(end, checked_mul(meta.sizes[d] - 1, meta.strides[d]));
      end = checked_add(end, 1);
    }
    const auto [low, high] = std::minmax(input.offset, end);
    SB_CHECK_VALUE(low >= 0 && high < kMostElements, "a tensor of elements ", low, " to ", high);
    const int64_t before = storage.begin + storage.elements;
    storage.begin = first ? low : std::min(storage.begin, low);
    storage.elements = (first ? high : std::max(before, high)) - storage.begin;
  }
  for (Tensor& input : tensors) input.offset -= storages[input.storage].begin;
}

void CallInputs::read_elements(uint64_t id, Storage& storage) {
  const std::string* const bytes = storage_contents(run_, id, event_, false);
  const size_t item = itemsize(storage.dtype);
  const size_t first = static_cast<size_t>(storage.begin) * item;
  const size_t length = static_cast<size_t>(storage.elements) * item;
  storage.known = bytes && first + length <= bytes->size();
  if (storage.known) storage.bytes = bytes->substr(first, length);
  all_known = all_known && (storage.known || storage.fake || length == 0);
}

// All that have elements, where these are too many for the source: it has one kind of helper then.
void CallInputs::choose_for_file() {
  size_t numbers = 0, at = 0;
  for (const auto& [id, storage] : storages)
    if (storage.known && !storage.fake) numbers += static_cast<size_t>(storage.elements);
  if (numbers <= kMostNumbers) return;
  for (auto& [id, storage] : storages) {
    if (!storage.known || storage.fake || storage.bytes.empty()) continue;
    storage.in_file = true;
    storage.file_offset = at;
    at += storage.bytes.size();
  }
}

size_t CallInputs::find(const RecordedTensor& tensor) const {
  const auto same = [&](const Tensor& input) { return input.tensor.id == tensor.id; };
  return static_cast<size_t>(std::ranges::find_if(tensors, same) - tensors.begin());
}

std::string CallInputs::file_data() const {
  std::string data;
  for (const auto& [id, storage] : storages)
    if (storage.in_file) data += storage.bytes;
  return data;
}

bool CallInputs::has_key(const Tensor& input, const char* key) {
  return input.meta->keys.find(key) != std::string::npos;
}

std::string CallInputs::title() const {
  const RecordedSite& site = run_.site(run_.events[event_]);
  return str_cat(site.op, " at ", site.key, ", call ", event_, " of ", escape_message(run_.source),
                 all_known ? "" : ", which does not hold all inputs: zeros");
}

}  // namespace sb::io
