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

# The rooms, lowest first. A room includes only rooms of the lines before its own; "ops" and "autograd"
# stand side by side, and only the derivatives of a family include both.
SB_ROOMS = [
    ["core"],
    ["dispatch"],
    ["ops", "autograd"],
    ["transforms"],
    ["fake"],
    ["custom_ops"],
    ["devices"],
    ["io", "devices/dummy"],
    ["distributed"],
]

# Folders of //ops whose operators have derivatives: //ops/<family>/derivatives.
SB_DERIVED_FAMILIES = [
    "arithmetic",
    "assertions",
    "attention",
    "composite",
    "copying",
    "elementwise",
    "fft",
    "indexing",
    "lazy_bits",
    "linalg",
    "loss",
    "normalization",
    "products",
    "quantized",
    "random",
    "reductions",
    "sorting",
    "spatial",
    "statistics",
    "views",
]

# What a file of cpu_kernels is compiled for besides the baseline: see ops/cpu/cpu_kernel.h. No
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

# For code that runs once for a graph or a file, not once for an element or a call: a third smaller,
# and compiled in less time.
_COLD_ROOMS = ["custom_ops", "distributed", "io", "tools", "transforms"]
_COLD_COPTS = select({
    "//:optimized": ["-Os"],
    "//conditions:default": [],
})

# Compiling a test takes longer than running it, hence no optimisation; and without that,
# _FORTIFY_SOURCE warns.
_TEST_COPTS = [
    "-O0",
    "-U_FORTIFY_SOURCE",
]

# Half the time of the linker, which waits for the disk. Sanitizers and debuggers keep the symbols.
_TEST_LINKOPTS = select({
    "//:optimized": ["-s"],
    "//conditions:default": [],
})

# A tenth less time for a sixth more memory: gcc frees only what is beyond 2 GB.
_COMPILER_COPTS = select({
    "//:clang": [],
    "//conditions:default": ["--param=ggc-min-heapsize=2000000"],
})

def _variant_copts(variant):
    """What kernels for a CPU capability are compiled with."""
    return _sb_copts() + _CPU_VARIANTS[variant] + ["-ffp-contract=off"] + select({
        "//:clang": [],
        # objcopy leaves symbols that are unique in a process alone. The warnings: GCC 12 takes
        # the undefined vectors of its own AVX-512 header for a mistake.
        "//conditions:default": ["-fno-gnu-unique", "-Wno-maybe-uninitialized", "-Wno-uninitialized"],
    }) + select({
        "//:optimized": ["-O3"],
        "//conditions:default": [],
    })

def _copts(testonly):
    """What a library, program or test of our own is compiled with."""
    if testonly:
        return _sb_copts() + _TEST_COPTS
    cold = native.package_name().partition("/")[0] in _COLD_ROOMS
    return _sb_copts() + (_COLD_COPTS if cold else [])

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
      srcs: compiled once.
      hdrs: all headers.
      deps: what it includes.
      cpu_kernels: sources that are compiled for each CPU capability: see ops/cpu/cpu_kernel.h.
      testonly: for tests, and compiled as they are.
      **kwargs: as cc_library's.
    """
    if native.package_name() == "ops" or native.package_name().startswith("ops/"):
        # For //ops, which names the headers of all families.
        native.filegroup(
            name = name + "_hdrs",
            srcs = hdrs,
            visibility = ["//ops:__pkg__"],
        )
    variants = []
    if cpu_kernels:
        # References to the variants are weak, for which no linker looks into an archive.
        kwargs["alwayslink"] = True
        native.cc_library(
            name = name + "_headers",
            hdrs = hdrs,
            include_prefix = "switchboard/" + native.package_name(),
            visibility = ["//visibility:private"],
            deps = deps,
        )
        for variant in _CPU_VARIANTS:
            variants.append(_sealed_variant(name, variant, cpu_kernels, deps, copts, features))
    native.cc_library(
        name = name,
        srcs = srcs + cpu_kernels + (select({
            "@platforms//cpu:x86_64": variants,
            "//conditions:default": [],
        }) if variants else []),
        hdrs = hdrs,
        deps = deps,
        copts = _copts(testonly) + copts,
        features = _FEATURES + features,
        testonly = testonly,
        include_prefix = "switchboard/" + native.package_name(),
        # Or Bazel compiles everything twice: for the archive, and for a shared library.
        linkstatic = True,
        **kwargs
    )

def _sealed_variant(name, variant, srcs, deps, copts, features):
    """One object of `srcs` for a CPU capability, which shows only its kernels to the linker."""
    code = "%s_%s" % (name, variant)
    native.cc_library(
        name = code,
        srcs = srcs,
        copts = _variant_copts(variant) + copts,
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
        # For //ops/cpu:cpu_variants_are_sealed_test.
        visibility = ["//ops/cpu:__pkg__"],
    )
    return code + ".o"

def sb_family(name, deps, copts = [], cpu_kernels = [], test_deps = []):
    """The operators of a folder of //ops, and their tests. They register themselves.

    Args:
      name: of the folder.
      deps: what they include, beside //core and //dispatch.
      copts: beside our warnings.
      cpu_kernels: files that are compiled for each CPU capability.
      test_deps: what the tests use besides.
    """
    deps = deps + ["//core", "//dispatch"]
    sb_cc_library(
        name = name,
        srcs = native.glob(
            ["*.cc"],
            exclude = ["*_test.cc"] + cpu_kernels,
        ),
        hdrs = native.glob(["*.h"]),
        alwayslink = True,
        copts = copts,
        cpu_kernels = cpu_kernels,
        visibility = ["//:above_ops"],
        deps = deps,
    )
    _sb_room_tests([":" + name] + deps + test_deps)

def sb_derivatives(family, deps = [], test_deps = []):
    """The derivatives of a family's operators, and their tests. The formulas register themselves.

    Args:
      family: the operators' target.
      deps: what the formulas include, beside the family, //ops:base and //autograd.
      test_deps: what the tests use besides: second derivatives go through the formulas of other families.
    """
    deps = deps + ["//autograd", "//core", "//dispatch", "//ops:base"]
    if family != "//ops:base":
        deps = deps + [family]
    sb_cc_library(
        name = "derivatives",
        srcs = native.glob(
            ["*.cc"],
            exclude = ["*_test.cc"],
        ),
        hdrs = native.glob(["*.h"]),
        alwayslink = True,
        visibility = [
            "//:above_autograd",
            "//:derivatives",
            "//ops:__pkg__",  # which names them all together
        ],
        deps = deps,
    )
    _sb_room_tests([":derivatives"] + deps + test_deps + [
        "//ops:base_derivatives",
        "//tests/gradients:test_derivatives",
    ])

def _sb_room_tests(deps):
    """One test for each *_test.cc of a folder of //ops, and the sources for //docs."""
    srcs = native.glob(["*_test.cc"])
    sb_cc_tests(
        srcs = srcs,
        # Once each.
        deps = {dep: None for dep in deps + ["//ops/testing:places"]}.keys(),
    )
    if srcs:
        native.filegroup(
            name = "test_sources",
            srcs = srcs,
            visibility = ["//docs:__pkg__"],
        )

def sb_cc_binary(name, deps = [], copts = [], features = [], testonly = False, **kwargs):
    """A cc_binary with our warnings. One for tests is compiled as they are."""
    native.cc_binary(
        name = name,
        deps = deps,
        copts = _copts(testonly) + copts,
        features = _FEATURES + features,
        testonly = testonly,
        **kwargs
    )

def sb_cc_test(name, deps = [], copts = [], features = [], linkopts = [], size = "small", **kwargs):
    """A Catch2 test. Catch2 and its main come with it."""
    native.cc_test(
        name = name,
        size = size,
        copts = _copts(testonly = True) + copts,
        features = _FEATURES + features,
        linkopts = _TEST_LINKOPTS + linkopts,
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
        sb_cc_test(name = src.rpartition("/")[2].rpartition(".")[0], srcs = [src], **kwargs)

def sb_room_groups(rooms = SB_ROOMS, under = "", derived = SB_DERIVED_FAMILIES):
    """Makes the package_groups that keep the order of the rooms.

    "above_<room>" is everyone but the rooms before it and beside it; "derivatives" is the derivatives
    of all families.

    Args:
      rooms: lines of folders, lowest first.
      under: the folder that the rooms are in, with its slash; for the test of this very function.
      derived: the families that have derivatives.
    """
    lower = []
    for line in rooms:
        for room in line:
            native.package_group(
                name = "above_" + room.replace("/", "_"),
                # In Bazel 4, "//..." is every package of every repository.
                packages = ["//..."] + ["-//%s%s/..." % (under, r) for r in lower + line if r != room],
            )
        lower = lower + line
    native.package_group(
        name = "derivatives",
        packages = ["//%sops/%s/derivatives" % (under, family) for family in derived],
    )

def _sb_copts():
    # Elsewhere, a compiler that we have not met must not stop the build for a new warning.
    return SB_COPTS + _COMPILER_COPTS + (["-Werror"] if _at_home() else [])

def _at_home():
    return native.repository_name() == "@"
