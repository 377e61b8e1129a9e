/*
 * confine.c - what paperboy-web gives up after its start.
 */
#include "web/confine.h"

#include <errno.h>
#include <glib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#ifdef HAVE_SECCOMP
#include <seccomp.h>
#endif

/* Sanitizers open files and start a process at the end. */
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

static bool
set_limits(void)
{
	static const int resources[] = {RLIMIT_CORE, RLIMIT_NPROC};
	const struct rlimit none = {0, 0};

	for (size_t i = 0; i < G_N_ELEMENTS(resources); i++)
		if (setrlimit((__rlimit_resource_t)resources[i], &none) != 0)
			return false;
	return true;
}

#ifdef HAVE_SECCOMP
static const int allowed[] = {
    /* connections */
    SCMP_SYS(accept4),
    SCMP_SYS(recvfrom),
    SCMP_SYS(recv),
    SCMP_SYS(sendto),
    SCMP_SYS(send),
    SCMP_SYS(shutdown),
    SCMP_SYS(close),
    SCMP_SYS(connect), /* Unix sockets: no others can be created */
    SCMP_SYS(setsockopt),
    SCMP_SYS(getsockopt),
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(sendmsg), /* sd_notify(3) */
    SCMP_SYS(fcntl),
    SCMP_SYS(fcntl64),
    /* waiting */
    SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(epoll_pwait2),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(ppoll_time64),
    SCMP_SYS(futex),
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
    /* memory */
    SCMP_SYS(brk),
    SCMP_SYS(mremap),
    SCMP_SYS(munmap),
    SCMP_SYS(madvise),
    /* signals and the end */
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigreturn),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(tgkill), /* abort(3) */
    SCMP_SYS(getrandom),
    SCMP_SYS(fstat),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
};

static bool
allow_calls(scmp_filter_ctx context)
{
	const struct scmp_arg_cmp not_executable[] = {
	    SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)};
	const struct scmp_arg_cmp unix_only[] = {SCMP_A0(SCMP_CMP_EQ, AF_UNIX, 0)};

	for (size_t i = 0; i < G_N_ELEMENTS(allowed); i++)
		if (seccomp_rule_add(context, SCMP_ACT_ALLOW, allowed[i], 0) != 0)
			return false;
	return seccomp_rule_add_array(
	           context, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, not_executable) == 0 &&
	       seccomp_rule_add_array(
	           context, SCMP_ACT_ALLOW, SCMP_SYS(mmap2), 1, not_executable) == 0 &&
	       seccomp_rule_add_array(context, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
	           not_executable) == 0 &&
	       seccomp_rule_add_array(
	           context, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, unix_only) == 0;
}

/* Other system calls fail with EPERM: another C library may make a harmless one.  All
 * threads are filtered. */
static bool
filter_calls(void)
{
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	bool is_done = context &&
	               seccomp_attr_set(context, SCMP_FLTATR_CTL_TSYNC, 1) == 0 &&
	               allow_calls(context) && seccomp_load(context) == 0;

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
confine(bool *is_filtered)
{
	*is_filtered = false;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return false;
	if (IS_SANITIZED)
		return true;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || !set_limits())
		return false;
	*is_filtered = filter_calls();
	return true;
}
