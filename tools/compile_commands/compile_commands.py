#!/usr/bin/env python3
"""Writes compile_commands.json in the workspace, for clangd: ./bazelw run //:compile_commands

Bazel compiles against links to headers, one folder of them for each library, and clangd would open
these links as files of their own. So it is told of one folder that is nowhere, whose "switchboard" is
the workspace: see https://clang.llvm.org/doxygen/classllvm_1_1vfs_1_1RedirectingFileSystem.html.
Another run, after files were added or removed, takes some seconds.
"""

import json
import os
import re
import subprocess
import sys

# What clang does not know, or what has no meaning where nothing is built. True: a word follows.
DROPPED = [
    (r"-include", True),
    (r"-M[FTQ]", True),
    (r"-[co]", True),
    (r"-MD|-Werror|-fpch-deps|-fno-canonical-system-headers|-fno-gnu-unique", False),
    (r"-frandom-seed=.*|--param=.*|-Wunused-but-set-parameter|-Wno-free-nonheap-object", False),
    (r"-I.*/_virtual_includes/.*", False),
]
HEADERS = "/switchboard-headers"
FOLDER_FLAGS = re.compile(r"-I|-isystem|-iquote")


def for_clangd(arguments, overlay, folders):
    """The arguments of Bazel's compiler as clangd needs them.

    overlay is the file that says where HEADERS is; folders are those that Bazel names by a path of
    its own: {"external": absolute path}.
    """
    kept = [arguments[0], "-xc++", "-ivfsoverlay", overlay, "-I" + HEADERS, "-Wno-unknown-warning-option"]
    words = iter(arguments[1:])
    for word in words:
        dropped = [with_next for flag, with_next in DROPPED if re.fullmatch(flag, word)]
        if dropped:
            if dropped[0]:
                next(words)
            continue
        flag = FOLDER_FLAGS.match(word)
        if not flag:
            kept.append(word)
            continue
        path = word[flag.end():] or next(words)
        first, slash, rest = path.partition("/")
        kept.append(flag.group() + (folders[first] + slash + rest if first in folders else path))
    return kept


def source_of(arguments):
    return arguments[arguments.index("-c") + 1]


def commands(actions, workspace, overlay, folders):
    """One entry a file. Of those that are compiled for several CPUs, the baseline's."""
    shortest = {}
    for action in actions:
        arguments = action["arguments"]
        source = source_of(arguments)
        if os.path.exists(os.path.join(workspace, source)):
            other = shortest.get(source)
            if other is None or len(arguments) < len(other):
                shortest[source] = arguments
    return [
        {
            "directory": workspace,
            "file": source,
            "arguments": for_clangd(arguments, overlay, folders) + ["-c", source],
        }
        for source, arguments in sorted(shortest.items())
    ]


def main():
    workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    if not workspace:
        sys.exit("compile_commands: run it as ./bazelw run //:compile_commands")
    os.chdir(workspace)

    def bazel(*arguments):
        return subprocess.run(["./bazelw", *arguments], stdout=subprocess.PIPE, check=True, text=True).stdout

    actions = json.loads(bazel("aquery", "--ui_event_filters=-info", "--noshow_progress",
                               "--output=jsonproto",
                               'mnemonic("CppCompile", //...)'))["actions"]
    output_base = bazel("info", "output_base").strip()
    overlay = os.path.join(output_base, "compile_commands.yaml")
    with open(overlay, "w") as file:
        json.dump({"version": 0, "roots": [{"type": "directory-remap", "name": HEADERS + "/switchboard",
                                            "external-contents": workspace}]}, file)
    folders = {
        "external": os.path.join(output_base, "external"),
        "bazel-out": bazel("info", "output_path").strip(),
    }
    entries = commands(actions, workspace, overlay, folders)
    if not entries:
        sys.exit("compile_commands: Bazel named no compilation")
    with open("compile_commands.json", "w") as file:
        json.dump(entries, file, indent=1)
    print("compile_commands.json: %d files" % len(entries))


if __name__ == "__main__":
    main()
