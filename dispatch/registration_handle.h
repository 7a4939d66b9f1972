// The right to undo one registration.

#ifndef SWITCHBOARD_DISPATCH_REGISTRATION_HANDLE_H_
#define SWITCHBOARD_DISPATCH_REGISTRATION_HANDLE_H_

#include <functional>
#include <utility>

namespace sb {

// As `torch._library.utils.RegistrationHandle`, but the registration goes with its handle: give the
// handle to a Library (Library::own), or release() it. Not thread-safe.
class [[nodiscard]] RegistrationHandle {
 public:
  RegistrationHandle() = default;
  explicit RegistrationHandle(std::function<void()> undo) : undo_(std::move(undo)) {}
  ~RegistrationHandle() { destroy(); }
  RegistrationHandle(RegistrationHandle&& other) noexcept
      : undo_(std::exchange(other.undo_, nullptr)) {}
  RegistrationHandle& operator=(RegistrationHandle&& other) noexcept {
    if (this == &other) return *this;
    destroy();
    undo_ = std::exchange(other.undo_, nullptr);
    return *this;
  }

  // Undoes the registration; the second time it does nothing.
  void destroy() {
    if (const auto undo = std::exchange(undo_, nullptr)) undo();
  }
  // Leaves the registration there until the process ends.
  void release() { undo_ = nullptr; }
  explicit operator bool() const { return undo_ != nullptr; }

 private:
  std::function<void()> undo_;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_REGISTRATION_HANDLE_H_
