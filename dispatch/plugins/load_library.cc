#include "switchboard/dispatch/plugins/load_library.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "switchboard/core/error.h"
#include "switchboard/core/str_cat.h"
#include "switchboard/dispatch/static_library.h"

namespace sb {
namespace {

struct Plugin {
  void* handle = nullptr;
  std::vector<internal::StaticBlock> blocks;
  enum class Blocks { Waiting, Running, Registered };
  Blocks state = Blocks::Waiting;
};

// Held while a plugin is opened and its blocks run, which may open others.
struct Plugins {
  std::recursive_mutex mutex;
  std::map<std::string, Plugin> by_path;
  std::vector<std::string> loaded;  // without those whose blocks are running
};

Plugins& plugins() {
  static auto* const plugins = new Plugins;
  return *plugins;
}

std::string resolve(const std::string& path) {
  char resolved[PATH_MAX];
  SB_CHECK(realpath(path.c_str(), resolved) != nullptr, "plugin '", path,
           "': ", std::strerror(errno));
  struct stat info;
  SB_CHECK(stat(resolved, &info) == 0 && S_ISREG(info.st_mode), "plugin '", path, "': not a file");
  return resolved;
}

// The linker's own words for what went wrong, without the path that they may begin with.
std::string linker_error(const std::string& path) {
  const char* const error = dlerror();
  std::string text = error ? error : "unknown error";
  if (const std::string prefix = path + ": "; text.rfind(prefix, 0) == 0)
    text.erase(0, prefix.size());
  if (text.find("undefined symbol") != std::string::npos)
    text +=
        "; a plugin takes it from the program, which must contain it and be linked with -rdynamic";
  return text;
}

// Opens the shared object, or finds it open, and runs its blocks. The lock is held.
Plugin& open(const std::string& path, int visibility) {
  internal::CollectStaticBlocks collect;
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_NODELETE | visibility);
  SB_CHECK(handle, "plugin '", path, "': ", linker_error(path));
  Plugin& plugin = plugins().by_path[path];
  if (!plugin.handle) {
    plugin.handle = handle;
    plugin.blocks = collect.take();
  }
  if (plugin.state != Plugin::Blocks::Waiting) return plugin;
  plugin.state = Plugin::Blocks::Running;  // or a plugin that loads itself would go on for ever
  try {
    for (auto& library : internal::StaticBlocks::fill(plugin.blocks))
      internal::keep_open(std::move(library));
  } catch (const Error& error) {
    plugin.state = Plugin::Blocks::Waiting;
    rethrow_with_context(error, str_cat("plugin '", path, "': "));
  } catch (...) {
    plugin.state = Plugin::Blocks::Waiting;
    throw;
  }
  plugin.state = Plugin::Blocks::Registered;
  return plugin;
}

}  // namespace

void load_library(const std::string& path) {
  const std::string resolved = resolve(path);
  std::lock_guard<std::recursive_mutex> lock(plugins().mutex);
  std::vector<std::string>& loaded = plugins().loaded;
  for (const std::string& other : loaded)
    if (other == resolved) return;
  // A plugin that loads itself, by way of others too, is loaded when its own blocks have run.
  if (open(resolved, RTLD_GLOBAL).state == Plugin::Blocks::Registered) loaded.push_back(resolved);
}

std::vector<std::string> loaded_libraries() {
  std::lock_guard<std::recursive_mutex> lock(plugins().mutex);
  return plugins().loaded;
}

std::vector<std::string> default_plugin_directories() {
  std::vector<std::string> directories;
  if (const char* const path = std::getenv("SWITCHBOARD_PLUGIN_PATH"))
    directories = absl::StrSplit(path, ':', absl::SkipEmpty());
  char program[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof(program));
  if (length > 0) {
    const std::string text(program, static_cast<size_t>(length));
    directories.push_back(text.substr(0, text.rfind('/')));
  }
  return directories;
}

void import_module(std::string_view name) { import_module(name, default_plugin_directories()); }

void import_module(std::string_view name, const std::vector<std::string>& directories) {
  SB_CHECK_VALUE(!name.empty() && name.find('/') == std::string_view::npos, "'", name,
                 "' is not the name of a plugin; expected one without directories, as 'demo' for ",
                 "libdemo.so");
  for (const std::string& directory : directories) {
    const std::string path = str_cat(directory, "/lib", name, ".so");
    if (access(path.c_str(), F_OK) == 0) return load_library(path);
  }
  SB_THROW(RuntimeError, "plugin '", name, "': no lib", name, ".so in ",
           directories.empty() ? "no directory at all" : absl::StrJoin(directories, ", "));
}

namespace internal {

void* symbol_of_library(const std::string& path, const std::string& symbol) {
  const std::string resolved = resolve(path);
  std::lock_guard<std::recursive_mutex> lock(plugins().mutex);
  void* const address = dlsym(open(resolved, RTLD_LOCAL).handle, symbol.c_str());
  SB_CHECK(address, "plugin '", resolved, "': no symbol '", symbol, "'");
  return address;
}

}  // namespace internal
}  // namespace sb
