#!/bin/bash
# Runs page_test.py by Debian's Python, which has python3-selenium.
set -euo pipefail
here=$(dirname "$0")
export HOME=${TEST_TMPDIR:-$HOME}  # Chromium keeps its profile there
exec /usr/bin/python3 -B "$here/page_test.py" tools/sb "$here/make_pages" "$@"
