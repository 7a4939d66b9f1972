// Facts that a definition states beside the operator's schema and tags.

#ifndef SWITCHBOARD_DISPATCH_DEFINITION_H_
#define SWITCHBOARD_DISPATCH_DEFINITION_H_

#include <cstdint>

namespace sb {

// How much the schema tells about the memory that the operator's values share, as the
// `alias_analysis` of `torch.library.Library.define`.
enum class AliasAnalysis : uint8_t {
  FromSchema,    // "FROM_SCHEMA", or "": the annotations are the whole truth
  Conservative,  // "CONSERVATIVE": any argument may be written to, any result may be a view of it
};

// The origin of a definition: a block of the program or of a plugin that runs as it is loaded
// (SB_LIBRARY), or a Library that somebody opened.
enum class DefinitionOrigin : uint8_t { RunTime, Static };

struct Definition {
  AliasAnalysis alias_analysis = AliasAnalysis::FromSchema;
  DefinitionOrigin origin = DefinitionOrigin::RunTime;
};

}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_DEFINITION_H_
