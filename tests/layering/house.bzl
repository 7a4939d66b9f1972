"""A house with the rooms of SB_ROOMS and nothing in them, to break the rules in."""

load("//:build_defs.bzl", "SB_ROOMS", "sb_cc_library")
load(":refused_test.bzl", "refused_test")

_HOUSE = "tests/layering/house/"

# Stands for the derivatives of every family, which include both "ops" and "autograd".
_DERIVATIVES = "ops/arithmetic/derivatives"
_BELOW_DERIVATIVES = ["core", "dispatch", "ops", "autograd"]

def _group(room):
    return "//tests/layering:above_" + room.replace("/", "_")

def _label(room):
    return "//" + _HOUSE + room + ":room"

def _lower_rooms():
    """For each room, those that it may include."""
    lower = []
    rooms = {}
    for line in SB_ROOMS:
        for room in line:
            rooms[room] = list(lower)
        lower = lower + line
    return rooms

def room():
    """The room of this package: a target "room", and for each other room "room_with_<other>"."""
    name = native.package_name()[len(_HOUSE):]
    allowed = _BELOW_DERIVATIVES if name == _DERIVATIVES else _lower_rooms()[name]
    seen_by = [":__subpackages__"] if name == _DERIVATIVES else [_group(name)]
    if name == "autograd":
        seen_by = seen_by + ["//tests/layering:derivatives"]
    sb_cc_library(name = "room", visibility = seen_by)
    for other in _lower_rooms():
        if other != name:
            sb_cc_library(
                name = "room_with_" + other.replace("/", "_"),
                tags = [] if other in allowed else ["manual", "refused"],
                visibility = ["//tests/layering:__pkg__"],
                deps = [_label(other)],
            )

def layering_tests():
    """For each two rooms a test that one sees the other, or that Bazel refuses it."""
    for name, lower in list(_lower_rooms().items()) + [(_DERIVATIVES, _BELOW_DERIVATIVES)]:
        for other in _lower_rooms():
            target = "//%s%s:room_with_%s" % (_HOUSE, name, other.replace("/", "_"))
            what = (name + "_" + other).replace("/", "_")
            if other in lower:
                native.sh_test(
                    name = what + "_is_seen_test",
                    size = "small",
                    srcs = ["passes.sh"],
                    data = [target],
                )
            elif other != name:
                refused_test(
                    name = what + "_is_refused_test",
                    size = "small",
                    because = "target '%s' is not visible" % _label(other),
                    target = target,
                )
