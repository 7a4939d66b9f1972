"""The rules that every room of Switchboard uses, and the order of the rooms."""

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
    "devices/dummy",
]

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

def sb_cc_library(name, copts = [], features = [], srcs = [], hdrs = [], deps = [], cpu_kernels = [], **kwargs):
    """A cc_library whose hdrs are included as "switchboard/<package>/<header>".

    A header goes into hdrs, not into srcs or textual_hdrs: Bazel gives only hdrs the prefix.
    Give alwayslink = True where objects register themselves.

    Args:
      name: of the library.
      copts: beside our warnings.
      features: beside ours.
      srcs: compiled once.
      hdrs: all headers.
      deps: what it includes.
      cpu_kernels: sources that are compiled for each CPU capability: see ops/cpu_kernel.h.
      **kwargs: as cc_library's.
    """
    variants = []
    if cpu_kernels:
        native.cc_library(
            name = name + "_headers",
            hdrs = hdrs,
            include_prefix = "switchboard/" + native.package_name(),
            visibility = ["//visibility:private"],
            deps = deps,
        )
        for variant, flags in _CPU_VARIANTS.items():
            variants.append(_sealed_variant(name, variant, flags, cpu_kernels, deps, copts, features))
    native.cc_library(
        name = name,
        srcs = srcs + cpu_kernels + select({
            "@platforms//cpu:x86_64": variants,
            "//conditions:default": [],
        }) if variants else srcs,
        hdrs = hdrs,
        deps = deps,
        copts = _sb_copts() + copts,
        features = _FEATURES + features,
        include_prefix = "switchboard/" + native.package_name(),
        # Or Bazel compiles everything twice: for the archive, and for a shared library.
        linkstatic = True,
        **kwargs
    )

def _sealed_variant(name, variant, flags, srcs, deps, copts, features):
    """One object of `srcs` compiled with `flags`, which shows only its kernels to the linker."""
    code = "%s_%s" % (name, variant)
    native.cc_library(
        name = code,
        srcs = srcs,
        copts = _sb_copts() + copts + flags + ["-ffp-contract=off"] + select({
            "//:clang": [],
            # objcopy leaves symbols that are unique in a process alone. The warnings: GCC 12 takes
            # the undefined vectors of its own AVX-512 header for a mistake.
            "//conditions:default": ["-fno-gnu-unique", "-Wno-maybe-uninitialized", "-Wno-uninitialized"],
        }) + select({
            "//:optimized": ["-O3"],
            "//conditions:default": [],
        }),
        features = _FEATURES + features,
        linkstatic = True,
        local_defines = ["SB_CPU_VARIANT=" + variant],
        visibility = ["//visibility:private"],
        deps = [":" + name + "_headers"] + deps,
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

def sb_cc_binary(name, copts = [], features = [], **kwargs):
    """A cc_binary with our warnings."""
    native.cc_binary(
        name = name,
        copts = _sb_copts() + copts,
        features = _FEATURES + features,
        **kwargs
    )

def sb_cc_test(name, deps = [], copts = [], features = [], size = "small", **kwargs):
    """A Catch2 test. Catch2 and its main come with it."""
    native.cc_test(
        name = name,
        size = size,
        # Compiling a test takes longer than running it, hence no optimisation; and without that,
        # _FORTIFY_SOURCE warns.
        copts = _sb_copts() + ["-O0", "-U_FORTIFY_SOURCE"] + copts,
        features = _FEATURES + features,
        # As in a binary, so that a registration that the linker drops is missed here too.
        linkstatic = True,
        deps = deps + [
            "@catch2//:catch2",
            "@catch2//:catch2_main",
        ],
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
    at_home = native.repository_name() == "@"
    return SB_COPTS + (["-Werror"] if at_home else [])
