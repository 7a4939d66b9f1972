// Plugins: shared objects that register operators and kernels when they are loaded.

#ifndef SWITCHBOARD_DISPATCH_PLUGINS_LOAD_LIBRARY_H_
#define SWITCHBOARD_DISPATCH_PLUGINS_LOAD_LIBRARY_H_

#include <string>
#include <string_view>
#include <vector>

namespace sb {

// Opens a shared object and runs its SB_LIBRARY blocks, which register in the default dispatcher of
// this process. As `torch.ops.load_library`. Loading a plugin again does nothing.
//
// A plugin holds no copy of Switchboard: it takes Switchboard's functions from the program, which
// is therefore linked with -rdynamic and contains those that the plugin uses.
//
// Throws RuntimeError naming the plugin if there is no such file, it is not a shared object, or a
// symbol is missing. If a block fails, what the plugin registered is undone, and the error is of
// the block's kind; the plugin may be loaded again when the cause is gone.
//
// Nothing unloads a plugin, not even dlclose: calls on any thread, tensors and handles may still
// need its code. A plugin's registrations can be made to go all the same, with Libraries that it
// closes itself.
//
// Thread-safe; a block may load other plugins.
void load_library(const std::string& path);

// The plugins that were loaded, as absolute paths, in order.
std::vector<std::string> loaded_libraries();

// Loads the plugin of that name, "lib<name>.so", from the first of the directories that has it.
// Throws RuntimeError that names the places where it was looked for. The counterpart of
// `torch.ops.import_module`.
void import_module(std::string_view name, const std::vector<std::string>& directories);
// The same, from default_plugin_directories().
void import_module(std::string_view name);

// The directories that the environment variable SWITCHBOARD_PLUGIN_PATH lists, with colons between
// them; then that of the program.
std::vector<std::string> default_plugin_directories();

namespace internal {

// The address of a symbol of a shared object, which is opened, with its blocks, if it was not yet.
// Its other symbols stay its own. Throws as load_library, and RuntimeError for a missing symbol.
void* symbol_of_library(const std::string& path, const std::string& symbol);

}  // namespace internal
}  // namespace sb

#endif  // SWITCHBOARD_DISPATCH_PLUGINS_LOAD_LIBRARY_H_
