// Makes a program small that shows something.

#ifndef SWITCHBOARD_TESTS_COMPOSITION_SHRINK_H_
#define SWITCHBOARD_TESTS_COMPOSITION_SHRINK_H_

#include <functional>

#include "switchboard/tests/composition/program.h"

namespace sb::composition {

// The smallest program that was found, by leaving out steps, results and functions, and by
// simplifying arguments and inputs, for which `shows` holds. `shows` may not throw; it holds for
// `program`. At most `tries` programs are tried.
Program shrink(Program program, const std::function<bool(const Program&)>& shows, int tries = 3000);

}  // namespace sb::composition

#endif  // SWITCHBOARD_TESTS_COMPOSITION_SHRINK_H_
