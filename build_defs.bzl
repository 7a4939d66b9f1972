"""The rules that every room of Switchboard uses, and the order of the rooms."""

load("//tools/precompiled:precompiled_header.bzl", "include_precompiled", "precompiled_header")

# For our own code: a program that embeds Switchboard keeps its own warnings.
SB_COPTS = [
    "-Wall",
    "-Wextra",
]

# clang heeds layering_check (see .ci/clang). Bazel 4's own toolchain has no parse_headers yet.
_FEATURES = [
    "layering_check",
    "parse_headers",
]

# Each room includes only rooms before it in this list.
SB_ROOMS = [
    "core",
    "dispatch",
    "ops",
    "autograd",
    "fake",
    "devices",
    "io",
    "devices/dummy",
]

# Programs that need little link these alone.
_LOWER_ROOMS = SB_ROOMS[:2]

# What a file of cpu_kernels is compiled for besides the baseline: see ops/cpu_kernel.h. No
# contraction of a * b + c, so that results do not depend on the CPU where nothing says so.
_CPU_VARIANTS = {
    "avx2": ["-mavx2", "-mfma", "-mf16c"],
    "avx512": [
        "-mavx512f",
        "-mavx512dq",
        "-mavx512bw",
        "-mavx512vl",
        "-mfma",
        "-mf16c",
        "-mprefer-vector-width=512",
    ],
}

# Compiling a test takes longer than running it, hence no optimisation; and without that,
# _FORTIFY_SOURCE warns.
_TEST_COPTS = [
    "-O0",
    "-U_FORTIFY_SOURCE",
]

# A tenth less time for a sixth more memory: gcc frees only what is beyond 2 GB.
_COMPILER_COPTS = select({
    "//:clang": [],
    "//conditions:default": ["--param=ggc-min-heapsize=2000000"],
})

def _variant_copts(variant):
    """What kernels for a CPU capability are compiled with, their precompiled header too."""
    return _sb_copts() + _CPU_VARIANTS[variant] + ["-ffp-contract=off"] + select({
        "//:clang": [],
        # objcopy leaves symbols that are unique in a process alone. The warnings: GCC 12 takes
        # the undefined vectors of its own AVX-512 header for a mistake.
        "//conditions:default": ["-fno-gnu-unique", "-Wno-maybe-uninitialized", "-Wno-uninitialized"],
    }) + select({
        "//:optimized": ["-O3"],
        "//conditions:default": [],
    })

# clang reads all headers anew, and so finds a file that forgets to include one. So does a workspace
# that embeds Switchboard: its flags may be others, and it needs few files.
def _precompiled(name):
    """A header of //tools/precompiled to depend on, and the flags that use it."""
    if not _at_home():
        return [], []
    return (
        select({
            "//:clang": [],
            "//conditions:default": ["//tools/precompiled:" + name],
        }),
        select({
            "//:clang": [],
            "//conditions:default": include_precompiled(name),
        }),
    )

def _compilation(testonly):
    """What a library, program or test of our own is compiled with: dependencies and copts."""
    if testonly:
        precompiled, include = _precompiled("tests")
        return precompiled, _sb_copts() + include + _TEST_COPTS
    lower = native.package_name().partition("/")[0] in _LOWER_ROOMS
    precompiled, include = _precompiled("libraries" if lower else "operators")
    return precompiled, _sb_copts() + include

# Of a library above the room `dispatch`, at most so many files are compiled as one. More gain little,
# and cost whoever changes one of them.
_FILES_TOGETHER = 4

def _together(name, srcs, testonly):
    """The sources of a library in few files, each of several one after another.

    Half of what a file of operators costs is what its neighbours instantiate as well. Messages and
    debuggers name the files that people wrote. See tools/precompiled/README.md for what neighbours
    share. --config=each compiles each file alone, as --config=clang does.

    Args:
      name: of the library.
      srcs: its files: of C++, by name.
      testonly: whether the library is.
    """
    if native.package_name().partition("/")[0] in _LOWER_ROOMS or len(srcs) < 2:
        return srcs
    for src in srcs:
        if not src.endswith(".cc") or ":" in src:
            fail("%s: srcs: expected names of .cc files, got %s" % (name, src))
    count = (len(srcs) + _FILES_TOGETHER - 1) // _FILES_TOGETHER
    files = []
    for i in range(count):
        files.append("%s_%d.cc" % (name, i + 1))
        native.genrule(
            name = "%s_%d_together" % (name, i + 1),
            testonly = testonly,
            srcs = srcs[len(srcs) * i // count:len(srcs) * (i + 1) // count],
            outs = [files[i]],
            cmd = "for f in $(SRCS); do echo \"#line 1 \\\"$$f\\\"\"; cat $$f; done > $@",
            tags = ["manual"],
        )
    return select({
        "//:each_file": srcs,
        "//conditions:default": files,
    })

def sb_precompiled_headers(libraries, library_deps, operators, kernels):
    """The headers that the functions below compile with: see tools/precompiled/README.md.

    Args:
      libraries: what files include of other libraries.
      library_deps: these libraries.
      operators: what files include of //ops:base and the rooms below it, besides.
      kernels: what files of cpu_kernels include of //ops:base. It is not to run anything at
        start-up (<iostream> does).
    """
    precompiled_header(
        name = "libraries",
        copts = _sb_copts(),
        includes = libraries,
        deps = library_deps,
    )
    precompiled_header(
        name = "operators",
        copts = _sb_copts(),
        includes = libraries + operators,
        deps = library_deps + ["//ops:base_headers"],
    )
    precompiled_header(
        name = "tests",
        copts = _sb_copts() + _TEST_COPTS,
        includes = libraries + operators + ["catch2/catch.hpp"],
        deps = library_deps + ["//ops:base_headers", "@catch2//:catch2"],
    )
    for variant in _CPU_VARIANTS:
        precompiled_header(
            name = "kernels_" + variant,
            copts = _variant_copts(variant) + ["-DSB_CPU_VARIANT=" + variant],
            includes = kernels,
            deps = ["//ops:base_headers"],
        )

def sb_cc_library(
        name,
        copts = [],
        features = [],
        srcs = [],
        hdrs = [],
        deps = [],
        cpu_kernels = [],
        testonly = False,
        **kwargs):
    """A cc_library whose hdrs are included as "switchboard/<package>/<header>".

    A header goes into hdrs, not into srcs or textual_hdrs: Bazel gives only hdrs the prefix.
    Give alwayslink = True where objects register themselves.

    Args:
      name: of the library.
      copts: beside our warnings.
      features: beside ours.
      srcs: compiled once, and several together.
      hdrs: all headers.
      deps: what it includes.
      cpu_kernels: sources that are compiled for each CPU capability: see ops/cpu_kernel.h.
      testonly: for tests, and compiled as they are.
      **kwargs: as cc_library's.
    """
    more_deps, more_copts = _compilation(testonly)
    if native.package_name() == "ops" or native.package_name().startswith("ops/"):
        # For //ops, which names the headers of all families.
        native.filegroup(
            name = name + "_hdrs",
            srcs = hdrs,
            visibility = ["//ops:__pkg__"],
        )
    variants = []
    if cpu_kernels:
        native.cc_library(
            name = name + "_headers",
            hdrs = hdrs,
            include_prefix = "switchboard/" + native.package_name(),
            visibility = ["//tools/precompiled:__pkg__"],
            deps = deps,
        )
        for variant in _CPU_VARIANTS:
            variants.append(_sealed_variant(name, variant, cpu_kernels, deps, copts, features))
    native.cc_library(
        name = name,
        srcs = _together(name, srcs, testonly) + cpu_kernels + (select({
            "@platforms//cpu:x86_64": variants,
            "//conditions:default": [],
        }) if variants else []),
        hdrs = hdrs,
        deps = deps + (more_deps if srcs or cpu_kernels else []),
        copts = more_copts + copts,
        features = _FEATURES + features,
        testonly = testonly,
        include_prefix = "switchboard/" + native.package_name(),
        # Or Bazel compiles everything twice: for the archive, and for a shared library.
        linkstatic = True,
        **kwargs
    )

def _sealed_variant(name, variant, srcs, deps, copts, features):
    """One object of `srcs` for a CPU capability, which shows only its kernels to the linker."""
    precompiled, include = _precompiled("kernels_" + variant)
    code = "%s_%s" % (name, variant)
    native.cc_library(
        name = code,
        srcs = srcs,
        copts = _variant_copts(variant) + include + copts,
        features = _FEATURES + features,
        linkstatic = True,
        local_defines = ["SB_CPU_VARIANT=" + variant],
        visibility = ["//visibility:private"],
        deps = [":" + name + "_headers"] + deps + precompiled,
    )

    # Inline functions become the object's own (the linker would else take one of all copies, maybe
    # this one, for every CPU).
    native.genrule(
        name = code + "_object",
        srcs = [":" + code],
        outs = [code + ".o"],
        cmd = "ld -r --force-group-allocation --whole-archive $(SRCS) -o $@ && " +
              "objcopy --wildcard --keep-global-symbol='*_%sE' $@" % variant,
        # For //ops:cpu_variants_are_sealed_test.
        visibility = ["//ops:__pkg__"],
    )
    return code + ".o"

def sb_derivatives(family, deps, hdrs = []):
    """What autograd knows of the operators of a family: "derivatives", of its *_derivatives.cc.

    It is above //autograd, and no operator needs it; only the formulas of other families do.

    Args:
      family: the operators' target.
      deps: what the formulas include, beside the family and //autograd.
      hdrs: what they share.
    """
    sb_cc_library(
        name = "derivatives",
        srcs = native.glob(["*_derivatives.cc"]),
        hdrs = hdrs,
        # The formulas register themselves.
        alwayslink = True,
        visibility = [
            "//:above_autograd",
            "//:operator_families",
        ],
        deps = [":" + family, "//autograd"] + deps,
    )

def sb_cc_binary(name, deps = [], copts = [], features = [], testonly = False, **kwargs):
    """A cc_binary with our warnings. One for tests is compiled as they are."""
    more_deps, more_copts = _compilation(testonly)
    native.cc_binary(
        name = name,
        deps = deps + more_deps,
        copts = more_copts + copts,
        features = _FEATURES + features,
        testonly = testonly,
        **kwargs
    )

def sb_cc_test(name, deps = [], copts = [], features = [], size = "small", **kwargs):
    """A Catch2 test. Catch2 and its main come with it."""
    more_deps, more_copts = _compilation(testonly = True)
    native.cc_test(
        name = name,
        size = size,
        copts = more_copts + copts,
        features = _FEATURES + features,
        # As in a binary, so that a registration that the linker drops is missed here too.
        linkstatic = True,
        deps = deps + [
            "@catch2//:catch2",
            "@catch2//:catch2_main",
        ] + more_deps,
        **kwargs
    )

def sb_cc_tests(srcs, **kwargs):
    """One sb_cc_test for each file, named as the file: "tensor_test" for "tensor_test.cc"."""
    for src in srcs:
        sb_cc_test(name = src.rpartition(".")[0], srcs = [src], **kwargs)

def sb_derivatives_tests(family, deps = []):
    """The tests of a family's derivatives: each *_derivatives_test.cc.

    Args:
      family: the operators' target.
      deps: what the tests use besides; second derivatives go through the formulas of other families.
    """
    sb_cc_tests(
        srcs = native.glob(["*_derivatives_test.cc"]),
        deps = [
            ":derivatives",
            ":" + family,
            "//autograd",
            "//core",
            "//dispatch",
            "//ops:base",
            "//ops:base_derivatives",
            "//ops:test_places",
        ] + deps,
    )

def sb_room_groups(rooms = SB_ROOMS, under = ""):
    """Makes for each room a package_group "above_<room>": everyone but the rooms before it.

    Args:
      rooms: folders, lowest first.
      under: the folder that the rooms are in, with its slash; for the test of this very function.
    """
    for i, room in enumerate(rooms):
        native.package_group(
            name = "above_" + room.replace("/", "_"),
            # In Bazel 4, "//..." is every package of every repository.
            packages = ["//..."] + ["-//%s%s/..." % (under, lower) for lower in rooms[:i]],
        )

def _sb_copts():
    # Elsewhere, a compiler that we have not met must not stop the build for a new warning.
    return SB_COPTS + _COMPILER_COPTS + (["-Werror"] if _at_home() else [])

def _at_home():
    return native.repository_name() == "@"
