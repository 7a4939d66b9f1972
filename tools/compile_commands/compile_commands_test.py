#!/usr/bin/env python3
"""What clangd gets of Bazel's compilations."""

import os
import sys
import tempfile

sys.path.insert(0, "tools/compile_commands")
sys.dont_write_bytecode = True
import compile_commands  # noqa: E402


def expect(what, wanted, got):
    if wanted != got:
        sys.exit("FAILED: %s\nwanted: %s\ngot:    %s" % (what, wanted, got))


FOLDERS = {"external": "/base/external", "bazel-out": "/out"}
ADDED = ["gcc", "-xc++", "-ivfsoverlay", "/overlay", "-I/switchboard-headers", "-Wno-unknown-warning-option"]


def for_clangd(text):
    got = compile_commands.for_clangd(["gcc"] + text.split(), "/overlay", FOLDERS)
    expect("what comes first", ADDED, got[:len(ADDED)])
    return " ".join(got[len(ADDED):])


expect("flags", "-std=c++20 -DA=1 -Wall", for_clangd(
    "-std=c++20 -include common.h -fpch-deps -DA=1 -MD -MF a.d -frandom-seed=a.o -Wall -Werror "
    "--param=ggc-min-heapsize=2 -fno-canonical-system-headers -c a.cc -o a.o"))
expect("folders", "-iquote. -iquote/out/bin -isystem/base/external/absl/include -I/usr/include", for_clangd(
    "-Ibazel-out/bin/core/_virtual_includes/tensor -iquote . -iquote bazel-out/bin -isystem external/absl/include "
    "-I/usr/include"))

with tempfile.TemporaryDirectory() as workspace:
    open(os.path.join(workspace, "a.cc"), "w").close()
    got = compile_commands.commands(
        [{"arguments": ["gcc", *flags.split(), "-c", source]} for flags, source in
         [("-DVARIANT -mavx2", "a.cc"), ("-O2", "a.cc"), ("-O2", "bazel-out/bin/together_1.cc")]],
        workspace, "/overlay", FOLDERS)
    expect("one entry for a file that people wrote, the baseline's",
           [{"directory": workspace, "file": "a.cc", "arguments": ADDED + ["-O2", "-c", "a.cc"]}], got)
