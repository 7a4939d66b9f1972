// `sb ops`, `sb table` and `sb explain`: what the dispatcher knows.

#ifndef SWITCHBOARD_TOOLS_INSPECT_COMMANDS_H_
#define SWITCHBOARD_TOOLS_INSPECT_COMMANDS_H_

#include <iosfwd>
#include <string>

#include "switchboard/dispatch/dispatcher.h"
#include "switchboard/tools/command_line.h"

namespace sb::tools {

// The operator of a name that a user typed: "aten::add.Tensor", "aten.add.Tensor",
// "torch.ops.aten.mm.default" or "add.Tensor". Throws RuntimeError naming what is near.
OperatorHandle find_typed_op(const Dispatcher& dispatcher, const std::string& text);

const CommandSpec& ops_spec();
const CommandSpec& table_spec();
const CommandSpec& explain_spec();

// Each prints to `out` and returns the exit status. Throw sb::Error for bad input, which is status
// 2.
int ops_command(const CommandLine& line, std::ostream& out);
int table_command(const CommandLine& line, std::ostream& out);
int explain_command(const CommandLine& line, std::ostream& out);

}  // namespace sb::tools

#endif  // SWITCHBOARD_TOOLS_INSPECT_COMMANDS_H_
