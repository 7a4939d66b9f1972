// The keys of layers that a program puts on a thread: modes, functionalisation, vmap.

#ifndef SWITCHBOARD_IO_RECORDING_LAYER_KEYS_H_
#define SWITCHBOARD_IO_RECORDING_LAYER_KEYS_H_

#include "switchboard/core/dispatch_key_set.h"

namespace sb::internal {

inline constexpr DispatchKeySet kModeKeys = {DispatchKey::Python, DispatchKey::PythonTLSSnapshot,
                                             DispatchKey::PythonDispatcher};
// A call with one of these keys is a layer's affair, of which a file holds nothing but the calls
// that it makes: these are made again in its place.
inline constexpr DispatchKeySet kLayerKeys =
    kModeKeys | DispatchKeySet{DispatchKey::Functionalize,
                               DispatchKey::FuncTorchDynamicLayerBackMode,
                               DispatchKey::FuncTorchDynamicLayerFrontMode,
                               DispatchKey::FuncTorchBatched,
                               DispatchKey::FuncTorchGradWrapper,
                               DispatchKey::Batched,
                               DispatchKey::BatchedNestedTensor};

}  // namespace sb::internal

#endif  // SWITCHBOARD_IO_RECORDING_LAYER_KEYS_H_
