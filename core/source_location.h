// The line of the program that asked for something: of a registration, or of a guard.

#ifndef SWITCHBOARD_CORE_SOURCE_LOCATION_H_
#define SWITCHBOARD_CORE_SOURCE_LOCATION_H_

#include <source_location>

namespace sb {

// Functions that keep it take `SourceLocation where = SourceLocation::current()` as their last
// parameter. A default one (line 0) says that the line is not known.
using SourceLocation = std::source_location;

}  // namespace sb

#endif  // SWITCHBOARD_CORE_SOURCE_LOCATION_H_
