#include "switchboard/io/recording/recording.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/recording/wire.h"
#include "switchboard/io/safetensors/input_file.h"
#include "switchboard/io/safetensors/quote.h"

namespace sb::io {
namespace {

using wire::Record;
using wire::ValueForm;
using Kind = RecordedValue::Kind;

constexpr int kMaxListDepth = 16;
// Calls within calls: more than a program's stack has room for, and few enough to recurse over.
constexpr size_t kMaxCallDepth = 4096;
constexpr size_t kMaxFile = size_t{1} << 36;
constexpr uint64_t kMaxLostStorages = uint64_t{1} << 20;
constexpr uint64_t kMaxTensors = uint64_t{1} << 48;

// Gives equal things one index.
template <class T>
class Interned {
 public:
  explicit Interned(std::vector<T>* all) : all_(all) {}
  uint32_t add(T value, std::string key) {
    const auto [it, added] = index_.try_emplace(std::move(key), all_->size());
    if (added) all_->push_back(std::move(value));
    return it->second;
  }

 private:
  std::vector<T>* all_;
  absl::flat_hash_map<std::string, uint32_t> index_;
};

// What the chunks of one thread have said so far.
struct ThreadState {
  uint32_t thread = 0;
  uint64_t now = 0;
  uint64_t last_tensor = 0, last_storage = 0;
  uint32_t context = 0;
  uint32_t generator = RecordedEvent::kNone;  // of the next event
  std::vector<uint32_t> strings, sites, metas, contexts;
  absl::flat_hash_map<uint64_t, RecordedTensor> tensors;
  std::vector<uint32_t> running;
  std::vector<RecordedEvent> events;  // parents are indices in this vector
  std::optional<uint32_t> entered, left;
};

struct LocalContents {
  uint32_t thread;
  RecordedContents contents;  // its event is an index in that thread
};

class Parser {
 public:
  Parser(std::string_view bytes, const std::string& source)
      : bytes_(bytes),
        source_(source),
        strings_(&run_.strings),
        sites_(&run_.sites),
        metas_(&run_.metas),
        contexts_(&run_.contexts) {
    run_.source = source;
    run_.storages.emplace_back();
  }

  RecordedRun parse() {
    read_header();
    try {
      read_chunks();
    } catch (const ValueError& error) {
      run_.fault = str_cat(source_, ": byte ", at_, ": ", error.what());
    }
    finish();
    return std::move(run_);
  }

 private:
  void read_header();
  void read_chunks();
  void read_records(ThreadState& t, std::string_view payload);
  void read_record(ThreadState& t, wire::Reader& r);
  void more(ThreadState& t, wire::Reader& r, uint64_t what);
  RecordedGenerator read_generator(ThreadState& t, wire::Reader& r);
  uint32_t read_site(ThreadState& t, wire::Reader& r);
  uint32_t read_meta(ThreadState& t, wire::Reader& r);
  uint32_t read_context(ThreadState& t, wire::Reader& r);
  void enter(ThreadState& t, wire::Reader& r, uint64_t site);
  void leave(ThreadState& t, wire::Reader& r, bool threw);
  void read_value(ThreadState& t, wire::Reader& r, int depth = 0);
  void read_tensor(ThreadState& t, wire::Reader& r, bool anew, uint64_t zigzag);
  void add_value(Kind kind, int64_t number, size_t count = 0) {
    run_.values.push_back({kind, static_cast<uint32_t>(count), number});
  }
  uint64_t storage_id(wire::Reader& r, ThreadState& t);
  uint32_t string_index(ThreadState& t, wire::Reader& r) {
    return numbered(t.strings, r.number(), "text", [&] {
      std::string text(r.text());
      return strings_.add(text, text);
    });
  }
  const std::string& string(ThreadState& t, wire::Reader& r) {
    return run_.strings[string_index(t, r)];
  }
  // What has that number on a thread. One past the last is read.
  template <class F>
  uint32_t numbered(std::vector<uint32_t>& table, uint64_t i, const char* what, F&& read) {
    SB_CHECK_VALUE(i <= table.size(), "expected a ", what, " of ", table.size(), ", got number ",
                   i);
    if (i == table.size()) {
      const uint32_t added = read();  // which may read others of the table
      table.push_back(added);
      return added;
    }
    return table[i];
  }
  static void pass_time(ThreadState& t, wire::Reader& r) {
    // Calls are put in the order of their times.
    SB_CHECK_VALUE(!__builtin_add_overflow(t.now, r.number(), &t.now), "a time without end");
  }
  void finish();

  std::string_view bytes_;
  const std::string& source_;
  RecordedRun run_;
  size_t at_ = 0;
  std::vector<ThreadState> threads_;
  absl::flat_hash_map<uint32_t, uint32_t> thread_places_;  // in threads_, by number in the file
  std::vector<LocalContents> contents_;
  Interned<std::string> strings_;
  Interned<RecordedSite> sites_;
  Interned<RecordedMeta> metas_;
  Interned<RecordedContext> contexts_;
};

void Parser::read_header() {
  SB_CHECK_VALUE(
      bytes_.size() >= wire::kMagic.size() && bytes_.substr(0, wire::kMagic.size()) == wire::kMagic,
      source_, ": expected a recording, which begins with ", wire::kMagic);
  if (bytes_.size() < wire::kFileHeader) return;  // read_chunks() says so
  uint32_t words[2];
  std::memcpy(words, bytes_.data() + wire::kMagic.size(), sizeof(words));
  run_.version = words[0];
  SB_CHECK_VALUE(run_.version >= 1 && run_.version <= kRecordingVersion, source_,
                 ": a recording of version ", run_.version, "; this program reads versions 1 to ",
                 kRecordingVersion);
  run_.has_hashes = words[1] & wire::kHashes;
  run_.has_contents = words[1] & wire::kContents;
}

void Parser::read_chunks() {
  SB_CHECK_VALUE(bytes_.size() >= wire::kFileHeader, "the file ends in its header");
  at_ = wire::kFileHeader;
  while (true) {
    const std::string_view rest = bytes_.substr(at_);
    SB_CHECK_VALUE(rest.size() >= wire::kChunkHeader,
                   "the file ends without its last chunk: the recording was not closed");
    uint32_t words[4];
    uint64_t hash;
    std::memcpy(words, rest.data(), sizeof(words));
    std::memcpy(&hash, rest.data() + sizeof(words), sizeof(hash));
    SB_CHECK_VALUE(words[0] == wire::kChunkMagic, "expected a chunk");
    const size_t length = words[2];
    SB_CHECK_VALUE(length <= rest.size() - wire::kChunkHeader, "the file ends in a chunk of ",
                   length, " bytes, after ", rest.size() - wire::kChunkHeader, " of them");
    const std::string_view payload = rest.substr(wire::kChunkHeader, length);
    SB_CHECK_VALUE(wire::hash_bytes(payload.data(), length) == hash,
                   "the chunk's bytes are not those that were written");
    if (words[1] == wire::kEndOfFile) return;
    const auto [it, added] =
        thread_places_.try_emplace(words[1], static_cast<uint32_t>(threads_.size()));
    if (added) threads_.emplace_back().thread = it->second + 1;
    read_records(threads_[it->second], payload);
    at_ += wire::kChunkHeader + length;
  }
}

void Parser::read_records(ThreadState& t, std::string_view payload) {
  wire::Reader r(payload);
  const size_t chunk = at_;
  try {
    while (!r.done()) read_record(t, r);
  } catch (const ValueError&) {
    at_ = chunk + wire::kChunkHeader + r.at();
    throw;
  }
}

void Parser::read_record(ThreadState& t, wire::Reader& r) {
  const uint64_t head = r.number();
  const uint64_t payload = head >> wire::kRecordBits;
  switch (static_cast<Record>(head & ((1 << wire::kRecordBits) - 1))) {
    case Record::Enter:
      return enter(t, r, payload);
    case Record::Leave:
      return leave(t, r, payload & 1);
    case Record::Context:
      t.context = numbered(t.contexts, payload, "context", [&] { return read_context(t, r); });
      return;
    case Record::More:
      return more(t, r, payload);
  }
}

void Parser::more(ThreadState& t, wire::Reader& r, uint64_t what) {
  switch (static_cast<wire::More>(what)) {
    case wire::More::Contents: {
      RecordedContents contents;
      contents.storage = r.number();
      contents.after = r.byte() & 1;
      const std::optional<uint32_t> event = contents.after ? t.left : t.entered;
      SB_CHECK_VALUE(event, "contents of no call");
      contents.event = *event;
      contents.bytes = std::string(r.text());
      contents_.push_back({t.thread, std::move(contents)});
      return;
    }
    case wire::More::Generator:
      t.generator = static_cast<uint32_t>(run_.generators.size());
      run_.generators.push_back(read_generator(t, r));
      return;
  }
  SB_THROW(ValueError, "expected a record, got one of kind ", what);
}

RecordedGenerator Parser::read_generator(ThreadState& t, wire::Reader& r) {
  RecordedGenerator generator;
  generator.device = string(t, r);
  generator.is_default = r.byte() & 1;
  const std::string_view state = r.text();
  generator.state.assign(state.begin(), state.end());
  return generator;
}

uint32_t Parser::read_site(ThreadState& t, wire::Reader& r) {
  RecordedSite site;
  for (std::string* text :
       {&site.op, &site.schema, &site.key, &site.keys, &site.where, &site.reason})
    *text = string(t, r);
  site.num_arguments = r.small_number("a number of arguments");
  site.num_results = r.small_number("a number of results");
  site.written.resize(r.count("written arguments"));
  for (uint32_t& i : site.written) i = r.small_number("an argument");
  site.seeded = r.byte() & 1;
  std::string key = str_cat(site.op, "\n", site.schema, "\n", site.keys, "\n", site.where, "\n",
                            site.reason, "\n", site.key, "\n", site.num_arguments, "\n",
                            site.num_results, "\n", site.seeded ? 1 : 0);
  for (const uint32_t i : site.written) key += str_cat(",", i);
  return sites_.add(std::move(site), std::move(key));
}

uint32_t Parser::read_meta(ThreadState& t, wire::Reader& r) {
  RecordedMeta meta;
  const std::string& dtype = string(t, r);
  const std::optional<DType> found = find_dtype(dtype);
  SB_CHECK_VALUE(found, "expected a dtype, got ", quote(dtype));
  meta.dtype = *found;
  meta.device = string(t, r);
  const size_t rank = r.count("dimensions");
  for (std::vector<int64_t>* list : {&meta.sizes, &meta.strides}) {
    list->resize(rank);
    for (int64_t& n : *list) n = r.signed_number();
  }
  meta.offset = r.signed_number();
  meta.symbols = string(t, r);
  meta.keys = string(t, r);
  const uint8_t flags = r.byte();
  meta.requires_grad = flags & 1;
  meta.fake = flags & 2;
  meta.wrapped_number = flags & 4;
  std::string key = str_cat(to_string(meta.dtype), "\n", meta.device, "\n", meta.symbols, "\n",
                            meta.keys, "\n", meta.offset, "\n", int{flags});
  for (const int64_t n : meta.sizes) key += str_cat(",", n);
  for (const int64_t n : meta.strides) key += str_cat(":", n);
  return metas_.add(std::move(meta), std::move(key));
}

uint32_t Parser::read_context(ThreadState& t, wire::Reader& r) {
  RecordedContext context;
  std::string key;
  for (std::vector<std::string>* list : {&context.included, &context.excluded}) {
    const size_t n = r.count("keys");
    for (size_t i = 0; i < n; ++i) list->push_back(string(t, r));
    for (const std::string& name : *list) key += name + ",";
    key += ";";
  }
  const uint8_t flags = r.byte();
  context.grad = flags & 1;
  context.inference = flags & 2;
  context.mode = flags & 4;
  key += str_cat(int{flags});
  return contexts_.add(std::move(context), std::move(key));
}

void Parser::enter(ThreadState& t, wire::Reader& r, uint64_t site) {
  SB_CHECK_VALUE(t.running.size() < kMaxCallDepth, "calls within calls, ", kMaxCallDepth,
                 " of them");
  RecordedEvent event;
  event.site = numbered(t.sites, site, "kernel", [&] { return read_site(t, r); });
  event.thread = t.thread;
  event.parent = t.running.empty() ? RecordedEvent::kNone : t.running.back();
  event.depth = static_cast<uint32_t>(t.running.size());
  event.context = t.context;
  event.generator = std::exchange(t.generator, RecordedEvent::kNone);
  event.first_argument = run_.values.size();
  for (uint32_t i = 0; i < run_.sites[event.site].num_arguments; ++i) read_value(t, r);
  event.end_arguments = event.first_result = event.first_written = event.end_written =
      run_.values.size();
  pass_time(t, r);
  event.start = event.end = t.now;
  t.entered = static_cast<uint32_t>(t.events.size());
  t.running.push_back(*t.entered);
  t.events.push_back(event);
}

void Parser::leave(ThreadState& t, wire::Reader& r, bool threw) {
  SB_CHECK_VALUE(!t.running.empty(), "the end of a call that did not begin");
  t.left = t.running.back();
  RecordedEvent& event = t.events[*t.left];
  const RecordedSite& site = run_.sites[event.site];
  pass_time(t, r);
  const uint64_t first = run_.values.size();
  for (uint32_t i = 0; !threw && i < site.num_results; ++i) read_value(t, r);
  const uint64_t written = run_.values.size();
  for (size_t i = 0; !threw && i < site.written.size(); ++i) read_value(t, r);
  t.running.pop_back();
  event.end = t.now;
  event.ended = true;
  event.threw = threw;
  event.first_result = first;
  event.first_written = written;
  event.end_written = run_.values.size();
}

uint64_t Parser::storage_id(wire::Reader& r, ThreadState& t) {
  t.last_storage += static_cast<uint64_t>(r.signed_number());
  // Each takes a byte, or a thread has made it whose chunk is lost.
  SB_CHECK_VALUE(t.last_storage <= bytes_.size() + kMaxLostStorages, "storage number ",
                 t.last_storage, " is too large");
  if (t.last_storage >= run_.storages.size()) run_.storages.resize(t.last_storage + 1);
  return t.last_storage;
}

void Parser::read_tensor(ThreadState& t, wire::Reader& r, bool anew, uint64_t zigzag) {
  t.last_tensor += static_cast<uint64_t>(wire::unzigzag(zigzag));
  const uint64_t id = t.last_tensor;
  SB_CHECK_VALUE(id != 0 && id <= kMaxTensors, "tensor number ", id, " is out of range");
  run_.num_tensors = std::max(run_.num_tensors, id);
  const auto [it, added] = t.tensors.try_emplace(id);
  RecordedTensor& tensor = it->second;
  SB_CHECK_VALUE(anew || !added, "tensor number ", id, " was not described");
  if (anew) {
    const uint8_t what = r.byte();
    SB_CHECK_VALUE(!added || (what & wire::kMeta), "tensor number ", id, " was not described");
    tensor.id = id;
    if (what & wire::kMeta)
      tensor.meta =
          numbered(t.metas, r.number(), "description of tensors", [&] { return read_meta(t, r); });
    if (what & wire::kStorage) tensor.storage = storage_id(r, t);
    if (what & wire::kStorageFacts) {
      RecordedStorage& storage = run_.storages.at(tensor.storage);
      storage.nbytes = std::max(storage.nbytes, r.number());
      storage.device = string(t, r);
    }
    if (what & wire::kVersion) tensor.version = r.small_number("a version");
    if (what & wire::kHash) tensor.hash = r.word();
  }
  add_value(Kind::Tensor, static_cast<int64_t>(run_.tensors.size()));
  run_.tensors.push_back(tensor);
}

void Parser::read_value(ThreadState& t, wire::Reader& r, int depth) {
  const uint64_t head = r.number();
  const uint64_t payload = head >> 2;
  switch (static_cast<ValueForm>(head & 3)) {
    case ValueForm::SameTensor:
      return read_tensor(t, r, false, payload);
    case ValueForm::Tensor:
      return read_tensor(t, r, true, payload);
    case ValueForm::Int:
      return add_value(Kind::Int, wire::unzigzag(payload));
    case ValueForm::Other:
      break;
  }
  const Kind kind = static_cast<Kind>(payload);
  switch (payload <= static_cast<uint64_t>(Kind::List) ? kind : Kind::Tensor) {
    case Kind::None:
      return add_value(kind, 0);
    case Kind::Tensor: {  // one that is undefined
      SB_CHECK_VALUE(kind == Kind::Tensor, "expected a value, got one of kind ", payload);
      add_value(kind, static_cast<int64_t>(run_.tensors.size()));
      run_.tensors.emplace_back();
      return;
    }
    case Kind::Int:
      return add_value(kind, static_cast<int64_t>(r.word()));
    case Kind::Double:
      return add_value(kind, static_cast<int64_t>(r.word()));
    case Kind::Bool:
      return add_value(kind, r.byte() & 1);
    case Kind::Complex: {
      const double real = std::bit_cast<double>(r.word());
      run_.complexes.emplace_back(real, std::bit_cast<double>(r.word()));
      return add_value(kind, static_cast<int64_t>(run_.complexes.size() - 1));
    }
    case Kind::String:
    case Kind::Symbol:
    case Kind::Opaque: {
      std::string text(r.text());
      return add_value(kind, strings_.add(text, text));
    }
    case Kind::DType:
    case Kind::Device:
    case Kind::Layout:
    case Kind::MemoryFormat:
      return add_value(kind, string_index(t, r));
    case Kind::Generator:
      run_.generators.push_back(read_generator(t, r));
      return add_value(kind, static_cast<int64_t>(run_.generators.size() - 1));
    case Kind::Storage:
      return add_value(kind, static_cast<int64_t>(storage_id(r, t)));
    case Kind::IntList:
    case Kind::DoubleList:
    case Kind::BoolList:
    case Kind::TensorList:
    case Kind::OptionalTensorList:
    case Kind::List: {
      SB_CHECK_VALUE(depth < kMaxListDepth, "expected lists in lists of at most ", kMaxListDepth,
                     " levels");
      const size_t count = r.count("elements");
      add_value(kind, 0, count);
      for (size_t i = 0; i < count; ++i) read_value(t, r, depth + 1);
      return;
    }
  }
}

// Puts the events of all threads in the order of their start.
void Parser::finish() {
  run_.num_threads = static_cast<uint32_t>(threads_.size());
  std::vector<std::pair<uint32_t, uint32_t>> order;  // thread, event
  for (uint32_t t = 0; t < threads_.size(); ++t) {
    for (const uint32_t running : threads_[t].running)
      threads_[t].events[running].end = threads_[t].now;
    for (uint32_t i = 0; i < threads_[t].events.size(); ++i) order.emplace_back(t, i);
  }
  const auto start = [&](const auto& place) {
    return threads_[place.first].events[place.second].start;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto& a, const auto& b) { return start(a) < start(b); });
  std::vector<std::vector<uint32_t>> place(threads_.size());
  for (uint32_t t = 0; t < threads_.size(); ++t) place[t].resize(threads_[t].events.size());
  for (uint32_t i = 0; i < order.size(); ++i) place[order[i].first][order[i].second] = i;
  run_.events.reserve(order.size());
  for (const auto& [t, i] : order) {
    RecordedEvent event = threads_[t].events[i];
    if (event.parent != RecordedEvent::kNone) event.parent = place[t][event.parent];
    run_.events.push_back(event);
  }
  for (LocalContents& c : contents_) {
    c.contents.event = place[c.thread - 1][c.contents.event];
    run_.contents.push_back(std::move(c.contents));
  }
  std::stable_sort(run_.contents.begin(), run_.contents.end(),
                   [](const auto& a, const auto& b) { return a.event < b.event; });
  if (run_.contexts.empty()) run_.contexts.emplace_back();
}

}  // namespace

double RecordedValue::real() const { return std::bit_cast<double>(number); }

size_t extent(absl::Span<const RecordedValue> values) {
  size_t at = 0;
  for (size_t open = 1; open > 0; --open) {
    open += values.at(at).is_list() ? values[at].count : 0;
    ++at;
  }
  return at;
}

RecordedRun parse_recording(std::string_view bytes, const std::string& source) {
  return Parser(bytes, source).parse();
}

RecordedRun read_recording(const std::string& path) {
  const std::string bytes = InputFile(path).read_all(kMaxFile);
  return parse_recording(bytes, path);
}

bool is_recording(const std::string& path) {
  try {
    const InputFile file(path);
    if (file.size() < wire::kMagic.size()) return false;
    std::string begin(wire::kMagic.size(), '\0');
    file.read_at(0, absl::MakeSpan(begin.data(), begin.size()));
    return begin == wire::kMagic;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace sb::io
