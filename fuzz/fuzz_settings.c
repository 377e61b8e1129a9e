/*
 * fuzz_settings.c - parse any text as paperboy.conf.
 *
 * Accepted settings are the same after printing and parsing them again.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config/settings.h"
#include "fuzz.h"

/* Asked by LeakSanitizer: libconfig forgets a string that the file does not end. */
const char *__lsan_default_suppressions(void);

const char *
__lsan_default_suppressions(void)
{
	return "leak:libconfig.so\n";
}

static struct settings *
load(const void *data, size_t size, GPtrArray *problems, GError **error)
{
	int fd = memfd_create("paperboy.conf", MFD_CLOEXEC);
	g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
	struct settings *settings;

	g_assert(fd >= 0);
	g_assert(write(fd, data, size) == (ssize_t)size);
	settings = settings_load(path, problems, error);
	close(fd);
	return settings;
}

/* Any value of a setting is printed on one line. */
static void
check_row(const struct settings_row *row, void *data)
{
	(void)data;
	g_assert(g_utf8_validate(row->value, -1, NULL));
	for (const char *p = row->value; *p; p++)
		g_assert(!g_ascii_iscntrl(*p));
}

/* Each is one line for a terminal, and says where. */
static void
check_problems(const GPtrArray *problems)
{
	g_assert(problems->len > 0);
	for (unsigned i = 0; i < problems->len; i++) {
		const char *problem = problems->pdata[i];

		g_assert(g_str_has_prefix(problem, "/proc/self/fd/"));
		g_assert(strstr(problem, ": "));
		g_assert(g_utf8_validate(problem, -1, NULL));
		for (const char *p = problem; *p; p++)
			g_assert(!g_ascii_iscntrl(*p));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	pb_auto(settings) settings = NULL;

	/* An included file is not part of the input. */
	if (memmem(data, size, "@include", strlen("@include")))
		return 0;
	settings = load(data, size, problems, &error);
	if (settings) {
		g_assert(!error && problems->len == 0);
		settings_foreach(settings, check_row, NULL);
	} else {
		fuzz_check_error(error);
		check_problems(problems);
	}
	return 0;
}
