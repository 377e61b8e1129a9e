#!/usr/bin/env python3
"""packages.py - what a release consists of: archive, Debian packages, RPM, image.

The archive is signed; Debian's packages are reproducible, leave nothing behind and pass
their tests; the RPM is built, and an image of its files sends a first digest.  A step of
`make check-long`: a test is skipped if its programs are missing, and needs the network for
the base of an image or a system.
"""

import glob
import os
import shutil
import subprocess

import lib  # the path
from container import ENVIRONMENT, SUITE, find_mirror, need_root
from tap import Skip, Tap, need_programs, read, run, save, top_builddir, top_srcdir

LIMIT_S = 1800
# Given by whoever builds and signs packages; and a page of section 5, for a language.
LINT_IGNORED = ("no-signature", "no-packager-tag", "no-group-tag", "bad-manual-page-folder")
LIBRARIES = ("ca-certificates,tzdata,libglib2.0-0,libcurl3-gnutls,libconfig9,libsqlite3-0,"
             "libjansson4,libexpat1,libetpan20,libseccomp2,libsystemd0")
NOW = "2026-11-20T18:00:00Z"  # the evening of the last sample day

KEY = "release@test.example"
# Needed by the packages: systemd makes directories that no package owns, when it is installed.
SYSTEM = "systemd,ca-certificates,adduser,autopkgtest"
OF_APT = "/var/cache/debconf/tmp.ci/"  # made by apt-utils
# Varied by reprotest without further programs.
VARIED = "-all,+build_path,+environment,+exec_path,+home,+locales,+timezone,+umask,+num_cpus"
AUTOPKGTEST = """
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
autopkgtest -B /srv/*.deb /srv/paperboy -- null
"""

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


def release_is_signed(place):
    """the archive has the same bytes when it is made again, and a signature that is checked"""
    gpg, gpgconf = need_programs("gpg", "gpgconf")
    if not os.path.exists(os.path.join(top_srcdir(), ".git")):
        raise Skip("not a git work tree")
    home = os.path.join(place, "gnupg")
    os.mkdir(home, 0o700)
    environment = os.environ | {"GNUPGHOME": home}
    try:
        run([gpg, "--batch", "--passphrase", "", "--quick-generate-key", KEY, "ed25519",
             "sign", "1d"], env=environment)
        sums = set()
        for umask, zone in (("022", "Asia/Tokyo"), ("077", "UTC")):
            run(["sh", "-c", f"umask {umask}; make -s -C '{top_builddir()}' release-files"
                 f" KEY={KEY}"], LIMIT_S, env=environment | {"TZ": zone})
            sums.add(read(os.path.join(top_builddir(), "SHA256SUMS")))
        assert len(sums) == 1, sums
        run(["sha256sum", "-c", "SHA256SUMS"], cwd=top_builddir())
        (archive,) = glob.glob(os.path.join(top_builddir(), "paperboy-*.tar.xz"))
        for name in (archive, os.path.join(top_builddir(), "SHA256SUMS")):
            run([gpg, "--verify", f"{name}.asc", name], env=environment)
    finally:
        subprocess.run([gpgconf, "--kill", "all"], env=environment, check=False)


def debs_are_reproducible(place):
    """Debian's packages are the same bytes with another path, zone, umask, locale and home"""
    need_programs("reprotest", "diffoscope", "dpkg-buildpackage")
    run(["make", "-s", "-C", top_builddir(), "distdir", f"distdir={place}/paperboy"], 300)
    run(["reprotest", f"--vary={VARIED}", "--min-cpus", "1", "--store-dir", f"{place}/debs",
         "-c", "dpkg-buildpackage -b -us -uc", f"{place}/paperboy", "../*.deb", "--", "null"],
        2 * LIMIT_S, env=ENVIRONMENT | {"DEB_BUILD_OPTIONS": "nocheck"}, cwd=place)


def debs_are_clean(tap, place):
    """piuparts finds nothing left by them, and they pass debian/tests where they are installed"""
    need_root()
    piuparts, _, nspawn = need_programs("piuparts", "mmdebstrap", "systemd-nspawn")
    debs = [path for path in glob.glob(f"{place}/debs/control/*.deb") if "-dbgsym" not in path]
    assert len(debs) == 2, debs
    base, mirror = f"{place}/system.tar.gz", find_mirror()
    run(["mmdebstrap", "--variant=buildd", f"--include={SYSTEM}", SUITE, base, mirror], LIMIT_S)
    run([piuparts, "-t", place, "-b", base, "-d", SUITE, "--mirror", f"{mirror} main",
         "-i", OF_APT, *debs], LIMIT_S,
        env={name: value for name, value in ENVIRONMENT.items() if name != "TMPDIR"})
    root = tap.subdirectory("installed")
    run(["tar", "-C", root, "-xf", base])
    for path in (*debs, f"{place}/paperboy"):
        run(["cp", "-r", path, f"{root}/srv"])
    run([nspawn, "-q", "-D", root, "--register=no", "--keep-unit", "--pipe",
         "--resolv-conf=copy-host", "sh", "-ec", AUTOPKGTEST], LIMIT_S)


def rpm_is_built(place):
    """rpmbuild makes both packages, and rpmlint finds no error"""
    need_programs("rpmbuild", "rpmlint", "rpm2cpio", "cpio")
    run(["make", "-s", "-C", top_builddir(), "dist"], LIMIT_S)
    (archive,) = glob.glob(os.path.join(top_builddir(), "paperboy-*.tar.xz"))
    # systemd-rpm-macros are not in Debian.
    defines = [f"_topdir {place}", *(f"{name} {path}" for name, path in MACROS.items())]
    run(["rpmbuild", "-tb", "--nodeps", "--nocheck",
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
    save(config, CONFIG)
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
        tap.run(release_is_signed, directory)
        tap.run(debs_are_reproducible, directory)
        tap.run(debs_are_clean, tap, directory)
        tap.run(rpm_is_built, directory)
        tap.run(image_sends_a_digest, tap, directory)
    finally:
        shutil.rmtree(os.path.join(directory, "storage"), ignore_errors=True)
