// The rules of dispatch written down a second time, as they read in the specification, with sets of
// names and nothing of the library's own: what random_programs_test compares the dispatcher with.
//
// Slow on purpose. Where a function here and one of the library look alike, change neither to
// match the other: the text decides.

#ifndef SWITCHBOARD_TESTS_DISPATCH_LITERAL_RULES_H_
#define SWITCHBOARD_TESTS_DISPATCH_LITERAL_RULES_H_

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace literal {

using Name = std::string;  // of a key, a functionality or a backend

// What a kernel does when it runs. At Undefined the middle two end the call as well.
enum class Does {
  Ends,
  Redispatches,  // below its own key, with the set that it got
  CallsAnew,     // with its own key excluded
  FallsThrough,
  // Of fallbacks that are there from the start.
  GoesBelowAutograd,
  Refuses,
};

struct Kernel {
  int label = 0;
  Does does = Does::Ends;
  auto operator<=>(const Kernel&) const = default;
};
inline constexpr int kDefaultLabel = -1;  // of the fallbacks that are there from the start

// What is registered. Nothing else decides what a call does.
struct Registered {
  std::map<Name, std::vector<Kernel>> kernels;  // at each key a stack, the newest last
  std::map<Name, Kernel> fallbacks;
  auto operator<=>(const Registered&) const = default;
};
// What is there before anybody registers anything.
Registered defaults();
void remove(Registered& registered, int label);

// What a slot holds, and why.
struct Slot {
  std::string rule;
  Name source;                   // the key that the kernel is registered at
  std::optional<Kernel> kernel;  // none: a call fails
};
// All runtime keys, and their slots.
const std::vector<Name>& runtime_keys();
using Table = std::map<Name, Slot>;
Table fill(const Registered& registered);

// Functionalities and backends: the set is every pair of them.
struct KeySet {
  std::set<Name> functionalities, backends;
};
KeySet set_of(const std::vector<Name>& keys);
KeySet unite(KeySet a, const KeySet& b);

// What a thread adds to, and takes from, its calls.
struct Thread {
  KeySet included = set_of({"BackendSelect", "ADInplaceOrView"});
  std::set<Name> excluded = {"AutocastCPU",  "AutocastMTIA",       "AutocastMAIA", "AutocastXPU",
                             "AutocastIPU",  "AutocastHPU",        "AutocastXLA",  "AutocastMPS",
                             "AutocastCUDA", "AutocastPrivateUse1"};
};
void enter_inference_mode(Thread& thread);

// The kernels that a call runs, "3 for CPU", and what ends it if that is an error: "missing",
// "ambiguous" or "fallthrough".
std::vector<std::string> call(const Table& table, const KeySet& arguments, const Thread& thread);

}  // namespace literal

#endif  // SWITCHBOARD_TESTS_DISPATCH_LITERAL_RULES_H_
