// A thread's stack of objects that are active for a scope, and may be out of sight meanwhile.

#ifndef SWITCHBOARD_DISPATCH_MODES_SCOPED_STACK_H_
#define SWITCHBOARD_DISPATCH_MODES_SCOPED_STACK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace sb::internal {

// Entries are known by numbers, not by their place: scopes may end in any order, also inside of a
// scope in which their entry is hidden, and leave the rest as it should be.
//
// For `constinit thread_local` variables: without a destructor, so that their use costs nothing
// beside; free_memory() is for the end of the thread.
template <class T>
class ScopedStack {
 public:
  struct Entry {
    T* object = nullptr;
    uint64_t id = 0;      // never 0 once pushed; higher than those of all entries pushed before
    uint32_t hidden = 0;  // by how many scopes
    uint32_t rank = 0;    // entries of a higher rank come before the others
  };

  uint64_t push(T* object, uint32_t rank = 0) {
    if (size_ == capacity_) grow();
    entries_[size_++] = {object, next_id_, 0, rank};
    return next_id_++;
  }
  // These do nothing if the entry is not there any more.
  void remove(uint64_t id) {
    Entry* const e = find(id);
    if (!e) return;
    std::copy(e + 1, entries_ + size_, e);
    --size_;
  }
  void hide(uint64_t id) {
    if (Entry* const e = find(id)) ++e->hidden;
  }
  // Returns whether that made it visible.
  bool unhide(uint64_t id) {
    Entry* const e = find(id);
    if (!e) return false;
    --e->hidden;
    return visible(*e);
  }

  // The visible entry of the highest rank that was pushed last, or nullptr.
  Entry* top() const {
    if (size_ == 1) return visible(*entries_) ? entries_ : nullptr;  // most often
    Entry* best = nullptr;
    for (Entry* e = entries_ + size_; e != entries_;) {
      --e;
      if (visible(*e) && (!best || e->rank > best->rank)) best = e;
    }
    return best;
  }
  // The visible entry of this rank that was pushed last, or nullptr.
  const Entry* top_of_rank(uint32_t rank) const {
    for (const Entry* e = entries_ + size_; e != entries_;) {
      --e;
      if (e->rank == rank && visible(*e)) return e;
    }
    return nullptr;
  }
  // f(object) for each visible entry, in the order in which they were pushed.
  template <class F>
  void for_each_visible(F&& f) const {
    for (const Entry* e = entries_; e != entries_ + size_; ++e)
      if (visible(*e)) f(*e->object);
  }
  size_t num_visible() const {
    return static_cast<size_t>(
        std::count_if(entries_, entries_ + size_, [this](const Entry& e) { return visible(e); }));
  }

  // Hides all entries that there are; returns what gives back the state of before.
  uint64_t hide_all() {
    const uint64_t before = first_visible_;
    first_visible_ = next_id_;
    return before;
  }
  void unhide_all(uint64_t before) { first_visible_ = before; }

  void free_memory() {
    delete[] entries_;
    entries_ = nullptr;
    size_ = capacity_ = 0;
  }

 private:
  bool visible(const Entry& e) const { return e.hidden == 0 && e.id >= first_visible_; }
  Entry* find(uint64_t id) {
    for (Entry* e = entries_ + size_; e != entries_;) {
      --e;
      if (e->id == id) return e;
    }
    return nullptr;
  }
  void grow() {
    const size_t capacity = std::max<size_t>(8, 2 * capacity_);
    auto larger = std::make_unique<Entry[]>(capacity);
    std::copy(entries_, entries_ + size_, larger.get());
    delete[] entries_;
    entries_ = larger.release();
    capacity_ = capacity;
  }

  Entry* entries_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  uint64_t next_id_ = 1;
  uint64_t first_visible_ = 0;
};

// Frees a thread's stack when the thread ends. Make one, thread_local, before the first push.
template <class T>
class FreeAtThreadEnd {
 public:
  explicit FreeAtThreadEnd(ScopedStack<T>* stack) : stack_(stack) {}
  ~FreeAtThreadEnd() { stack_->free_memory(); }
  FreeAtThreadEnd(const FreeAtThreadEnd&) = delete;
  FreeAtThreadEnd& operator=(const FreeAtThreadEnd&) = delete;

 private:
  ScopedStack<T>* stack_;
};

}  // namespace sb::internal

#endif  // SWITCHBOARD_DISPATCH_MODES_SCOPED_STACK_H_
