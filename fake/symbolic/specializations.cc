#include "switchboard/fake/symbolic/specializations.h"

namespace sb {

std::vector<IntrusivePtr<ShapeEnv>> specialized_envs(
    const std::vector<SizeSpecialization>& specializations, ShapeEnvSettings settings) {
  std::vector<IntrusivePtr<ShapeEnv>> envs;
  for (const SizeSpecialization& special : specializations) {
    envs.push_back(ShapeEnv::create(settings));
    envs.back()->specialize(special);
  }
  envs.push_back(ShapeEnv::create(settings));
  return envs;
}

std::optional<size_t> first_accepting(absl::Span<const IntrusivePtr<ShapeEnv>> envs,
                                      absl::Span<const std::pair<std::string, int64_t>> sizes) {
  for (size_t i = 0; i < envs.size(); ++i)
    if (envs[i]->evaluate_guards(sizes)) return i;
  return std::nullopt;
}

}  // namespace sb
