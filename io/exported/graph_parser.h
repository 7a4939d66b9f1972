// From the JSON of a graph to a Graph.

#ifndef SWITCHBOARD_IO_EXPORTED_GRAPH_PARSER_H_
#define SWITCHBOARD_IO_EXPORTED_GRAPH_PARSER_H_

#include <optional>
#include <string_view>

#include "switchboard/io/exported/parse_notes.h"
#include "switchboard/io/exported/program.h"
#include "switchboard/io/safetensors/json_document.h"

namespace sb::io {

// A graph, and those that its nodes' arguments are. Throws as program_parser.h describes.
Graph parse_graph(const JsonValue& json, ParseNotes& notes);

// A None, a number or a text; nothing if `tag` says something else.
std::optional<Argument> parse_constant(std::string_view tag, const JsonValue& value);
// What a graph takes or a spec names: a TensorRef, SymRef, ObjectRef or TokenRef, or a constant.
// Whether the name is defined is not looked at.
Argument parse_reference(const JsonValue& json);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_EXPORTED_GRAPH_PARSER_H_
