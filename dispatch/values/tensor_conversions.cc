#include "switchboard/dispatch/values/tensor_conversions.h"

#include <atomic>
#include <mutex>
#include <set>
#include <string>

namespace sb {
namespace {

std::atomic<const TensorConversions*> set_conversions{nullptr};

struct Names {
  std::mutex mutex;
  std::set<std::string, std::less<>> names;
};

// Never destroyed: libraries come and go as the program ends.
Names& names() {
  static Names* const names = new Names;
  return *names;
}

}  // namespace

void set_tensor_conversions(const TensorConversions& conversions) {
  set_conversions.store(new TensorConversions(conversions), std::memory_order_release);
}

const TensorConversions* tensor_conversions() {
  return set_conversions.load(std::memory_order_acquire);
}

void take_numbers_for_tensors(std::initializer_list<std::string_view> operators) {
  std::lock_guard<std::mutex> lock(names().mutex);
  names().names.insert(operators.begin(), operators.end());
}

bool takes_numbers_for_tensors(std::string_view op) {
  std::lock_guard<std::mutex> lock(names().mutex);
  return names().names.contains(op);
}

}  // namespace sb
