/*
 * sandbox.c - restrictions of the process that parses untrusted mail.
 */
#include "parser/sandbox.h"

#include <errno.h>
#include <glib.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#ifdef HAVE_SECCOMP
#include <seccomp.h>
#endif

#include "base/bounds.h"

/* Sanitizers need terabytes of address space, and open files at the end. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif

struct limit {
	int resource;
	rlim_t soft, hard;
};

static bool
set_limits(const struct limit *limits, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct rlimit limit;

		if (getrlimit((__rlimit_resource_t)limits[i].resource, &limit) != 0)
			return false;
		/* Never raise limits that were inherited. */
		limit.rlim_max = MIN(limit.rlim_max, limits[i].hard);
		limit.rlim_cur = MIN(limit.rlim_max, limits[i].soft);
		if (setrlimit((__rlimit_resource_t)limits[i].resource, &limit) != 0)
			return false;
	}
	return true;
}

bool
sandbox_limit(void)
{
	static const struct limit limits[] = {
	    {RLIMIT_CORE, 0, 0},
	    {RLIMIT_FSIZE, BOUNDS_PARSER_OUTPUT_BYTES, BOUNDS_PARSER_OUTPUT_BYTES},
	    {RLIMIT_CPU, BOUNDS_PARSER_CPU_S, BOUNDS_PARSER_CPU_S + 1},
	    {RLIMIT_STACK, BOUNDS_PARSER_STACK_BYTES, BOUNDS_PARSER_STACK_BYTES},
	    {RLIMIT_NPROC, 0, 0},
	};
	static const struct limit memory[] = {
	    {RLIMIT_AS, BOUNDS_PARSER_SPACE_BYTES, BOUNDS_PARSER_SPACE_BYTES},
	    {RLIMIT_DATA, BOUNDS_PARSER_DATA_BYTES, BOUNDS_PARSER_DATA_BYTES},
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return false;
	if (!IS_SANITIZED && (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ||
	                         !set_limits(memory, G_N_ELEMENTS(memory))))
		return false;
	return set_limits(limits, G_N_ELEMENTS(limits));
}

#ifdef HAVE_SECCOMP
/* Other system calls fail with EPERM instead of killing the process: another C library
 * may make a harmless one. */
static bool
filter_calls(void)
{
	static const int allowed[] = {
	    SCMP_SYS(read),
	    SCMP_SYS(write),
	    SCMP_SYS(close),
	    SCMP_SYS(brk),
	    SCMP_SYS(mmap),
	    SCMP_SYS(mmap2),
	    SCMP_SYS(mremap),
	    SCMP_SYS(munmap),
	    SCMP_SYS(madvise),
	    SCMP_SYS(futex),
	    SCMP_SYS(getrandom),
	    SCMP_SYS(rt_sigreturn),
	    SCMP_SYS(sigreturn),
	    SCMP_SYS(exit),
	    SCMP_SYS(exit_group),
	};
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	bool is_done = context != NULL;

	for (size_t i = 0; is_done && i < G_N_ELEMENTS(allowed); i++)
		is_done = seccomp_rule_add(context, SCMP_ACT_ALLOW, allowed[i], 0) == 0;
	is_done = is_done && seccomp_load(context) == 0;
	if (context)
		seccomp_release(context);
	return is_done;
}
#else
static bool
filter_calls(void)
{
	return false;
}
#endif

bool
sandbox_enter(bool *is_filtered)
{
	static const struct limit nothing[] = {{RLIMIT_NOFILE, 0, 0}};

	*is_filtered = false;
	if (IS_SANITIZED)
		return true;
	if (!set_limits(nothing, G_N_ELEMENTS(nothing)))
		return false;
	*is_filtered = filter_calls();
	return true;
}
