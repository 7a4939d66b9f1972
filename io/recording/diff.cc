#include "switchboard/io/recording/diff.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/io/recording/call_tree.h"
#include "switchboard/io/recording/storage_contents.h"

namespace sb::io {
namespace {

using Cause = RunDifference::Cause;
using Kind = RecordedValue::Kind;
using Values = absl::Span<const RecordedValue>;

// "ops/add.cc:31" without the line.
std::string_view file_of(std::string_view where) { return where.substr(0, where.rfind(':')); }

// "aten::add.out" is "add".
std::string_view base_name(std::string_view op) {
  op.remove_prefix(op.find("::") == op.npos ? 0 : op.find("::") + 2);
  return op.substr(0, op.find('.'));
}

// Whether results hold whatever was in memory.
bool makes_fresh_memory(const RecordedSite& site) {
  const std::string_view name = base_name(site.op);
  return name.find("empty") != name.npos || name.find("resize") != name.npos;
}

// Whether a call writes to all elements of an argument and reads none.
bool overwrites(const RecordedSite& site, uint32_t argument) {
  if (std::find(site.written.begin(), site.written.end(), argument) == site.written.end())
    return false;
  const std::vector<ArgumentName> names = argument_names(site.schema);
  const std::string_view name = base_name(site.op);
  return (argument < names.size() && names[argument].keyword_only) || name == "fill_" ||
         name == "zero_" || name == "copy_" || site.seeded;
}

// Names of one run in those of the other: tensors and storages, by their first appearance.
class Pairs {
 public:
  // False if one of the two was paired with another.
  bool match(uint64_t a, uint64_t b) {
    const auto forth = forth_.try_emplace(a, b);
    const auto back = back_.try_emplace(b, a);
    return forth.first->second == b && back.first->second == a;
  }
  bool has(uint64_t a) const { return forth_.contains(a); }

 private:
  absl::flat_hash_map<uint64_t, uint64_t> forth_{{0, 0}}, back_{{0, 0}};
};

class Differ {
 public:
  Differ(const RecordedRun& a, const RecordedRun& b, const RunDiffOptions& options)
      : a_(a), b_(b), options_(options), calls_a_(a), calls_b_(b) {}

  std::optional<RunDifference> run();

 private:
  bool calls_differ(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b);
  // The calls that two kernels make.
  bool nested_calls_differ(uint32_t a, uint32_t b);
  // `garbage`: some of what was given is memory that nobody wrote to, and differs.
  bool begin_differs(uint32_t a, uint32_t b, bool* garbage);
  bool kernels_differ(const RecordedEvent& a, const RecordedEvent& b);
  bool end_differs(uint32_t a, uint32_t b, bool garbage);
  // What differs, or nothing. Elements are compared last: `bits` is set to the first tensor of the
  // first run whose elements differ, where nothing else does.
  std::string value_difference(Values a, Values b, const RecordedTensor** bits);
  std::string tensor_difference(const RecordedTensor& a, const RecordedTensor& b,
                                const RecordedTensor** bits);
  bool is_close(const RecordedTensor& a, const RecordedTensor& b) const {
    return options_.tolerance > 0 &&
           elements_are_close({a_, a, storage_contents(a_, a.storage, now_, ended_)},
                              {b_, b, storage_contents(b_, b.storage, now_b_, ended_)},
                              options_.tolerance);
  }
  bool same_op(uint32_t a, uint32_t b) const {
    return a_.site(a_.events[a]).op == b_.site(b_.events[b]).op;
  }
  // Whether the calls from these places on have the same operators to the end of both.
  bool align(const std::vector<uint32_t>& a, size_t i, const std::vector<uint32_t>& b,
             size_t j) const;
  void settle(uint32_t a);
  bool found(Cause cause, uint32_t a, uint32_t b, std::string detail) {
    difference_ = RunDifference{cause, a, b, std::move(detail), options_.tolerance};
    return true;
  }
  bool refine(const std::vector<uint32_t>& a, size_t i, const std::vector<uint32_t>& b, size_t j);

  const RecordedRun& a_;
  const RecordedRun& b_;
  const RunDiffOptions& options_;
  CallTree calls_a_, calls_b_;
  Pairs tensors_, storages_;
  // Versions count from the first that a run shows.
  absl::flat_hash_map<uint64_t, std::pair<uint32_t, uint32_t>> versions_;
  // Storages of the first run whose memory nobody wrote to, wholly or in part, and that differs.
  absl::flat_hash_set<uint64_t> fresh_;
  // The events of the first run at which its storages are first seen.
  absl::flat_hash_map<uint64_t, uint32_t> first_seen_;
  // The events that are looked at, as they begin or as they ended.
  uint32_t now_ = 0, now_b_ = 0;
  bool ended_ = false;
  size_t next_contents_ = 0;
  std::optional<RunDifference> difference_;
};

// Threads get their numbers in the order of their first call, which need not be the same in both
// runs: each is compared with the one that makes the same calls, or else with that of its number.
std::vector<std::pair<uint32_t, uint32_t>> match_threads(const RecordedRun& a, const CallTree& ta,
                                                         const RecordedRun& b, const CallTree& tb) {
  const auto story = [](const RecordedRun& run, const CallTree& tree, uint32_t thread) {
    std::vector<std::string_view> ops;
    for (const uint32_t e : tree.made_by_program(thread)) ops.push_back(run.site(run.events[e]).op);
    return ops;
  };
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  std::vector<bool> taken(b.num_threads + 1);
  std::vector<uint32_t> left;
  for (uint32_t t = 1; t <= a.num_threads; ++t) {
    const auto mine = story(a, ta, t);
    uint32_t other = t <= b.num_threads && !taken[t] && story(b, tb, t) == mine ? t : 0;
    for (uint32_t u = 1; u <= b.num_threads && other == 0; ++u)
      if (!taken[u] && story(b, tb, u) == mine) other = u;
    if (other == 0) {
      left.push_back(t);
      continue;
    }
    taken[other] = true;
    pairs.emplace_back(t, other);
  }
  for (const uint32_t t : left) {
    uint32_t other = 1;
    while (other <= b.num_threads && taken[other]) ++other;
    if (other <= b.num_threads) taken[other] = true;
    pairs.emplace_back(t, other <= b.num_threads ? other : 0);
  }
  for (uint32_t u = 1; u <= b.num_threads; ++u)
    if (!taken[u]) pairs.emplace_back(0, u);
  return pairs;
}

std::optional<RunDifference> Differ::run() {
  // Calls of all threads in the order of the first run, so that tensors are seen as they are made.
  struct Lane {
    std::vector<uint32_t> a, b;
    size_t at = 0;
  };
  std::vector<Lane> lanes;
  std::vector<size_t> lane_of(a_.num_threads + 1);
  for (const auto& [t, u] : match_threads(a_, calls_a_, b_, calls_b_)) {
    if (t != 0) lane_of[t] = lanes.size();
    lanes.push_back({t ? calls_a_.made_by_program(t) : std::vector<uint32_t>{},
                     u ? calls_b_.made_by_program(u) : std::vector<uint32_t>{}});
  }
  for (const RecordedEvent& event : a_.events) {
    if (event.depth != 0) continue;
    Lane& lane = lanes[lane_of[event.thread]];
    const size_t i = lane.at++;
    if (i >= lane.b.size()) {
      found(Cause::MissingCall, lane.a[i], RecordedEvent::kNone, "");
      return difference_;
    }
    bool garbage = false;
    if (!same_op(lane.a[i], lane.b[i]) || begin_differs(lane.a[i], lane.b[i], &garbage)) {
      refine(lane.a, i, lane.b, i);
      return difference_;
    }
    if ((!options_.ignore_kernels && nested_calls_differ(lane.a[i], lane.b[i])) ||
        end_differs(lane.a[i], lane.b[i], garbage))
      return difference_;
  }
  for (const Lane& lane : lanes)
    if (lane.b.size() > lane.a.size())
      found(Cause::AddedCall, RecordedEvent::kNone, lane.b[lane.a.size()], "");
  return difference_;
}

bool Differ::nested_calls_differ(uint32_t a, uint32_t b) {
  const std::vector<uint32_t>& first = calls_a_.children(a);
  const std::vector<uint32_t>& second = calls_b_.children(b);
  // A mode of fake tensors that remembers what a kernel gave does not run it.
  if ((first.empty() || second.empty()) && a_.site(a_.events[a]).key == "Python" &&
      touches_fake(a_, a_.events[a]))
    return false;
  return calls_differ(first, second);
}

bool Differ::calls_differ(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    bool garbage = false;
    if (!same_op(a[i], b[i]) || begin_differs(a[i], b[i], &garbage)) return refine(a, i, b, i);
    if (nested_calls_differ(a[i], b[i])) return true;
    if (end_differs(a[i], b[i], garbage)) return true;
  }
  if (a.size() > b.size()) return found(Cause::MissingCall, a[b.size()], RecordedEvent::kNone, "");
  if (b.size() > a.size()) return found(Cause::AddedCall, RecordedEvent::kNone, b[a.size()], "");
  return false;
}

bool Differ::align(const std::vector<uint32_t>& a, size_t i, const std::vector<uint32_t>& b,
                   size_t j) const {
  if (a.size() - i != b.size() - j) return false;
  for (; i < a.size(); ++i, ++j)
    if (!same_op(a[i], b[j])) return false;
  return true;
}

// The calls at i and j differ as they begin: is one of them missing in the other run?
bool Differ::refine(const std::vector<uint32_t>& a, size_t i, const std::vector<uint32_t>& b,
                    size_t j) {
  const std::optional<RunDifference> begin = std::exchange(difference_, std::nullopt);
  constexpr size_t kFarthest = 64;
  const auto other_call = [&] {
    return found(Cause::OtherCall, a[i], b[j],
                 str_cat(a_.site(a_.events[a[i]]).op, " and ", b_.site(b_.events[b[j]]).op));
  };
  if (!begin && align(a, i + 1, b, j + 1)) return other_call();
  if (begin && align(a, i, b, j)) {
    difference_ = begin;
    return true;
  }
  for (size_t n = 1; n <= kFarthest; ++n) {
    if (i + n <= a.size() && align(a, i + n, b, j))
      return found(Cause::MissingCall, a[i], RecordedEvent::kNone, "");
    if (j + n <= b.size() && align(a, i, b, j + n))
      return found(Cause::AddedCall, RecordedEvent::kNone, b[j], "");
  }
  // Several things differ: which is nearer is told by the next calls alone.
  if (!begin) {
    const auto next = [&](const std::vector<uint32_t>& list, size_t from, auto&& same) {
      size_t n = 1;
      while (n <= kFarthest && from + n < list.size() && !same(list[from + n])) ++n;
      return from + n < list.size() ? n : kFarthest + 1;
    };
    const size_t missing = next(a, i, [&](uint32_t e) { return same_op(e, b[j]); });
    const size_t added = next(b, j, [&](uint32_t e) { return same_op(a[i], e); });
    if (missing <= kFarthest && missing <= added)
      return found(Cause::MissingCall, a[i], RecordedEvent::kNone, "");
    if (added <= kFarthest) return found(Cause::AddedCall, RecordedEvent::kNone, b[j], "");
    return other_call();
  }
  difference_ = begin;
  return true;
}

bool Differ::kernels_differ(const RecordedEvent& a, const RecordedEvent& b) {
  const RecordedSite& x = a_.site(a);
  const RecordedSite& y = b_.site(b);
  return x.keys != y.keys || x.reason != y.reason ||
         (options_.ignore_lines ? file_of(x.where) != file_of(y.where) : x.where != y.where);
}

bool Differ::begin_differs(uint32_t i, uint32_t j, bool* garbage) {
  const RecordedEvent& a = a_.events[i];
  const RecordedEvent& b = b_.events[j];
  const RecordedSite& site = a_.site(a);
  settle(i);
  now_ = i;
  now_b_ = j;
  ended_ = false;
  Values va = a_.arguments(a), vb = b_.arguments(b);
  // What was given comes first: another kernel may follow from it.
  for (uint32_t n = 0; !va.empty() && !vb.empty(); ++n) {
    const Values first = va.first(extent(va)), second = vb.first(extent(vb));
    const RecordedTensor* bits = nullptr;
    const std::string detail = value_difference(first, second, &bits);
    // A kernel's own memory may be given on before it is written to. If it is not for that that it
    // differs, what the kernel gives does too.
    if (bits && a.depth > 0 && first_seen_.at(bits->storage) == i) fresh_.insert(bits->storage);
    if (bits && fresh_.contains(bits->storage)) {
      *garbage = *garbage || !overwrites(site, n);
    } else if (!detail.empty()) {
      return found(Cause::OtherInput, i, j,
                   str_cat("argument ", argument_text(site.schema, n), ": ", detail));
    }
    va.remove_prefix(first.size());
    vb.remove_prefix(second.size());
  }
  if (va.size() != vb.size()) return found(Cause::OtherInput, i, j, "another number of arguments");
  if (!options_.ignore_kernels && kernels_differ(a, b))
    return found(Cause::OtherKernel, i, j,
                 str_cat(kernel_text(a_.site(a)), " and ", kernel_text(b_.site(b))));
  return false;
}

bool Differ::end_differs(uint32_t i, uint32_t j, bool garbage) {
  const RecordedEvent& a = a_.events[i];
  const RecordedEvent& b = b_.events[j];
  now_ = i;
  now_b_ = j;
  ended_ = true;
  // A file that was cut short says nothing of what came after.
  if (!a.ended || !b.ended) return false;
  if (a.threw != b.threw)
    return found(Cause::OtherThrow, i, j,
                 str_cat("only the ", a.threw ? "first" : "second", " threw"));
  const bool fresh = garbage || makes_fresh_memory(a_.site(a));
  const auto differ = [&](Values va, Values vb, auto&& name) {
    for (uint32_t n = 0; !va.empty() && !vb.empty(); ++n) {
      const Values first = va.first(extent(va)), second = vb.first(extent(vb));
      const RecordedTensor* bits = nullptr;
      const std::string detail = value_difference(first, second, &bits);
      if (bits && fresh) {
        for (const RecordedValue& v : first)
          if (v.kind == Kind::Tensor) fresh_.insert(a_.tensor(v).storage);
      } else if (!detail.empty()) {
        return found(bits ? Cause::OtherBits : Cause::OtherResult, i, j,
                     str_cat(name(n), ": ", detail));
      }
      va.remove_prefix(first.size());
      vb.remove_prefix(second.size());
    }
    return va.size() != vb.size() && found(Cause::OtherResult, i, j, "another number of results");
  };
  return differ(a_.results(a), b_.results(b), [](uint32_t n) { return str_cat("result ", n); }) ||
         differ(a_.written(a), b_.written(b), [&](uint32_t n) {
           return str_cat("afterwards, argument ",
                          argument_text(a_.site(a).schema, a_.site(a).written.at(n)));
         });
}

// What the program itself wrote to a storage is no garbage any more.
void Differ::settle(uint32_t i) {
  for (; next_contents_ < a_.contents.size() && a_.contents[next_contents_].event <= i;
       ++next_contents_)
    if (!a_.contents[next_contents_].after) fresh_.erase(a_.contents[next_contents_].storage);
}

std::string Differ::value_difference(Values a, Values b, const RecordedTensor** bits) {
  const RecordedValue& x = a[0];
  const RecordedValue& y = b[0];
  const auto both = [&] { return str_cat(value_text(a_, a), " and ", value_text(b_, b)); };
  if (x.kind != y.kind || x.count != y.count) return both();
  switch (x.kind) {
    case Kind::None:
      return "";
    case Kind::Tensor:
      return tensor_difference(a_.tensor(x), b_.tensor(y), bits);
    case Kind::Int:
    case Kind::Bool:
    case Kind::Double:
      return x.number == y.number ? "" : both();
    case Kind::Complex:
      return std::memcmp(&a_.complexes[x.index()], &b_.complexes[y.index()],
                         sizeof(a_.complexes[0])) == 0
                 ? ""
                 : both();
    case Kind::Device:
      if (options_.ignore_devices) return "";
      [[fallthrough]];
    case Kind::String:
    case Kind::DType:
    case Kind::Layout:
    case Kind::MemoryFormat:
    case Kind::Symbol:
    case Kind::Opaque:
      return a_.strings[x.index()] == b_.strings[y.index()] ? "" : both();
    case Kind::Generator: {
      const RecordedGenerator& g = a_.generators[x.index()];
      const RecordedGenerator& h = b_.generators[y.index()];
      return g.device == h.device && g.state == h.state ? "" : "generators in other states";
    }
    case Kind::Storage:
      return storages_.match(static_cast<uint64_t>(x.number), static_cast<uint64_t>(y.number))
                 ? ""
                 : "another storage";
    default: {
      a.remove_prefix(1);
      b.remove_prefix(1);
      std::string elements;
      for (uint32_t i = 0; i < x.count; ++i) {
        const Values first = a.first(extent(a)), second = b.first(extent(b));
        const RecordedTensor* other = nullptr;
        std::string detail = value_difference(first, second, &other);
        if (!detail.empty() && !other) return str_cat("element ", i, ": ", detail);
        if (other && !*bits) {
          *bits = other;
          elements = str_cat("element ", i, ": ", detail);
        }
        a.remove_prefix(first.size());
        b.remove_prefix(second.size());
      }
      return elements;
    }
  }
}

std::string Differ::tensor_difference(const RecordedTensor& a, const RecordedTensor& b,
                                      const RecordedTensor** bits) {
  if (a.defined() != b.defined()) return "one is undefined";
  if (!a.defined()) return "";
  const RecordedMeta& x = a_.meta(a);
  const RecordedMeta& y = b_.meta(b);
  const auto differ = [](const std::string& what, const std::string& x, const std::string& y) {
    return str_cat(what, " ", x, " and ", y);
  };
  if (x.dtype != y.dtype)
    return differ("dtype", std::string(to_string(x.dtype)), std::string(to_string(y.dtype)));
  if (x.sizes != y.sizes || x.symbols != y.symbols)
    return differ("sizes", to_string(x), to_string(y));
  if (!options_.ignore_devices && x.device != y.device) return differ("device", x.device, y.device);
  if (!options_.ignore_strides) {
    if (x.strides != y.strides) return differ("strides", int_list(x.strides), int_list(y.strides));
    if (x.offset != y.offset) return differ("offset", str_cat(x.offset), str_cat(y.offset));
  }
  if (!options_.ignore_devices && !options_.ignore_kernels) {
    if (x.keys != y.keys) return differ("keys", x.keys, y.keys);
    if (x.fake != y.fake) return differ("fake:", x.fake ? "yes" : "no", y.fake ? "yes" : "no");
  }
  if (x.requires_grad != y.requires_grad)
    return differ("requires a gradient:", x.requires_grad ? "yes" : "no",
                  y.requires_grad ? "yes" : "no");
  const bool known = tensors_.has(a.id);
  first_seen_.try_emplace(a.storage, now_);
  if (!tensors_.match(a.id, b.id))
    return str_cat("another tensor: %", a.id, " and %", b.id, ", which were not the same before");
  if (!options_.ignore_kernels && !storages_.match(a.storage, b.storage))
    return "it shares memory with another tensor";
  if (!known) versions_[a.id] = {a.version, b.version};
  const auto& [first, second] = versions_[a.id];
  if (!options_.ignore_kernels && a.version - first != b.version - second)
    return differ("writes so far:", str_cat(a.version - first), str_cat(b.version - second));
  if (a.hash != 0 && b.hash != 0 && a.hash != b.hash && !is_close(a, b)) {
    *bits = &a;
    return "other elements";
  }
  return "";
}

}  // namespace

std::optional<RunDifference> diff_runs(const RecordedRun& first, const RecordedRun& second,
                                       const RunDiffOptions& options) {
  return Differ(first, second, options).run();
}

}  // namespace sb::io
