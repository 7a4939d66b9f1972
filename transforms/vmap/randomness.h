// What random operators give inside of vmap.

#ifndef SWITCHBOARD_TRANSFORMS_VMAP_RANDOMNESS_H_
#define SWITCHBOARD_TRANSFORMS_VMAP_RANDOMNESS_H_

#include <cstdint>
#include <string_view>

namespace sb {

// As the `randomness` of `torch.vmap`: random operators are refused, draw the same numbers for all
// examples, or others for each.
enum class Randomness : uint8_t { Error, Same, Different };

// "error", "same", "different"; ValueError naming anything else.
std::string_view to_string(Randomness randomness);
Randomness parse_randomness(std::string_view text);

}  // namespace sb

#endif  // SWITCHBOARD_TRANSFORMS_VMAP_RANDOMNESS_H_
