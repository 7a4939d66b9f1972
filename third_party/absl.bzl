"""Abseil as a Debian package installs it, under the labels of Abseil's own Bazel files.

pkg-config has a file for each of Abseil's libraries. Its `Requires` give the dependencies, so
that static libraries are linked in order; which headers a folder holds tells where Bazel has it.
"""

load(":installed.bzl", "pkg_config")

# Where Bazel's label cannot be told from pkg-config's name and the headers.
_LABELS = {
    "btree": "container:btree",
    "config": "base:config",
    "core_headers": "base:core_headers",
    "flags": "flags:flag",
}

_HEADER = """package(default_visibility = ["//visibility:public"])
"""

# pkg-config does not say which headers are whose.
_ALL_HEADERS = """
cc_library(
    name = "headers",
    hdrs = glob(["include/absl/**"]),
    includes = ["include"],
    linkopts = ["-pthread"],
)

# Debian's archives are not position-independent: what becomes part of a shared library (a Python
# extension, say) needs --define=absl=shared.
config_setting(
    name = "shared",
    define_values = {"absl": "shared"},
)
"""

_LIBRARY = """
cc_library(
    name = "{name}",
    srcs = select({{
        ":shared": {shared},
        "//conditions:default": {static},
    }}),
    deps = {deps} + [":headers"],
)
"""

_ALIAS = """
alias(
    name = "{name}",
    actual = "//:{actual}",
)
"""

def _label(rctx, include, folders, name):
    """Returns "strings:str_format" for "str_format"; None for an internal library."""
    if name in _LABELS:
        return _LABELS[name]
    if name in folders:
        return name + ":" + name
    for folder in folders:
        for place in ["", "internal/"]:
            if rctx.path("%s/%s/%s%s.h" % (include, folder, place, name)).exists:
                return folder + ":" + name
    for folder in folders:
        if name.startswith(folder + "_"):
            return folder + ":" + name[len(folder) + 1:]
    return None

def _requires(text):
    """Returns the names in the line "Requires: absl_base = 20220623, absl_config = 20220623"."""
    for line in text.split("\n"):
        if line.startswith("Requires:"):
            names = [item.strip().split(" ")[0] for item in line[len("Requires:"):].split(",")]
            return [name for name in names if name]
    return []

def _link_library(rctx, libdir, file):
    """Links a library into lib/; returns the srcs that it makes: none for headers alone."""
    found = rctx.path(libdir + "/" + file)
    if not found.exists:
        return []
    rctx.symlink(found, "lib/" + file)
    return ["lib/" + file]

def _installed_absl_impl(rctx):
    package = "libabsl-dev"
    pc_folder = pkg_config(rctx, "absl_base", package, "--variable=pcfiledir")
    libdir = pkg_config(rctx, "absl_base", package, "--variable=libdir")
    include = pkg_config(rctx, "absl_base", package, "--variable=includedir") + "/absl"
    rctx.symlink(include, "include/absl")
    folders = [entry.basename for entry in rctx.path(include).readdir()]

    root = [_HEADER, _ALL_HEADERS]
    aliases = {folder: [_HEADER] for folder in folders}
    for pc in rctx.path(pc_folder).readdir():
        if not (pc.basename.startswith("absl_") and pc.basename.endswith(".pc")):
            continue
        name = pc.basename[:-len(".pc")]
        static = _link_library(rctx, libdir, "lib%s.a" % name)
        shared = _link_library(rctx, libdir, "lib%s.so" % name)
        label = _label(rctx, include, folders, name[len("absl_"):])
        if label:
            folder, target = label.split(":")
            aliases[folder].append(_ALIAS.format(name = target, actual = name))
        deps = [":" + required for required in _requires(rctx.read(pc))]
        root.append(_LIBRARY.format(name = name, static = static, shared = shared, deps = deps))

    rctx.file("BUILD.bazel", "".join(root), executable = False)
    for folder, text in aliases.items():
        rctx.file("absl/%s/BUILD.bazel" % folder, "".join(text), executable = False)

installed_absl = repository_rule(
    implementation = _installed_absl_impl,
    environ = ["PKG_CONFIG_PATH"],
    local = True,
)
