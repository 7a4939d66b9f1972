"""dispatch_order_test: the way of a call, stated in a BUILD file and tested for real."""

def dispatch_order_test(
        name,
        op,
        keys,
        expect,
        deps = [],
        args = {},
        shapes = {},
        include = [],
        exclude = [],
        size = "small",
        **kwargs):
    """Calls an operator on tensors with certain keys, and compares the kernels that run.

        dispatch_order_test(
            name = "blend_order_test",
            op = "demo::blend",
            keys = ["CPU", "AutogradCPU"],
            expect = [
                "AutogradCPU demo/blend_autograd.cc",
                "CPU demo/blend.cc",
            ],
            deps = [":blend"],
        )

    Each line of `expect` is a kernel that runs, in the order in which they start: the key that it
    runs for, and as much more as you care to say:

        "CPU"                                  a kernel runs for CPU
        "CPU blend.cc"                         ... registered in that file; with folders of its
                                               path ("demo/blend.cc") or its line ("blend.cc:31")
        "CPU from CompositeExplicitAutograd"   ... by way of an alias key
        "PrivateUse1 from fallback"            ... by way of a backend fallback
        "CPU from key"                         ... registered at CPU itself
        "aten::mm CPU"                         a kernel of another operator, called by one above

    Every kernel that runs must be there, those of operators that a kernel calls too. The last line
    may say how the call fails, which is then what the test wants:

        "Meta fails"                           no kernel for Meta (or one that cannot be entered)
        "throws"                               a kernel throws

    Keys that the call passes over, from the highest to the one that runs first, come before the
    kernels. They are compared only if `expect` has one; then all of them must be there:

        "AutocastCPU excluded"                 the thread excludes the key
        "AutogradCPU falls through"            its kernel is a fallthrough

    A test that fails prints both orders, the first difference, and the explanation of the call.
    `bazel test --test_output=all` prints the order of one that passes, line by line in this form.

    Args:
      name: of the test.
      op: "namespace::name" or "namespace::name.overload".
      keys: what the tensors carry. A list is for every tensor argument that has no default; a dict
        gives each argument its own: {"self": ["CPU"], "tensors": [["CPU"], ["Meta"]]}, with a list
        of lists for a list of tensors. A device's name ("cpu", "meta", "dummy") stands for the keys
        of a tensor as programs make it there; "undefined", alone, is an undefined tensor. Optional
        tensors that a dict does not name are None.
      expect: as above.
      deps: cc_libraries that register the operator, its kernels and what else should be there. They
        need `alwayslink = True`, or the linker drops them.
      args: values of other arguments, spelled as a schema's defaults: {"alpha": "2", "dim": "[0]"}.
        Those that are not given have their defaults.
      shapes: of the tensors, by argument: {"bias": [2]}. The others are [2, 2]. All are zeros, of
        type float32; on a backend without an allocator they have no memory.
      include: keys that the thread includes.
      exclude: keys that the thread excludes.
      size: of the test.
      **kwargs: what any test takes: tags, visibility, ...
    """
    flags = ["--op=" + op]
    by_argument = keys if type(keys) == "dict" else {"*": keys}
    for argument, carried in by_argument.items():
        tensors = carried if carried and type(carried[0]) == "list" else [carried]
        flags += ["--tensor=%s=%s" % (argument, ",".join(tensor)) for tensor in tensors]
    for argument, shape in shapes.items():
        flags.append("--shape=%s=%s" % (argument, "x".join([str(size) for size in shape])))
    flags += ["--arg=%s=%s" % (argument, value) for argument, value in args.items()]
    flags += ["--include=" + key for key in include]
    flags += ["--exclude=" + key for key in exclude]
    flags += ["--expect=" + line for line in expect]

    native.cc_test(
        name = name,
        size = size,
        args = [_quoted(flag) for flag in flags],
        # As in a binary, so that a registration that the linker drops is missed here too.
        linkstatic = True,
        deps = deps + [Label("//dispatch/testing:dispatch_order_main")],
        **kwargs
    )

def _quoted(text):
    """As Bazel wants it in `args`: it expands $ and then splits as a shell does."""
    return "'" + text.replace("'", "'\\''").replace("$", "$$") + "'"
