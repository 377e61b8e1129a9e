#!/bin/sh
#
# check-long.sh - tests that are too slow for `make check`; run by `make check-long`.
#
# 1. the script tests and tests/test_percolator in their long form (PAPERBOY_LONG=1);
# 2. all C tests under valgrind;
# 3. all tests with the clock shifted by 1, 45 and 400 days, to 29 February, to the end
#    of summer time, and in a zone beyond the date line;
# 4. `make check` of a build with gcc's sanitizers, and tests/test_damaged_rows.py in its
#    long form;
# 5. a build with clang and -Werror;
# 6. each fuzzer for FUZZ_SECONDS (20) with libFuzzer;
# 7. a quick run of the benchmarks with made-up papers;
# 8. tests/first_digest.py, from an empty Debian to a digest (root; downloads).
#
# Installs nothing.  Builds are in long-*/ of the build directory, logs in long-logs/.
# The last line is "N passed, N failed"; the exit status is 1 if one failed.
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

# need PROGRAM PACKAGE STEP: fail the step if a program is not installed.
need() {
	command -v "$1" >/dev/null && return 0
	echo "FAIL $3: $1 is missing (Debian: $2)"
	failed=$((failed + 1))
	return 1
}

# step NAME COMMAND...: print one line, and the end of the log on failure.
step() {
	name=$1
	log=$logs/$(echo "$name" | tr ' /' '--').log
	shift
	started=$(date +%s)
	"$@" >"$log" 2>&1 </dev/null
	status=$?
	took=$(($(date +%s) - started))
	if [ $status -eq 0 ]; then
		echo "PASS $name (${took} s)"
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

run_script() {
	case $1 in
	*.py) PAPERBOY_LONG=1 "$PYTHON3" -B "$top_srcdir/$1" ;;
	*) PAPERBOY_LONG=1 sh "$top_srcdir/$1" ;;
	esac
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
	env TZ="$1" CLOCK_SHIFT_S="$shift_s" LD_PRELOAD="$top_builddir/tests/shift_clock.so" \
		$MAKE -s "-j$(nproc)" check
}

check_clocks() {
	step "clock: a day later" check_at UTC "now + 1 day"
	step "clock: 45 days later" check_at UTC "now + 45 days"
	step "clock: 400 days later" check_at UTC "now + 400 days"
	step "clock: 29 February" check_at UTC "2028-02-29 06:00 UTC"
	# The hour from 02:00 to 03:00 is repeated; the second one starts at 01:00 UTC.
	step "clock: the repeated hour" check_at Europe/Berlin "2027-10-31 00:58 UTC"
	step "clock: Pacific/Apia" check_at Pacific/Apia now
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
		$MAKE -s check &&
		PAPERBOY_LONG=1 $MAKE -s check TESTS=tests/test_damaged_rows.py
}

# A short run of each target, from the stored seeds; a release needs more.
run_fuzzers() {
	build long-fuzz clang --enable-fuzzers --enable-werror &&
		$MAKE -s fuzz "FUZZ_SECONDS=${FUZZ_SECONDS:-20}"
}

if [ -f "$top_srcdir/config.status" ]; then
	echo "The source tree is configured in place and cannot be built a second time in" >&2
	echo "another directory: run 'make distclean' there, and build in a separate directory." >&2
	exit 99
fi

# A function is parsed as a whole: the script may be edited while it runs.
main() {
	for script in $SCRIPT_TESTS; do
		step "$script" run_script "$script"
		show "$(echo "$script" | tr / -).log"
	done
	if need valgrind valgrind "C tests under valgrind"; then
		for program in $C_TESTS; do
			step "valgrind $program" run_valgrind "$program"
		done
	fi
	step "tests/test_percolator, long" env PAPERBOY_LONG=1 \
		"$top_builddir/tests/test_percolator"
	show tests-test_percolator,-long.log
	check_clocks
	if need gcc gcc "sanitizers"; then
		step sanitizers check_sanitizers
	fi
	if need clang clang "clang"; then
		step clang build long-clang clang --enable-werror
		step fuzzers run_fuzzers
	fi
	step bench $MAKE -s bench "BENCHFLAGS=--quick --made-up"
	step "a first digest" run_script tests/first_digest.py
	show a-first-digest.log
	echo "$passed passed, $failed failed"
	[ $failed -eq 0 ]
}

main
exit
