"""What the checks share: the files of the tree, and C++ without its comments."""

import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def tracked(*patterns):
    """The files of these patterns that git has or would take."""
    files = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", *patterns],
        cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    return [file for file in files if os.path.exists(os.path.join(ROOT, file))]


def cpp_files():
    return tracked("*.h", "*.cc")


_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|(?:u8|[uUL])?R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|' r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.S)


def without_comments(text, keep_strings=False):
    """The text with a blank for each comment, and for each string too; lines stay where they are."""

    def blank(found):
        if keep_strings and not found.group().startswith("/"):
            return found.group()
        return " " + "\n" * found.group().count("\n")

    return _TOKEN.sub(blank, text)
