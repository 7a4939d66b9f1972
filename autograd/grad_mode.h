// The thread's switch for recording what gradients need.

#ifndef SWITCHBOARD_AUTOGRAD_GRAD_MODE_H_
#define SWITCHBOARD_AUTOGRAD_GRAD_MODE_H_

namespace sb {

namespace internal {
inline constinit thread_local bool grad_mode_enabled = true;
}

// As `torch.is_grad_enabled`. On by default on every thread.
inline bool is_grad_enabled() { return internal::grad_mode_enabled; }

// Sets the mode for a scope and restores it at the end, on exceptions too. As `c10::AutoGradMode`.
class GradModeGuard {
 public:
  explicit GradModeGuard(bool enabled) : previous_(internal::grad_mode_enabled) {
    internal::grad_mode_enabled = enabled;
  }
  ~GradModeGuard() { internal::grad_mode_enabled = previous_; }
  GradModeGuard(const GradModeGuard&) = delete;
  GradModeGuard& operator=(const GradModeGuard&) = delete;

 private:
  bool previous_;
};

// As `torch.no_grad`.
class NoGradGuard : GradModeGuard {
 public:
  NoGradGuard() : GradModeGuard(false) {}
};

}  // namespace sb

#endif  // SWITCHBOARD_AUTOGRAD_GRAD_MODE_H_
