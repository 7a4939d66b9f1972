// From the JSON of an exported program to a Program.

#ifndef SWITCHBOARD_IO_EXPORTED_PROGRAM_PARSER_H_
#define SWITCHBOARD_IO_EXPORTED_PROGRAM_PARSER_H_

#include <string>
#include <string_view>

#include "switchboard/io/exported/program.h"

namespace sb::io {

// Reads what PyTorch's exporter wrote with schema major 8. `json` is the file's text; `origin`
// names the file in messages and becomes Program::origin. Unknown fields are ignored; everything
// that Program cannot hold or promise is refused: malformed or deeply nested JSON, duplicated keys,
// another schema major, dynamic shapes, unknown tags, operators that are no
// `torch.ops.NS.OP.OVERLOAD`, names that are undefined or defined twice, a signature that disagrees
// with the graph. Throws ValueError for what is malformed and NotImplementedError for what is
// well-formed but unsupported; both say where: "net.pt2: models/model.json:
// graph_module/graph/nodes[3] (addmm_1)/ inputs[0]: unknown tag 'as_foo'".
Program parse_program(std::string_view json, std::string origin);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_EXPORTED_PROGRAM_PARSER_H_
