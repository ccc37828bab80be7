# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""doca_repository: an installed DOCA as a repository of Bazel, with one library that has what pkg-config prints."""

_BUILD = """cc_library(
    name = "doca",
    hdrs = glob(["include_*/**/*.h"]),
    defines = {defines},
    includes = {includes},
    linkopts = {linkopts},
    visibility = ["//visibility:public"],
)
"""

def _pkg_config(ctx, option):
    command = ["pkg-config", option] + ctx.attr.modules
    done = ctx.execute(command)
    if done.return_code != 0:
        fail("{} has failed, see PKG_CONFIG_PATH: {}{}".format(" ".join(command), done.stdout, done.stderr))
    return [word for word in done.stdout.strip().split(" ") if word != ""]

def _doca_repository(ctx):
    defines = []
    includes = []
    for flag in _pkg_config(ctx, "--cflags"):
        if flag.startswith("-I"):
            includes.append("include_{}".format(len(includes)))
            ctx.symlink(flag[2:], includes[-1])
        elif flag.startswith("-D"):
            defines.append(flag[2:])
        else:
            fail("pkg-config --cflags has {}, which is neither -I nor -D".format(flag))
    linkopts = _pkg_config(ctx, "--libs")
    ctx.file("BUILD", _BUILD.format(defines = repr(defines), includes = repr(includes), linkopts = repr(linkopts)))

doca_repository = repository_rule(
    implementation = _doca_repository,
    attrs = {"modules": attr.string_list(mandatory = True)},
    # Run anew when these change.
    environ = ["PATH", "PKG_CONFIG_PATH"],
    local = True,
)
