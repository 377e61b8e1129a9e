/*
 * run_as.c - drop root's privileges.
 */
#include "ctl/run_as.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

bool
run_as_owner(const char *state_dir, GError **error)
{
	GStatBuf status;

	if (g_stat(state_dir, &status) != 0)
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "cannot use the state directory '%s': %s%s", state_dir,
		    g_strerror(errno),
		    errno == ENOENT ? "; paperboyd creates it when it starts" : "");
	if (geteuid() != 0 && status.st_uid != geteuid()) {
		g_autofree char *owner = file_format_user(status.st_uid);
		g_autofree char *user = file_format_user(geteuid());

		return pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' is owned by %s, but this process runs as %s: try sudo "
		    "paperboyctl",
		    state_dir, owner, user);
	}
	if (geteuid() != 0 || status.st_uid == 0)
		return true;
	if (setgroups(0, NULL) == 0 && setgid(status.st_gid) == 0 &&
	    setuid(status.st_uid) == 0)
		return true;
	return pb_fail(error, PB_ERROR_PERMANENT, "cannot become the owner of '%s': %s",
	    state_dir, g_strerror(errno));
}
