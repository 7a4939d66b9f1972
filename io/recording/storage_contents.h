// The bytes of storages at a moment of a recording, and the elements of tensors in them.

#ifndef SWITCHBOARD_IO_RECORDING_STORAGE_CONTENTS_H_
#define SWITCHBOARD_IO_RECORDING_STORAGE_CONTENTS_H_

#include <cstdint>
#include <string>

#include "switchboard/io/recording/recording.h"

namespace sb::io {

// The bytes of a storage as an event began, or `after` it ended: what was last said of them. Null
// if nothing was.
const std::string* storage_contents(const RecordedRun& run, uint64_t storage, uint32_t event,
                                    bool after);

// A tensor and the bytes of its storage.
struct TensorContents {
  const RecordedRun& run;
  const RecordedTensor& tensor;
  const std::string* bytes;
};
// "element [1, 2]: 3.5 and 3.75\n", the first in order that differs by more than RunDiffOptions'
// tolerance. Empty if none does, or where one is not known.
std::string differing_element(const TensorContents& a, const TensorContents& b,
                              double tolerance = 0);
// Whether both are known, of one dtype that has such numbers and of one shape, and none differs by
// more.
bool elements_are_close(const TensorContents& a, const TensorContents& b, double tolerance);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_RECORDING_STORAGE_CONTENTS_H_
