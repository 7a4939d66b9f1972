// The schema's spelling of dtypes, devices and tensor metadata, which the program and the weights
// configs share.

#ifndef SWITCHBOARD_IO_EXPORTED_JSON_TENSOR_META_H_
#define SWITCHBOARD_IO_EXPORTED_JSON_TENSOR_META_H_

#include "switchboard/core/device.h"
#include "switchboard/core/dtype.h"
#include "switchboard/io/exported/program.h"
#include "switchboard/io/safetensors/json_document.h"

namespace sb::io {

// Each throws ValueError or NotImplementedError that says the place, as program_parser.h describes.
DType parse_scalar_type(const JsonValue& json);
Layout parse_layout(const JsonValue& json);
MemoryFormat parse_memory_format(const JsonValue& json);
Device parse_device(const JsonValue& json);
TensorMeta parse_tensor_meta(const JsonValue& json);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_EXPORTED_JSON_TENSOR_META_H_
