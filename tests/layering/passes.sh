#!/bin/bash
# What there is to try is whether Bazel builds the data of this test.
exit 0
