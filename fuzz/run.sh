#!/bin/sh
# run.sh SECONDS NAME... - run each fuzz target for a time, one after the other.
#
# Run it in the build directory.  It prints a line for each target with its statistics,
# and "ok" or the path of the failing input.  Add that to fuzz/corpus/NAME with the fix.
set -u
seconds=$1
shift
failed=0
# Make invalid memory accesses visible, and GLib criticals fatal.
G_SLICE=always-malloc
G_DEBUG=fatal-criticals
export G_SLICE G_DEBUG top_srcdir

number() {
	sed -n "s/^stat::$1: *//p" "$log"
}

for name in "$@"; do
	work=fuzz/grown/$name
	log=$work.log
	dict=$top_srcdir/fuzz/${name%_canonical}.dict
	[ -f "$dict" ] && dict=-dict=$dict || dict=
	rm -rf "$work.found"
	mkdir -p "$work" "$work.found"
	fuzz/fuzz_"$name" -max_total_time="$seconds" -max_len=4096 -timeout=10 \
		-rss_limit_mb=1024 -print_final_stats=1 $dict \
		-artifact_prefix="$work.found/" "$work" \
		"$top_srcdir/fuzz/corpus/$name" >"$log" 2>&1
	status=$?
	covered=$(sed -n 's/.* cov: \([0-9]*\) ft: \([0-9]*\) .*/\1 edges, \2 features/p' "$log" |
		tail -n 1)
	runs=$(number number_of_executed_units)
	if [ "$status" -eq 0 ] && [ "${runs:-0}" -gt 0 ]; then
		verdict=ok
	else
		verdict="FOUND $(ls "$work.found"/* 2>/dev/null | tr '\n' ' '), see $log"
		failed=1
	fi
	echo "$name: ${runs:-0} runs, $covered: $verdict"
done
exit $failed
