// Warnings: what a program should know of and can go on without.

#ifndef SWITCHBOARD_CORE_PRINT_WARNING_H_
#define SWITCHBOARD_CORE_PRINT_WARNING_H_

#include <functional>
#include <string>

namespace sb {

// Gets the text of each warning, on the thread that warns, which it must not make throw.
using WarningHandler = std::function<void(const std::string& text)>;

// Gives the text to the handler. Thread-safe.
void warn(const std::string& text);

// Replaces the handler of the process, and gives back the one before; null stands for the first
// one, which writes a line to standard error. As `c10::WarningUtils::set_warning_handler`.
// Thread-safe.
WarningHandler set_warning_handler(WarningHandler handler);

}  // namespace sb

#endif  // SWITCHBOARD_CORE_PRINT_WARNING_H_
