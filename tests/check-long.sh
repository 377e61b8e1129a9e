#!/bin/sh
#
# check-long.sh - tests that are too slow for `make check`; run by `make check-long`.
#
# Parts, each in steps:
#   scripts     script tests, and C tests that have one, in their long form (PAPERBOY_LONG=1)
#   valgrind    all C tests under valgrind
#   clocks      all tests 400 days later, on 29 February beyond the date line, and in the
#               repeated hour at the end of summer time
#   sanitizers  `make check` of a build with gcc's sanitizers, and
#               tests/test_damaged_rows.py in its long form
#   clang       a build with clang and -Werror, each fuzzer for FUZZ_SECONDS (20), the
#               build for OSS-Fuzz, and clang's analyzer, whose findings are printed
#   rest        a quick run of the benchmarks; tests/first_digest.py, from an empty Debian;
#               tests/packages.py, archive, Debian packages, RPM and container image
#               (root; downloads)
#
# LONG_PARTS="scripts clocks" runs these only.  After LONG_MINUTES no further step begins;
# run it again to go on: a step that passed is not repeated until a source changes.
#
# Installs nothing.  Builds are in long-*/ of the build directory, logs in long-logs/.
# The last line is "N passed, N failed, N left"; the exit status is 1 if one failed, and 75
# if some are left.
set -u

: "${top_srcdir:?run make check-long}" "${top_builddir:?run make check-long}"
: "${SCRIPT_TESTS:?run make check-long}" "${C_TESTS:?run make check-long}"
MAKE=${MAKE:-make}
PYTHON3=${PYTHON3:-python3}
export top_srcdir top_builddir PYTHON3
cd "$top_builddir" || exit 99
logs=$top_builddir/long-logs
mkdir -p "$logs" || exit 99
passed=0
failed=0
left=0
deadline=$(($(date +%s) + ${LONG_MINUTES:-100000} * 60))

# need PROGRAM PACKAGE STEP: fail the step if a program is not installed.
need() {
	command -v "$1" >/dev/null && return 0
	echo "FAIL $3: $1 is missing (Debian: $2)"
	failed=$((failed + 1))
	return 1
}

# Whether a step passed with the present sources.
has_passed() {
	[ -f "$1" ] && [ -z "$(find "$top_srcdir/src" "$top_srcdir/tests" "$top_srcdir/etc" \
		"$top_srcdir/fuzz" "$top_srcdir/bench" -type f -newer "$1" | head -n 1)" ]
}

# step NAME COMMAND...: print one line, and the end of the log on failure.
step() {
	name=$1
	log=$logs/$(echo "$name" | tr ' /' '--').log
	shift
	if has_passed "$log.passed"; then
		echo "PASS $name (before)"
		passed=$((passed + 1))
		return
	fi
	started=$(date +%s)
	if [ "$started" -ge "$deadline" ]; then
		left=$((left + 1))
		return
	fi
	touch "$log.begun"
	"$@" >"$log" 2>&1 </dev/null
	status=$?
	took=$(($(date +%s) - started))
	if [ $status -eq 0 ]; then
		echo "PASS $name (${took} s)"
		# As old as its begin: a source that changed meanwhile is newer.
		mv "$log.begun" "$log.passed"
		passed=$((passed + 1))
	else
		echo "FAIL $name (${took} s, status $status): $log"
		tail -n 30 "$log" | sed 's/^/     /'
		failed=$((failed + 1))
	fi
}

# Print the statistics of a test.
show() {
	grep -hE '^# (.* (kills|filters)|.*digest after)' "$logs/$1" 2>/dev/null | sed 's/^#/    /'
}

# run_script SCRIPT [ARGUMENT...]
run_script() {
	script=$1
	shift
	PAPERBOY_LONG=1 "$PYTHON3" -B "$top_srcdir/$script" "$@"
}

run_valgrind() {
	G_DEBUG=gc-friendly G_SLICE=always-malloc valgrind --quiet --leak-check=full \
		--errors-for-leak-kinds=definite --show-leak-kinds=definite \
		"--suppressions=$top_srcdir/tests/valgrind.supp" --error-exitcode=99 \
		"$top_builddir/$1"
}

# check_at ZONE TIME: all tests in a time zone, starting at a time like "now + 1 day".
check_at() {
	shift_s=$(($(date -d "$2" +%s) - $(date +%s)))
	env TZ="$1" CLOCK_SHIFT_S="$shift_s" LD_PRELOAD="$top_builddir/tests/preload_clock.so" \
		$MAKE -s "-j$(nproc)" check
}

check_clocks() {
	step "clock: 400 days later" check_at UTC "now + 400 days"
	step "clock: 29 February" check_at Pacific/Apia "2028-02-29 06:00 UTC"
	# The hour from 02:00 to 03:00 is repeated; the second one starts at 01:00 UTC.
	step "clock: the repeated hour" check_at Europe/Berlin "2027-10-31 00:58 UTC"
}

# build DIRECTORY COMPILER OPTION...
build() {
	directory=$top_builddir/$1
	compiler=$2
	shift 2
	mkdir -p "$directory" && cd "$directory" || return 1
	[ -f Makefile ] || CC=$compiler "$top_srcdir/configure" -q "$@" || return 1
	$MAKE -s "-j$(nproc)" check TESTS=
}

check_sanitizers() {
	build long-sanitizers gcc --enable-sanitizers --enable-werror &&
		$MAKE -s "-j$(nproc)" check &&
		PAPERBOY_LONG=1 $MAKE -s check TESTS=tests/test_damaged_rows.py
}

# A short run of each target, from the stored seeds; a release needs more.
run_fuzzers() {
	build long-fuzz clang --enable-fuzzers --enable-werror &&
		$MAKE -s fuzz "FUZZ_SECONDS=${FUZZ_SECONDS:-20}"
}

# fuzz/build.sh with what OSS-Fuzz sets; two of its targets play their seeds.
run_oss_fuzz() {
	place=$top_builddir/long-oss-fuzz
	flags="-O1 -gline-tables-only -fsanitize=address -fsanitize=fuzzer-no-link"
	rm -rf "$place" && mkdir -p "$place/out" || return 1
	env WORK="$place" OUT="$place/out" CC=clang CXX=clang++ CFLAGS="$flags" \
		CXXFLAGS="$flags" LIB_FUZZING_ENGINE=-fsanitize=fuzzer \
		bash "$top_srcdir/fuzz/build.sh" || return 1
	cd "$place/out" || return 1
	for name in parser web_request; do
		unzip -q -d "seeds_$name" "fuzz_${name}_seed_corpus.zip" &&
			env -u top_srcdir "./fuzz_$name" -runs=1000 "seeds_$name" || return 1
	done
}

# It takes what pb_auto() frees for leaks, and does not know that pb_fail() is always false: a
# finding is no failure, but is read before a release.
run_analyzer() {
	mkdir -p "$top_builddir/long-analyzer" && cd "$top_builddir/long-analyzer" || return 1
	[ -f Makefile ] || scan-build "$top_srcdir/configure" -q || return 1
	$MAKE -s clean && scan-build -o . -disable-checker unix.Malloc \
		-disable-checker deadcode.DeadStores $MAKE -s "-j$(nproc)" libpaperboy.a
}

if [ -f "$top_srcdir/config.status" ]; then
	echo "The source tree is configured in place and cannot be built a second time in" >&2
	echo "another directory: run 'make distclean' there, and build in a separate directory." >&2
	exit 99
fi

check_scripts() {
	for test in $SCRIPT_TESTS; do
		case $test in
		# An hour in all: each of the programs that they run is a step.
		tests/test_engines*)
			for name in $(run_script "$test" --list); do
				step "$test $name" run_script "$test" "$name"
			done
			;;
		*)
			step "$test" run_script "$test"
			show "$(echo "$test" | tr / -).log"
			;;
		esac
	done
	for test in $(grep -l PAPERBOY_LONG "$top_srcdir"/tests/test_*.c); do
		test=$(basename "$test" .c)
		step "tests/$test, long" env PAPERBOY_LONG=1 \
			"$top_builddir/tests/$test"
		show "tests-$test,-long.log"
	done
}

check_valgrind() {
	need valgrind valgrind "C tests under valgrind" || return
	for program in $C_TESTS; do
		step "valgrind $program" run_valgrind "$program"
	done
}

check_clang() {
	need clang clang "clang" || return
	step clang build long-clang clang --enable-werror
	step fuzzers run_fuzzers
	need zip "zip unzip" "oss-fuzz" || return
	step oss-fuzz run_oss_fuzz
	need scan-build clang-tools "analyzer" || return
	step analyzer run_analyzer
	grep -hs 'warning:' "$logs/analyzer.log"
}

check_rest() {
	step bench $MAKE -s bench "BENCHFLAGS=--quick --made-up"
	step "a first digest" run_script tests/first_digest.py
	show a-first-digest.log
	need buildah "buildah mmdebstrap rpm rpmlint cpio" "packages" || return
	step packages run_script tests/packages.py
}

# A function is parsed as a whole: the script may be edited while it runs.
main() {
	for part in ${LONG_PARTS:-scripts valgrind clocks sanitizers clang rest}; do
		case $part in
		scripts) check_scripts ;;
		valgrind) check_valgrind ;;
		clocks) check_clocks ;;
		sanitizers) step sanitizers check_sanitizers ;;
		clang) check_clang ;;
		rest) check_rest ;;
		*)
			echo "check-long: $part is not a part" >&2
			exit 64
			;;
		esac
	done
	echo "$passed passed, $failed failed, $left left"
	[ $failed -eq 0 ] || exit 1
	[ $left -eq 0 ] || exit 75
}

main
exit
