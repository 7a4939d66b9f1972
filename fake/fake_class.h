// Stand-ins of objects of a program's own classes, for programs that run on fake tensors.
//
//   struct FakeQueue final : FakeObject {
//     FakeQueue() : FakeObject("__torch__.torch.classes.demo.Queue") {}
//     std::deque<Tensor> tensors;   // fake ones
//   };
//   register_fake_class<Queue>("__torch__.torch.classes.demo.Queue",
//                              [](FakeTensorMode& mode, const Queue& real) {
//     auto fake = make_intrusive<FakeQueue>();
//     for (const Tensor& t : real.tensors()) fake->tensors.push_back(mode.from_tensor(t));
//     return IntrusivePtr<FakeObject>(fake);
//   });

#ifndef SWITCHBOARD_FAKE_FAKE_CLASS_H_
#define SWITCHBOARD_FAKE_FAKE_CLASS_H_

#include <concepts>
#include <functional>
#include <string_view>
#include <type_traits>

#include "switchboard/core/intrusive_ptr.h"
#include "switchboard/core/source_location.h"
#include "switchboard/dispatch/objects/fake_object.h"
#include "switchboard/dispatch/registration_handle.h"
#include "switchboard/fake/fake_tensor_mode.h"

namespace sb {

namespace internal {

// Null for an object that is not of the class, but only has its name.
using FromReal = std::function<IntrusivePtr<FakeObject>(FakeTensorMode&, const OpaqueObject&)>;

RegistrationHandle register_fake_class(std::string_view name, FromReal from_real,
                                       SourceLocation where);

}  // namespace internal

// Says how an object of a class gets its stand-in, as long as the handle lives. Fake rules of
// operators that take the object work on the stand-in, so that what they do to its state does not
// reach the real one; tensors that it holds become fake by FakeTensorMode::from_tensor. As
// `torch._library.register_fake_class`, with `from_real` for `__obj_flatten__`, `__obj_unflatten__`
// and `from_real` together. ValueError for an empty function and for what is no name of a class,
// RuntimeError, naming both places, for a class that has one already. Thread-safe.
template <std::derived_from<OpaqueObject> T>
RegistrationHandle register_fake_class(
    std::string_view name,
    std::type_identity_t<std::function<IntrusivePtr<FakeObject>(FakeTensorMode&, const T&)>>
        from_real,
    SourceLocation where = SourceLocation::current()) {
  internal::FromReal any;
  if (from_real) {
    any = [from_real](FakeTensorMode& mode, const OpaqueObject& object) {
      const auto* const real = dynamic_cast<const T*>(&object);
      return real ? from_real(mode, *real) : nullptr;
    };
  }
  return internal::register_fake_class(name, std::move(any), where);
}

// Returns whether objects of the class have stand-ins. Thread-safe.
bool has_fake_class(std::string_view name);

// A new stand-in of the object for programs that run in the mode; the object itself if it is one
// already, or is constant (custom_class.h). RuntimeError where nobody registered the class, and
// where its function gives nothing, or an object of another class. As `maybe_to_fake_obj`.
IntrusivePtr<OpaqueObject> to_fake_object(FakeTensorMode& mode,
                                          const IntrusivePtr<OpaqueObject>& object);

}  // namespace sb

#endif  // SWITCHBOARD_FAKE_FAKE_CLASS_H_
