#include "switchboard/tools/loaded_model.h"

#include "switchboard/tools/program_tensors.h"

namespace sb::tools {

LoadedModel::LoadedModel(const CommandLine& line, bool without_data)
    : files_(find_model_files(line.arguments().at(0), form_of(line))),
      archive_(io::read_model_archive(files_.archive)),
      runner_(archive_.program),
      rules_(archive_.program),
      inputs_(line.get("inputs", files_.inputs)),
      plan_{archive_,
            runner_,
            program_tensors(archive_, {inputs_, line.find_seed("random-weights"), without_data,
                                       rules_.hints()}),
            {},
            {},
            {}} {
  plan_.sizes = inputs_.empty() ? rules_.hints() : rules_.numbers_of(plan_.inputs);
}

}  // namespace sb::tools
