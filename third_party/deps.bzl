"""Every repository that Switchboard needs, found among Debian's installed packages."""

load(":absl.bzl", "installed_absl")
load(":installed.bzl", "installed_folder", "installed_package", "stand_in")
load(":libtorch.bzl", "installed_libtorch")

def switchboard_dependencies():
    """Defines the repositories that are not defined yet: a workspace's own come first."""

    # What Bazel's built-in rules ask for. Without these, Bazel would go to the network.
    _maybe(
        stand_in,
        name = "rules_cc",
        files = {
            Label("//third_party:rules_cc.BUILD"): "cc/BUILD",
            Label("//third_party:rules_cc.bzl"): "cc/defs.bzl",
        },
    )
    _maybe(
        stand_in,
        name = "remote_coverage_tools",
        files = {Label("//third_party:remote_coverage_tools.BUILD"): "BUILD"},
    )
    _maybe(
        installed_folder,
        name = "platforms",
        package = "bazel-platforms",
        path = "/usr/share/bazel/tools/platforms",
    )
    _maybe(
        installed_folder,
        name = "rules_java",
        package = "bazel-rules-java",
        path = "/usr/share/bazel/rules/java",
    )
    _maybe(
        installed_folder,
        name = "rules_proto",
        package = "bazel-rules-proto",
        path = "/usr/share/bazel/rules/proto",
    )

    # The libraries, named as their own Bazel files name them.
    _maybe(installed_absl, name = "com_google_absl")
    _maybe(
        installed_package,
        name = "eigen",
        package = "libeigen3-dev",
        module = "eigen3",
        headers = ["Eigen", "unsupported"],
        build_file = Label("//third_party:eigen.BUILD"),
    )
    _maybe(
        installed_package,
        name = "catch2",
        package = "catch2",
        module = "catch2",
        headers = ["catch2"],
        libraries = ["libCatch2WithMain.a"],
        build_file = Label("//third_party:catch2.BUILD"),
    )
    _maybe(
        installed_package,
        name = "nlohmann_json",
        package = "nlohmann-json3-dev",
        module = "nlohmann_json",
        headers = ["nlohmann"],
        build_file = Label("//third_party:nlohmann_json.BUILD"),
    )
    _maybe(
        installed_package,
        name = "libzip",
        package = "libzip-dev",
        module = "libzip",
        headers = ["zip.h", "zipconf.h"],
        libraries = ["libzip.so"],
        build_file = Label("//third_party:libzip.BUILD"),
    )
    _maybe(
        installed_package,
        name = "libyaml",
        package = "libyaml-dev",
        module = "yaml-0.1",
        headers = ["yaml.h"],
        libraries = ["libyaml.so"],
        build_file = Label("//third_party:libyaml.BUILD"),
    )
    _maybe(
        installed_folder,
        name = "random123",
        package = "librandom123-dev",
        path = "/usr/include/Random123",
        prefix = "include/Random123/",
        build_file = Label("//third_party:random123.BUILD"),
    )
    _maybe(
        installed_folder,
        name = "dlpack",
        package = "libdlpack-dev",
        path = "/usr/include/dlpack",
        prefix = "include/dlpack/",
        build_file = Label("//third_party:dlpack.BUILD"),
    )
    _maybe(
        installed_package,
        name = "com_github_google_benchmark",
        package = "libbenchmark-dev",
        module = "benchmark",
        headers = ["benchmark"],
        libraries = ["libbenchmark.so", "libbenchmark_main.a"],
        build_file = Label("//third_party:benchmark.BUILD"),
    )

    # Only for comparisons in //bench, tagged manual.
    _maybe(
        installed_libtorch,
        name = "libtorch",
        build_file = Label("//third_party:libtorch.BUILD"),
    )

def _maybe(rule, name, **kwargs):
    if not native.existing_rule(name):
        rule(name = name, **kwargs)
