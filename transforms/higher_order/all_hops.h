// Operators of one kind, and the rules that other packages give to each of them.

#ifndef SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_ALL_HOPS_H_
#define SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_ALL_HOPS_H_

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace sb::higher_order {

// Whichever comes first while the program starts, operator or rule. Thread-safe.
template <class Hop>
class AllHops {
 public:
  using Rule = std::function<void(const Hop&)>;

  void add(const Hop& hop) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    hops_.push_back(&hop);
    for (const Rule& give : rules_) give(hop);
  }
  void add(Rule give) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    for (const Hop* const hop : hops_) give(*hop);
    rules_.push_back(std::move(give));
  }

  // Never destroyed: operators are static objects.
  static AllHops& get() {
    static AllHops* const all = new AllHops;
    return *all;
  }

 private:
  std::recursive_mutex mutex_;
  std::vector<const Hop*> hops_;
  std::vector<Rule> rules_;
};

}  // namespace sb::higher_order

#endif  // SWITCHBOARD_TRANSFORMS_HIGHER_ORDER_ALL_HOPS_H_
