// A pointer to an object that counts its own references, strong and weak. One word wide, so that a
// Tensor fits a register.

#ifndef SWITCHBOARD_CORE_INTRUSIVE_PTR_H_
#define SWITCHBOARD_CORE_INTRUSIVE_PTR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "switchboard/core/memory/block_cache.h"

namespace sb {

// The base of every object that an IntrusivePtr may own. Thread-safe counts.
//
// All strong references together hold one weak reference. When the last strong one goes,
// release_resources() runs; when the last weak one goes too, the object is deleted.
class IntrusiveTarget {
 public:
  IntrusiveTarget() = default;
  IntrusiveTarget(const IntrusiveTarget&) = delete;
  IntrusiveTarget& operator=(const IntrusiveTarget&) = delete;

  void retain() const noexcept { strong_.fetch_add(1, std::memory_order_relaxed); }

  void release() const noexcept {
    if (strong_.fetch_sub(1, std::memory_order_acq_rel) == 1) release_last();
  }

  void retain_weak() const noexcept { weak_.fetch_add(1, std::memory_order_relaxed); }

  void release_weak() const noexcept {
    if (weak_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // Takes a strong reference unless the object has already lost its last one.
  bool try_retain() const noexcept {
    uint32_t count = strong_.load(std::memory_order_relaxed);
    while (count != 0) {
      if (strong_.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }

  // Intrusive objects come and go with every call.
  static void* operator new(size_t bytes) {
    void* const block = internal::allocate_block(bytes);
    if (__builtin_expect(!block, 0)) throw std::bad_alloc();
    return block;
  }
  static void operator delete(void* block, size_t bytes) noexcept {
    internal::free_block(block, bytes);
  }
  static void* operator new(size_t bytes, std::align_val_t alignment) {
    return ::operator new(bytes, alignment);
  }
  static void operator delete(void* block, size_t, std::align_val_t alignment) noexcept {
    ::operator delete(block, alignment);
  }

  uint32_t use_count() const noexcept { return strong_.load(std::memory_order_acquire); }

 protected:
  virtual ~IntrusiveTarget() = default;

  // Frees what a weak reference need not keep alive. Called once, before the destructor, and only
  // when weak references outlive the strong ones.
  virtual void release_resources() {}

 private:
  [[gnu::noinline]] void release_last() const noexcept {
    if (weak_.load(std::memory_order_acquire) == 1) {  // no weak reference: nobody can make one
      delete this;
      return;
    }
    release_before_weak();
  }
  // Apart, so that the usual way out is one jump and saves no register.
  [[gnu::noinline]] void release_before_weak() const noexcept {
    const_cast<IntrusiveTarget*>(this)->release_resources();
    release_weak();
  }

  mutable std::atomic<uint32_t> strong_{1};
  mutable std::atomic<uint32_t> weak_{1};
};

template <class T>
class IntrusivePtr {
 public:
  using element_type = T;

  constexpr IntrusivePtr() noexcept = default;
  constexpr IntrusivePtr(std::nullptr_t) noexcept {}
  IntrusivePtr(const IntrusivePtr& other) noexcept : ptr_(other.ptr_) {
    if (ptr_) ptr_->retain();
  }
  IntrusivePtr(IntrusivePtr&& other) noexcept : ptr_(std::exchange(other.ptr_, nullptr)) {}
  template <class U>
  requires std::is_convertible_v<U*, T*> IntrusivePtr(IntrusivePtr<U> other)
  noexcept : ptr_(other.leak()) {}
  ~IntrusivePtr() {
    if (ptr_) ptr_->release();
  }
  IntrusivePtr& operator=(IntrusivePtr other) noexcept {
    std::swap(ptr_, other.ptr_);
    return *this;
  }

  // Takes over one reference that the caller owns.
  static IntrusivePtr adopt(T* ptr) noexcept {
    IntrusivePtr result;
    result.ptr_ = ptr;
    return result;
  }
  // Adds a reference of its own.
  static IntrusivePtr share(T* ptr) noexcept {
    if (ptr) ptr->retain();
    return adopt(ptr);
  }

  // Gives the reference up to the caller, who must adopt() or release() it.
  T* leak() noexcept { return std::exchange(ptr_, nullptr); }

  T* get() const noexcept { return ptr_; }
  T* operator->() const noexcept { return ptr_; }
  T& operator*() const noexcept { return *ptr_; }
  explicit operator bool() const noexcept { return ptr_ != nullptr; }
  friend bool operator==(const IntrusivePtr& a, const IntrusivePtr& b) { return a.ptr_ == b.ptr_; }

 private:
  T* ptr_ = nullptr;
};

template <class T, class... Args>
[[gnu::always_inline]] inline IntrusivePtr<T> make_intrusive(Args&&... args) {
  return IntrusivePtr<T>::adopt(new T(std::forward<Args>(args)...));
}

// A reference that does not keep its target alive. lock() gives a strong one while there is one.
template <class T>
class WeakIntrusivePtr {
 public:
  WeakIntrusivePtr() noexcept = default;
  explicit WeakIntrusivePtr(const IntrusivePtr<T>& strong) noexcept
      : WeakIntrusivePtr(strong.get()) {}
  explicit WeakIntrusivePtr(T* ptr) noexcept : ptr_(ptr) {
    if (ptr_) ptr_->retain_weak();
  }
  WeakIntrusivePtr(const WeakIntrusivePtr& other) noexcept : WeakIntrusivePtr(other.ptr_) {}
  WeakIntrusivePtr(WeakIntrusivePtr&& other) noexcept : ptr_(std::exchange(other.ptr_, nullptr)) {}
  WeakIntrusivePtr& operator=(WeakIntrusivePtr other) noexcept {
    std::swap(ptr_, other.ptr_);
    return *this;
  }
  ~WeakIntrusivePtr() {
    if (ptr_) ptr_->release_weak();
  }

  IntrusivePtr<T> lock() const noexcept {
    return ptr_ && ptr_->try_retain() ? IntrusivePtr<T>::adopt(ptr_) : nullptr;
  }
  bool expired() const noexcept { return !ptr_ || ptr_->use_count() == 0; }
  // The address, for use as a map key only: the target may be gone.
  const T* address() const noexcept { return ptr_; }

 private:
  T* ptr_ = nullptr;
};

}  // namespace sb

#endif  // SWITCHBOARD_CORE_INTRUSIVE_PTR_H_
