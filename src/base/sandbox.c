/*
 * sandbox.c - restrictions of a process that reads what strangers have sent.
 */
#include "base/sandbox.h"

#include <errno.h>
#include <glib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#ifdef HAVE_SECCOMP
#include <seccomp.h>
#endif

#include "base/bounds.h"

/* Sanitizers need terabytes of address space, and open files and start a process at the
 * end. */
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
sandbox_limit(enum sandbox_work work)
{
	static const struct limit common[] = {
	    {RLIMIT_CORE, 0, 0},
	    {RLIMIT_NPROC, 0, 0},
	};
	static const struct limit parser[] = {
	    {RLIMIT_FSIZE, BOUNDS_PARSER_OUTPUT_BYTES, BOUNDS_PARSER_OUTPUT_BYTES},
	    {RLIMIT_CPU, BOUNDS_PARSER_CPU_S, BOUNDS_PARSER_CPU_S + 1},
	    {RLIMIT_STACK, BOUNDS_PARSER_STACK_BYTES, BOUNDS_PARSER_STACK_BYTES},
	    {RLIMIT_AS, BOUNDS_PARSER_SPACE_BYTES, BOUNDS_PARSER_SPACE_BYTES},
	    {RLIMIT_DATA, BOUNDS_PARSER_DATA_BYTES, BOUNDS_PARSER_DATA_BYTES},
	};
	/* Memory is last. */
	size_t count = G_N_ELEMENTS(parser) - (IS_SANITIZED ? 2 : 0);

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    (work == SANDBOX_PARSER && !set_limits(parser, count)))
		return false;
	if (IS_SANITIZED && work == SANDBOX_SERVER)
		return true;
	return (IS_SANITIZED || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0) &&
	       set_limits(common, G_N_ELEMENTS(common));
}

#ifdef HAVE_SECCOMP
static const int common_calls[] = {
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(close),
    SCMP_SYS(brk),
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

static const int server_calls[] = {
    /* connections */
    SCMP_SYS(accept4),
    SCMP_SYS(recvfrom),
    SCMP_SYS(recv),
    SCMP_SYS(sendto),
    SCMP_SYS(send),
    SCMP_SYS(shutdown),
    SCMP_SYS(connect), /* Unix sockets: no others can be created */
    SCMP_SYS(setsockopt),
    SCMP_SYS(getsockopt),
    SCMP_SYS(writev),
    SCMP_SYS(sendmsg), /* sd_notify(3) */
    SCMP_SYS(fcntl),
    SCMP_SYS(fcntl64),
    /* waiting */
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(ppoll_time64),
    SCMP_SYS(futex_time64),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_gettime64),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(nanosleep),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(sched_yield),
    SCMP_SYS(rseq), /* threads that are starting */
    SCMP_SYS(set_robust_list),
    /* signals and the end */
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(tgkill), /* abort(3) */
    SCMP_SYS(fstat),
};

static bool
allow_calls(scmp_filter_ctx context, const int *calls, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (seccomp_rule_add(context, SCMP_ACT_ALLOW, calls[i], 0) != 0)
			return false;
	return true;
}

/* Memory that is not executable. */
static bool
allow_memory(scmp_filter_ctx context)
{
	static const int calls[] = {
	    SCMP_SYS(mmap), SCMP_SYS(mmap2), SCMP_SYS(mprotect)};
	const struct scmp_arg_cmp rule[] = {SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)};

	for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
		if (seccomp_rule_add_array(context, SCMP_ACT_ALLOW, calls[i],
		        G_N_ELEMENTS(rule), rule) != 0)
			return false;
	return true;
}

static bool
allow_server(scmp_filter_ctx context)
{
	const struct scmp_arg_cmp rule[] = {SCMP_A0(SCMP_CMP_EQ, AF_UNIX, 0)};

	return allow_calls(context, server_calls, G_N_ELEMENTS(server_calls)) &&
	       seccomp_rule_add_array(context, SCMP_ACT_ALLOW, SCMP_SYS(socket),
	           G_N_ELEMENTS(rule), rule) == 0;
}

/* Other system calls fail with EPERM instead of killing the process: another C library
 * may make a harmless one. */
static bool
filter_calls(enum sandbox_work work)
{
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	/* Other threads can be filtered by seccomp(2) only.  The parser has one, so
	 * libseccomp may use prctl(2), which also works where seccomp(2) is denied. */
	bool is_done = context &&
	               allow_calls(context, common_calls, G_N_ELEMENTS(common_calls)) &&
	               allow_memory(context) &&
	               (work == SANDBOX_PARSER ||
	                   (seccomp_attr_set(context, SCMP_FLTATR_CTL_TSYNC, 1) == 0 &&
	                       allow_server(context))) &&
	               seccomp_load(context) == 0;

	if (context)
		seccomp_release(context);
	return is_done;
}
#else
static bool
filter_calls(enum sandbox_work work)
{
	(void)work;
	return false;
}
#endif

bool
sandbox_enter(enum sandbox_work work, bool *is_filtered)
{
	static const struct limit nothing[] = {{RLIMIT_NOFILE, 0, 0}};

	*is_filtered = false;
	if (IS_SANITIZED)
		return true;
	if (work == SANDBOX_PARSER && !set_limits(nothing, G_N_ELEMENTS(nothing)))
		return false;
	*is_filtered = filter_calls(work);
	return true;
}
