// What a recording holds, and how a file of one is read.
//
//   const io::RecordedRun run = io::read_recording("run.sbr");
//   for (const io::RecordedEvent& event : run.events)
//     std::cout << io::to_string(run, event) << "\n";
//
// record.h writes such files; docs/recording-format.md describes them byte by byte.

#ifndef SWITCHBOARD_IO_RECORDING_RECORDING_H_
#define SWITCHBOARD_IO_RECORDING_RECORDING_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "switchboard/core/dtype.h"

namespace sb::io {

// The version of the format that is written. All versions up to it are read.
inline constexpr uint32_t kRecordingVersion = 1;

// A kernel at a key of an operator, and why it is the one that runs there.
struct RecordedSite {
  std::string op;      // "aten::add.Tensor"
  std::string schema;  // "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
  std::string key;     // that the kernel runs for: "AutogradCPU"
  std::string keys;    // all that it gets, highest first: "{AutogradCPU, CPU}"
  std::string where;   // "ops/add.cc:31"; "(removed)" if it was taken away as it started
  std::string reason;  // the resolution rule: "[autograd kernel, from Autograd]"
  // How many values its calls have: arguments, results, and arguments as they are afterwards, of
  // those that the schema says are written to (their indices).
  uint32_t num_arguments = 0;
  uint32_t num_results = 0;
  std::vector<uint32_t> written;
  bool seeded = false;  // draws from a generator (Tag::nondeterministic_seeded)
};

// Everything about a tensor but its identity and its elements.
struct RecordedMeta {
  DType dtype = DType::Float32;
  std::string device;  // "cpu"; one that this process need not have
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;   // in elements
  std::string symbols;  // "[s0, 3]" of sizes that are symbols; empty if all are numbers
  std::string keys;     // "{AutogradCPU, ADInplaceOrView, CPU}"
  bool requires_grad = false;
  bool fake = false;            // it belongs to a mode, and has no elements
  bool wrapped_number = false;  // made from a number
  bool operator==(const RecordedMeta&) const = default;
};

// A tensor as it was at one moment.
struct RecordedTensor {
  uint64_t id = 0;       // of the tensor object; 0 if undefined
  uint64_t storage = 0;  // the same for tensors that share memory; 0 if it has none
  uint32_t meta = 0;     // in RecordedRun::metas
  uint32_t version = 0;  // how many writes were counted
  uint64_t hash = 0;     // of the elements in order; 0 if they were not looked at
  bool defined() const { return id != 0; }
};

// A value of a call. The elements of a list are the values after it (`count` of them, each with its
// own elements).
struct RecordedValue {
  enum class Kind : uint8_t {
    None,
    Tensor,        // index in RecordedRun::tensors
    Int,           // number
    Bool,          // number: 0 or 1
    Double,        // real()
    Complex,       // index in RecordedRun::complexes
    String,        // index in RecordedRun::strings, as all below to Symbol
    DType,         // "float32"
    Device,        // "cpu"
    Layout,        // "strided"
    MemoryFormat,  // "channels_last"
    Symbol,        // "s0 + 1", a number that is not known
    Opaque,        // of a type that cannot be written: what it is
    Generator,     // index in RecordedRun::generators
    Storage,       // id
    IntList,       // count
    DoubleList,
    BoolList,
    TensorList,
    OptionalTensorList,
    List,  // of anything else
  };
  Kind kind = Kind::None;
  uint32_t count = 0;
  int64_t number = 0;

  double real() const;
  bool is_list() const { return kind >= Kind::IntList; }
  size_t index() const { return static_cast<size_t>(number); }
};

struct RecordedGenerator {
  std::string device;
  bool is_default = false;     // the generator of its device that calls take if none is given
  std::vector<uint8_t> state;  // before the call
};

// One kernel that ran: a call at one key.
struct RecordedEvent {
  static constexpr uint32_t kNone = 0xffffffff;

  uint32_t site = 0;        // in RecordedRun::sites
  uint32_t thread = 0;      // from 1, in the order in which they appear
  uint32_t parent = kNone;  // the event whose kernel called it; none if the program did
  uint32_t depth = 0;       // 0: called by the program
  uint32_t context = 0;     // in RecordedRun::contexts
  uint32_t generator =
      kNone;  // in RecordedRun::generators: the default one, as a seeded call began
  uint64_t start = 0, end = 0;  // nanoseconds from the beginning of the recording
  bool ended = false;           // false for what still ran when the file ended
  bool threw = false;           // it ended with an exception: there are no results
  // Places in RecordedRun::values; RecordedRun::arguments() and its like give the values.
  uint64_t first_argument = 0, end_arguments = 0;
  uint64_t first_result = 0, first_written = 0, end_written = 0;
};

// What a thread was set to as a call was made.
struct RecordedContext {
  std::vector<std::string> included, excluded;  // functionalities of keys
  bool grad = true;                             // gradients are recorded
  bool inference = false;
  bool mode = false;  // a dispatch mode was active
  bool operator==(const RecordedContext&) const = default;
};

// Bytes of a storage, as an event began, or as it ended.
struct RecordedContents {
  uint64_t storage = 0;
  uint32_t event = 0;
  bool after = false;
  std::string bytes;
};

struct RecordedStorage {
  uint64_t nbytes = 0;  // the most that it had
  std::string device;
};

struct RecordedRun {
  uint32_t version = 0;
  std::string source;  // the file
  // By the time of their start; a caller before those that it called.
  std::vector<RecordedEvent> events;
  std::vector<RecordedSite> sites;
  std::vector<RecordedMeta> metas;
  std::vector<RecordedContext> contexts;  // the first one is what threads are by default
  std::vector<RecordedTensor> tensors;
  std::vector<RecordedValue> values;
  std::vector<std::string> strings;
  std::vector<std::pair<double, double>> complexes;
  std::vector<RecordedGenerator> generators;
  std::vector<RecordedContents> contents;  // by event
  std::vector<RecordedStorage> storages;   // by id; the first one stands for none
  uint64_t num_tensors = 0;                // ids are 1 to this
  uint32_t num_threads = 0;
  bool has_hashes = false;
  bool has_contents = false;  // of every input that no recorded call made
  // Why the file holds less than was recorded ("run.sbr: byte 812: ..."); empty if it is whole.
  std::string fault;

  const RecordedSite& site(const RecordedEvent& event) const { return sites[event.site]; }
  absl::Span<const RecordedValue> arguments(const RecordedEvent& event) const {
    return range(event.first_argument, event.end_arguments);
  }
  absl::Span<const RecordedValue> results(const RecordedEvent& event) const {
    return range(event.first_result, event.first_written);
  }
  // The values of the arguments site(event).written, as the call left them.
  absl::Span<const RecordedValue> written(const RecordedEvent& event) const {
    return range(event.first_written, event.end_written);
  }
  const RecordedTensor& tensor(const RecordedValue& value) const { return tensors[value.index()]; }
  const RecordedMeta& meta(const RecordedTensor& tensor) const { return metas[tensor.meta]; }

 private:
  absl::Span<const RecordedValue> range(uint64_t begin, uint64_t end) const {
    return absl::MakeConstSpan(values).subspan(begin, end - begin);
  }
};

// How many values a value is, with all its elements: the next one begins so far on.
size_t extent(absl::Span<const RecordedValue> values);

// Reads a file. What was cut short or damaged gives the events before the fault, which
// RecordedRun::fault names. Throws RuntimeError if the file cannot be read, ValueError if it is no
// recording, or one of a later version.
RecordedRun read_recording(const std::string& path);
// The same from memory; `source` names it in messages.
RecordedRun parse_recording(std::string_view bytes, const std::string& source);
// Whether a file begins as recordings do. False if it cannot be read.
bool is_recording(const std::string& path);

// "float32[2, 3]", with the device unless it is the CPU, and strides unless they are contiguous.
std::string to_string(const RecordedMeta& meta);
// The first value of these: "3", "[1, 2]", "%7 float32[2, 3]".
std::string value_text(const RecordedRun& run, absl::Span<const RecordedValue> values);
// "aten::add.Tensor(%1 float32[2], %2 float32[2], 1) -> %3 float32[2]".
std::string to_string(const RecordedRun& run, const RecordedEvent& event);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_RECORDING_RECORDING_H_
