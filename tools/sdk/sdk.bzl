"""The SDK: Switchboard for programs that are not built with Bazel."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

_ABSEIL = "com_google_absl"

def _merged(deps):
    return cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in deps])

def _headers(context, repository):
    """Our headers by the path by which programs include them: {"switchboard/core/tensor.h": File}."""
    found = {}
    for header in context.headers.to_list():
        before, virtual, path = header.path.partition("/_virtual_includes/")
        if virtual and header.owner.workspace_name == repository:
            found[path.partition("/")[2]] = header
    return found

def _linked(context, repository):
    """What ours consists of and stands on, as linkers and pkg-config name it.

    Returns our archives; the names of Abseil's libraries, which are also their packages; those of other
    libraries by package ({"libzip": "zip"}); and the flags that all of these need.
    """
    archives, abseil, others, flags = [], [], {}, []
    for part in context.linker_inputs.to_list():
        if part.owner.workspace_name == _ABSEIL:
            if part.libraries:  # not headers alone
                abseil.append(part.owner.name)
        elif part.owner.workspace_name == repository:
            for library in part.libraries:
                archives.append(library.pic_static_library or library.static_library)
        elif part.libraries:
            # //third_party names repositories after packages, and their targets after libraries.
            others[part.owner.workspace_name] = part.owner.name
        flags.extend(part.user_link_flags)
    return archives, abseil, others, [flag for i, flag in enumerate(flags) if flag not in flags[:i]]

def _static_library(ctx, archives):
    """One archive of all."""
    library = ctx.actions.declare_file(ctx.label.name + "/libswitchboard.a")
    script = ctx.actions.declare_file(ctx.label.name + "/merge.mri")
    ctx.actions.write(script, "\n".join(
        ["create " + library.path] + ["addlib " + archive.path for archive in archives] + ["save", "end", ""],
    ))
    ctx.actions.run_shell(
        inputs = archives + [script],
        outputs = [library],
        command = "%s -M <%s" % (find_cpp_toolchain(ctx).ar_executable, script.path),
        mnemonic = "MergeArchives",
    )
    return library

def _shared_library(ctx, archive, libraries, flags):
    """A shared library of the whole archive; those that it names are the system's."""
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(ctx = ctx, cc_toolchain = toolchain)
    library = ctx.actions.declare_file("%s/libswitchboard.so.%s" % (ctx.label.name, ctx.attr.version))
    action = ACTION_NAMES.cpp_link_dynamic_library
    variables = cc_common.create_link_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        is_linking_dynamic_library = True,
        output_file = library.path,
        user_link_flags = [
            "-Wl,-soname," + library.basename,
            "-Wl,--whole-archive",
            archive.path,
            "-Wl,--no-whole-archive",
            "-Wl,--no-undefined",
        ] + ["-l" + name for name in libraries] + flags + ctx.fragments.cpp.linkopts,
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(feature_configuration = features, action_name = action),
        arguments = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
        inputs = depset([archive], transitive = [toolchain.all_files]),
        outputs = [library],
        mnemonic = "LinkSdk",
    )
    return library

def _package(ctx, name, description, requires, cflags, libs):
    """A file for pkg-config."""
    file = ctx.actions.declare_file("%s/%s.pc" % (ctx.label.name, name))
    ctx.actions.write(file, "\n".join([
        "prefix=${pcfiledir}/../..",
        "Name: " + name,
        "Description: " + description,
        "Version: " + ctx.attr.version,
        "Requires: " + ", ".join(["eigen3"] + requires),
        "Cflags: -I${prefix}/include " + " ".join(cflags),
        "Libs: " + " ".join(libs),
        "",
    ]))
    return file

def _sb_sdk_impl(ctx):
    info = _merged(ctx.attr.deps)
    headers = _headers(info.compilation_context, ctx.label.workspace_name)
    archives, abseil, others, flags = _linked(info.linking_context, ctx.label.workspace_name)
    static = _static_library(ctx, archives)
    shared = _shared_library(ctx, static, abseil + others.values(), flags)
    cflags = ["-std=c++20"] + ["-D" + define for define in info.compilation_context.defines.to_list()]

    files = {"include/" + path: file for path, file in headers.items()}
    for library in [static, shared]:
        files["lib/" + library.basename] = library
    for package in [
        _package(
            ctx,
            "switchboard",
            "A minimal tensor runtime with its own dispatcher",
            abseil,
            cflags,
            ["-L${prefix}/lib", "-lswitchboard"] + flags,
        ),
        _package(
            ctx,
            "switchboard-static",
            "Switchboard as part of the program",
            # No header includes these: with the shared library, the loader finds them.
            abseil + others.keys(),
            cflags,
            # Whole: operators register themselves, and nothing refers to them.
            ["-Wl,--whole-archive,${prefix}/lib/libswitchboard.a,--no-whole-archive"] + flags,
        ),
    ]:
        files["lib/pkgconfig/" + package.basename] = package

    tarball = ctx.actions.declare_file(ctx.label.name + ".tar.gz")
    manifest = ctx.actions.declare_file(ctx.label.name + "/manifest")
    ctx.actions.write(manifest, "".join(["%s %s\n" % (path, files[path].path) for path in sorted(files)]))
    ctx.actions.run(
        executable = ctx.executable._pack,
        arguments = [manifest.path, shared.basename, tarball.path],
        inputs = files.values() + [manifest],
        outputs = [tarball],
        mnemonic = "PackSdk",
    )
    return [DefaultInfo(files = depset([tarball]), runfiles = ctx.runfiles([tarball]))]

sb_sdk = rule(
    implementation = _sb_sdk_impl,
    doc = """A tarball of headers, a static and a shared library, and files for pkg-config.

    The static library is made of the objects of ordinary builds, which .bazelrc makes
    position-independent. Abseil, Eigen and libzip stay the system's.""",
    attrs = {
        "deps": attr.label_list(providers = [CcInfo], doc = "What programs may name."),
        "version": attr.string(mandatory = True, doc = "The shared library's, too: no two fit each other."),
        "_pack": attr.label(default = "//tools/sdk:pack", executable = True, cfg = "host"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
