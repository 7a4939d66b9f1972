// Profiles of operators' calls (fake/fake_profile.h) as YAML, as PyTorch writes it.

#ifndef SWITCHBOARD_IO_OP_PROFILES_OP_PROFILES_H_
#define SWITCHBOARD_IO_OP_PROFILES_OP_PROFILES_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "switchboard/fake/fake_profile.h"

namespace sb::io {

// By the names of the operators: "mylib::foo".
using OpProfiles = std::map<std::string, std::vector<OpProfile>>;

// As `torch._library.fake_profile.generate_yaml_from_profiles`: PyTorch reads it, but for arguments
// and results that are lists of tensors, which PyTorch's profiles have no place for, and which are
// written as lists. Arguments without a tensor are left out, as there.
std::string generate_yaml_from_profiles(const OpProfiles& profiles);

// Reads it. What belongs to which argument, the operators' schemas tell, which must be there:
// RuntimeError for an operator that is not, ValueError for a profile that does not fit its schema,
// or fits it in several ways, and for anything else that is wrong, with the line. PyTorch's
// profiles of version 2.14 are read; RuntimeError for others. As `read_profiles_from_yaml`, which
// needs no operators, and then finds no profile for calls with other arguments than tensors.
OpProfiles read_profiles_from_yaml(std::string_view yaml);

// The same to and from a file. As `save_op_profiles` and `load_op_profiles`. RuntimeError for what
// the system refuses; a file that is there is replaced when the new one is whole.
void save_op_profiles(const OpProfiles& profiles, const std::string& path);
OpProfiles load_op_profiles(const std::string& path);

}  // namespace sb::io

#endif  // SWITCHBOARD_IO_OP_PROFILES_OP_PROFILES_H_
