// The errors of fake mode, beside those of core: DataDependentOutputError and
// DynamicOutputShapeError (core/error.h).

#ifndef SWITCHBOARD_FAKE_FAKE_ERRORS_H_
#define SWITCHBOARD_FAKE_FAKE_ERRORS_H_

#include "switchboard/core/error.h"

namespace sb {

// A tensor that has no fake. As `UnsupportedFakeTensorException`; the message says why.
SB_DEFINE_ERROR_KIND(UnsupportedFakeTensorError);

// An operator that fake mode cannot run; the message says what to register. As
// `UnsupportedOperatorException`. A NotImplementedError, as that of a missing kernel.
class UnsupportedOperatorError : public NotImplementedError {
 public:
  using NotImplementedError::NotImplementedError;
};

}  // namespace sb

#endif  // SWITCHBOARD_FAKE_FAKE_ERRORS_H_
