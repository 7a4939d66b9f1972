"""Precompiled headers, which Bazel has no rule for."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def include_precompiled(name):
    """The flags of a compilation that uses the precompiled_header of that name, and depends on it."""
    return [
        "-include",
        "precompiled/%s.h" % name,
        # Its headers count as the file's own, so that Bazel compiles the file again when one changes.
        "-fpch-deps",
        # GCC 12 gives these for libraries' inline functions, and wrongly, once it has merged equal
        # ones. clang has its own.
        "-Wno-array-bounds",
        "-Wno-stringop-overflow",
    ]

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    libraries = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    context = libraries.compilation_context

    # The compiler looks for NAME.h.gch beside NAME.h, and reads NAME.h where that does not fit. What the
    # file there does not depend on is then missing.
    header = ctx.actions.declare_file("precompiled/%s.h" % ctx.label.name)
    ctx.actions.write(header, "".join([
        "#if __has_include({name})\n#include {name}\n#endif\n".format(
            name = name if name.startswith("<") else '"%s"' % name,
        )
        for name in ctx.attr.includes
    ]))
    precompiled = ctx.actions.declare_file(header.basename + ".gch", sibling = header)

    # It holds this list too, which a compilation's -fpch-deps adds to its own.
    headers_read = ctx.actions.declare_file(header.basename + ".d", sibling = header)

    action = ACTION_NAMES.cpp_compile
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts +
                             ["-MD", "-MF", headers_read.path, "-x", "c++-header"],
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = context.system_includes,
        preprocessor_defines = context.defines,
        source_file = header.path,
        output_file = precompiled.path,
        use_pic = True,
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
        inputs = depset([header], transitive = [context.headers, toolchain.all_files]),
        outputs = [precompiled, headers_read],
        # Not in a sandbox: it keeps the paths of what it read, by which Bazel is to know these files.
        execution_requirements = {"local": ""},
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling " + header.short_path,
    )

    # Without the folders of what it holds: a file does not find a header of what it does not depend on.
    own = cc_common.create_compilation_context(
        headers = depset([header, precompiled], transitive = [context.headers]),
        system_includes = depset([header.dirname[:-len("/precompiled")]]),
        defines = context.defines,
    )
    return [
        DefaultInfo(files = depset([precompiled])),
        CcInfo(compilation_context = own),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    doc = """Headers that the compiler has read once for all: depend on it, and compile with include_precompiled(name).

    For gcc. It serves compilations with the same flags, those of warnings apart; others read the
    headers themselves. Programs do not link what its deps are.""",
    attrs = {
        "includes": attr.string_list(mandatory = True, doc = "What is read once, in this order."),
        "copts": attr.string_list(doc = "As those of the compilations."),
        "deps": attr.label_list(providers = [CcInfo], doc = "Whose headers they are."),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
