"""libtorch, with which //bench compares: Debian's, or that of a Python environment."""

def _installed_libtorch_impl(rctx):
    # Such as the folder torch of a Python environment's site-packages.
    root = rctx.os.environ.get("LIBTORCH", "")
    for folder in ["ATen", "c10", "torch"]:
        found = rctx.path("%s/include/%s" % (root or "/usr", folder))
        if not found.exists:
            fail(("%s was not found; install the Debian package 'libtorch-dev', or have the " +
                  "environment variable LIBTORCH name the folder of another libtorch") % found)
        rctx.symlink(found, "include/" + folder)
    flags = ["-L%s/lib" % root, "-Wl,-rpath,%s/lib" % root] if root else []
    rctx.template("BUILD.bazel", rctx.attr.build_file, {"[%{link_flags}]": repr(flags)})

installed_libtorch = repository_rule(
    implementation = _installed_libtorch_impl,
    doc = "Links libtorch's headers, and links programs with it where it is.",
    attrs = {"build_file": attr.label(mandatory = True)},
    environ = ["LIBTORCH"],
    local = True,
)
