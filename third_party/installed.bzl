"""Repository rules for libraries that a Debian package has installed."""

def pkg_config(rctx, module, package, *args):
    """Returns what pkg-config says of `module`; fails with the name of the Debian package."""
    tool = rctx.which("pkg-config")
    if not tool:
        fail("pkg-config was not found; install the Debian package 'pkg-config'")
    result = rctx.execute([tool, module] + list(args))
    if result.return_code != 0:
        fail("%s was not found; install the Debian package '%s' (%s)" %
             (module, package, result.stderr.strip()))
    return result.stdout.strip()

def _flag_values(flags, prefix):
    return [flag[len(prefix):] for flag in flags.split(" ") if flag.startswith(prefix)]

def _link_first(rctx, file, folders, to, package):
    for folder in folders:
        found = rctx.path(folder + "/" + file)
        if found.exists:
            rctx.symlink(found, to)
            return
    fail("%s was not found in %s; install the Debian package '%s'" %
         (file, " or ".join(folders), package))

def _installed_package_impl(rctx):
    module, package = rctx.attr.module, rctx.attr.package

    # Without the two variables, pkg-config leaves out the folders that the compiler knows already.
    folders = pkg_config(
        rctx,
        module,
        package,
        "--cflags-only-I",
        "--keep-system-cflags",
    ).strip()
    for header in rctx.attr.headers:
        _link_first(rctx, header, _flag_values(folders, "-I"), "include/" + header, package)
    libdir = pkg_config(rctx, module, package, "--variable=libdir")
    for library in rctx.attr.libraries:
        _link_first(rctx, library, [libdir, "/usr/lib"], "lib/" + library, package)
    rctx.symlink(rctx.attr.build_file, "BUILD.bazel")

installed_package = repository_rule(
    implementation = _installed_package_impl,
    doc = "Links a library's headers into include/ and its libraries into lib/.",
    attrs = {
        "package": attr.string(mandatory = True, doc = "The Debian package, for the error message."),
        "module": attr.string(mandatory = True, doc = "The name that pkg-config knows."),
        "headers": attr.string_list(doc = "Files and folders in the include path."),
        "libraries": attr.string_list(doc = "Files in the library folder."),
        "build_file": attr.label(mandatory = True),
    },
    environ = ["PKG_CONFIG_PATH"],
    local = True,
)

def _installed_folder_impl(rctx):
    folder = rctx.path(rctx.attr.path)
    if not folder.exists:
        fail("%s was not found; install the Debian package '%s'" % (folder, rctx.attr.package))
    for entry in folder.readdir():
        rctx.symlink(entry, rctx.attr.prefix + entry.basename)
    if rctx.attr.build_file:
        rctx.symlink(rctx.attr.build_file, "BUILD.bazel")

installed_folder = repository_rule(
    implementation = _installed_folder_impl,
    doc = "A local_repository whose error names the Debian package.",
    attrs = {
        "package": attr.string(mandatory = True),
        "path": attr.string(mandatory = True),
        "prefix": attr.string(doc = "Where the folder's entries go, with its slash."),
        "build_file": attr.label(doc = "For a folder that has none."),
    },
    local = True,
)

def _stand_in_impl(rctx):
    for label, path in rctx.attr.files.items():
        rctx.symlink(label, path)

stand_in = repository_rule(
    implementation = _stand_in_impl,
    doc = "A repository made of a few of our own files.",
    attrs = {"files": attr.label_keyed_string_dict(mandatory = True)},
)
