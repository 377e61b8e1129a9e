#!/bin/bash -eu
#
# build.sh - build the fuzz targets for OSS-Fuzz, which sets CC, CXX, CFLAGS,
# LIB_FUZZING_ENGINE, WORK and OUT; tests/check-long.sh runs it in the same way.
#
# The image that builds needs the packages of ./setup.  The one that runs the targets starts
# them in $OUT and has no libraries of theirs: templates and libraries are copied there.

source=$(cd "$(dirname "$0")/.." && pwd)
[ -x "$source/configure" ] || (cd "$source" && autoreconf -i)
mkdir -p "$WORK/build" "$OUT/lib" "$OUT/etc"
cd "$WORK/build"
"$source/configure" -q --enable-fuzzers --without-systemd --without-seccomp \
	--without-postgresql
make -s -j"$(nproc)" CCLD="$CXX" SANITIZER_FLAGS= \
	FUZZ_LINK="-pie $LIB_FUZZING_ENGINE -Wl,--disable-new-dtags,-rpath,'\$\$ORIGIN/lib'"
cp -r "$source/etc/templates" "$OUT/etc"
for file in "$source"/fuzz/fuzz_*.c; do
	name=$(basename "$file" .c)
	name=${name#fuzz_}
	target=fuzz/fuzz_$name
	cp "$target" "$OUT"
	zip -q -j "$OUT/fuzz_${name}_seed_corpus.zip" "$source/fuzz/corpus/$name"/*
	dictionary=$source/fuzz/${name%_canonical}.dict
	[ ! -f "$dictionary" ] || cp "$dictionary" "$OUT/fuzz_$name.dict"
	printf '[libfuzzer]\nmax_len = 4096\n' >"$OUT/fuzz_$name.options"
	ldd "$target" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' |
		grep -Ev '/(libc|libm|libpthread|libdl|librt|libresolv|libgcc_s|libstdc\+\+)\.so' |
		xargs -r cp -u -t "$OUT/lib"
done
