#!/usr/bin/env python3
"""packages.py - the RPM is built, and an image of its files sends a first digest.

A step of `make check-long`: it needs rpmbuild, rpmlint, mmdebstrap and buildah, and the
network for the base of the image.
"""

import glob
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

from container import SUITE, find_mirror, need_root
from tap import Tap, need_programs, run, top_builddir, top_srcdir

LIMIT_S = 1800
# Given by whoever builds and signs packages; and a page of section 5, for a language.
LINT_IGNORED = ("no-signature", "no-packager-tag", "no-group-tag", "bad-manual-page-folder")
LIBRARIES = ("ca-certificates,tzdata,libglib2.0-0,libcurl3-gnutls,libconfig9,libsqlite3-0,"
             "libjansson4,libexpat1,libetpan20,libseccomp2,libsystemd0")
NOW = "2026-11-20T18:00:00Z"  # the evening of the last sample day

MACROS = {"_unitdir": "/usr/lib/systemd/system", "_sysusersdir": "/usr/lib/sysusers.d",
          "_tmpfilesdir": "/usr/lib/tmpfiles.d"}

CONFIG = """
mail: { from = "paperboy@test.example"; owner = "owner@test.example"; };
delivery: { method = "maildir"; maildir = "/var/lib/paperboy/Maildir"; };
sources = ( { name = "hf"; kind = "huggingface"; url = "file:///samples"; } );
enrich: { arxiv = false; crossref = false; europepmc = false; huggingface = false; };
"""

# The service is stopped as a container is: SIGTERM to its first process.
STOP = """
paperboyd --now %s & pid=$!
until paperboyctl --now %s status >/dev/null || [ $? -eq 1 ]; do kill -0 $pid || exit; done
kill -TERM $pid && wait $pid
""" % (NOW, NOW)


def rpm_is_built(place):
    """rpmbuild makes both packages, and rpmlint finds no error"""
    need_programs("rpmbuild", "rpmlint", "rpm2cpio", "cpio")
    run(["make", "-s", "-C", top_builddir(), "dist"], LIMIT_S)
    (archive,) = glob.glob(os.path.join(top_builddir(), "paperboy-*.tar.xz"))
    # systemd-rpm-macros are not in Debian.
    defines = [f"_topdir {place}", *(f"{name} {path}" for name, path in MACROS.items())]
    run(["rpmbuild", "-tb", "--nodeps",
         *(word for define in defines for word in ("--define", define)), archive], LIMIT_S)
    packages = sorted(glob.glob(os.path.join(place, "RPMS", "*", "*.rpm")))
    names = [os.path.basename(path).rsplit("-", 2)[0] for path in packages]
    assert {"paperboy", "paperboy-postgresql"} <= set(names), names
    lint = subprocess.run(["rpmlint", *packages], stdout=subprocess.PIPE, text=True,
                          check=False).stdout
    errors = [line for line in lint.splitlines()
              if ": E: " in line and line.split()[2] not in LINT_IGNORED]
    assert not errors, errors


def image_sends_a_digest(tap, place):
    """an image of these files, with a configuration and a volume, delivers a digest"""
    need_root()
    need_programs("mmdebstrap", "buildah")
    buildah = ["buildah", "--storage-driver", "vfs", "--root", f"{place}/storage",
               "--runroot", f"{place}/run"]
    base = os.path.join(place, "base.tar")
    run(["mmdebstrap", "--variant=minbase", f"--include={LIBRARIES}", SUITE, base,
         find_mirror()], LIMIT_S)
    made = run([*buildah, "from", "scratch"]).strip()
    run([*buildah, "add", made, base, "/"], LIMIT_S)
    run([*buildah, "commit", made, "base"], LIMIT_S)
    root = tap.subdirectory("image")
    (package,) = [path for path in glob.glob(os.path.join(place, "RPMS", "*", "*.rpm"))
                  if not os.path.basename(path).startswith(("paperboy-p", "paperboy-d"))]
    run(["sh", "-ec", f"cd '{root}' && rpm2cpio '{package}' | cpio -idm --quiet"])
    run([*buildah, "build", "--isolation", "chroot", "--format", "docker",
         "--build-arg", "BASE=localhost/base", "-t", "paperboy",
         "-f", os.path.join(top_srcdir(), "contrib", "container", "Containerfile"), root],
        LIMIT_S)
    config = os.path.join(place, "paperboy.conf")
    with open(config, "w", encoding="ascii") as file:
        file.write(CONFIG)
    image = run([*buildah, "from", "localhost/paperboy"]).strip()
    user = run([*buildah, "run", "--isolation", "chroot", image, "id", "-u"]).strip()
    assert user != "0", "the service would run as root"

    def inside(*command):
        return run([*buildah, "run", "--isolation", "chroot",
                    "-v", f"{config}:/etc/paperboy/paperboy.conf:ro",
                    "-v", f"{os.path.join(top_srcdir(), 'samples')}:/samples:ro",
                    image, *command], LIMIT_S)

    inside("paperboyctl", "--now", NOW, "subscriber", "add", "eva@test.example",
           "--consent", "test", "--filter", "agents")
    inside("paperboyd", "--once", "--now", NOW)
    assert "\nList-Id: " in inside("sh", "-c", "cat /var/lib/paperboy/Maildir/new/*")
    inside("sh", "-c", STOP)


with Tap() as tap:
    directory = tap.subdirectory("packages")
    try:
        tap.run(rpm_is_built, directory)
        tap.run(image_sends_a_digest, tap, directory)
    finally:
        shutil.rmtree(os.path.join(directory, "storage"), ignore_errors=True)
