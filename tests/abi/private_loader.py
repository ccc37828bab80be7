# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Starts programs where ldconfig knows a directory, on a machine that stays as it is.

The loader reads /etc/ld.so.cache and no other, so the cache that ldconfig makes is laid over it in a mount
namespace of the program's own. Where that is not allowed, the directory goes to LD_LIBRARY_PATH, after
ldconfig has made its links there.
"""
import os
import pathlib
import shutil
import subprocess

CACHE = "/etc/ld.so.cache"
# $1 cache to make, $2 configuration; the rest is the program.
IN_NAMESPACE = """
mount --make-rprivate / || exit 125
if [ -d /var/cache/ldconfig ]; then mount -t tmpfs none /var/cache/ldconfig || exit 125; fi
"$LDCONFIG" -X -C "$1" -f "$2" || exit 125
mount --bind "$1" /etc/ld.so.cache || exit 125
shift 2
exec "$@"
"""


def ldconfig():
    return shutil.which("ldconfig", path=os.environ.get("PATH", "") + ":/sbin:/usr/sbin")


class PrivateLoader:
    """`wrapper` goes before a program's name, `environment` into its environment."""

    def __init__(self, libdir, place):
        self.libdir, self.place = pathlib.Path(libdir), pathlib.Path(place)
        self.wrapper, self.environment, self.way = [], {}, ""
        for unshare in (["unshare", "-m"], ["unshare", "-r", "-m"]):
            if self._set_up_namespace(unshare):
                self.way = f"ldconfig, in a mount namespace of its own ({' '.join(unshare)})"
                return
        self._set_up_directory()
        self.way = "LD_LIBRARY_PATH, because a mount namespace is not allowed here"

    def _set_up_namespace(self, unshare):
        if not shutil.which("unshare") or not ldconfig() or not os.path.exists(CACHE):
            return False
        configuration = self.place / "ld.so.conf"
        configuration.write_text(f"{self.libdir}\ninclude /etc/ld.so.conf\n", encoding="utf-8")
        cache = self.place / "ld.so.cache"
        self.wrapper = [*unshare, "sh", "-c", IN_NAMESPACE, "sh", str(cache), str(configuration)]
        self.environment = {"LDCONFIG": ldconfig()}
        probe = subprocess.run([*self.wrapper, "true"], capture_output=True, check=False,
                               env={**os.environ, **self.environment})
        return probe.returncode == 0

    def _set_up_directory(self):
        links = self.place / "links"
        links.mkdir()
        for library in self.libdir.glob("libdoca_*.so.*.*"):
            shutil.copy2(library, links)
        subprocess.run([ldconfig() or "ldconfig", "-n", links], check=True)
        self.wrapper, self.environment = [], {"LD_LIBRARY_PATH": str(links)}
