/*
 * credential.c - secrets from files that nobody else may read.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "config/settings.h"
#include "config/text_file.h"

/* @return what is wrong, or NULL */
static char *
check_secret(const struct text_file *plain, bool is_credential)
{
	size_t size = strcspn(plain->text, "\n");

	/* systemd lets nobody else into its folder, but where it gives the file to its
	 * user by an ACL, the mask of that shows as the rights of a group. */
	if (plain->status.st_mode & (is_credential ? S_IRWXO : S_IRWXG | S_IRWXO))
		return g_strdup("it holds a secret and others may read it: "
		                "chmod 600 it");
	if (!size)
		return g_strdup("it is empty, where a secret is wanted");
	if (plain->text[size] && plain->text[size + 1])
		return g_strdup("it has several lines, where the secret alone is "
		                "wanted, on one");
	return NULL;
}

char *
settings_load_secret(const char *path, const char *credentials, GError **error)
{
	g_autofree char *full = NULL;
	g_autofree char *problem = NULL;
	char *secret;
	bool is_credential = !g_path_is_absolute(path);
	struct text_file plain = {0};

	if (!is_credential) {
		full = g_strdup(path);
	} else if (credentials) {
		full = g_build_filename(credentials, path, NULL);
	} else {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "'%s' is a systemd credential, and there are none here: write the "
		    "whole path of a file, or LoadCredential= into the unit",
		    path);
		return NULL;
	}
	problem = text_file_load(&plain, full, BOUNDS_SECRET_BYTES);
	if (!problem)
		problem = check_secret(&plain, is_credential);
	secret = problem ? NULL : g_strndup(plain.text, strcspn(plain.text, "\n"));
	text_file_clear(&plain);
	if (!secret)
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT, "'%s': %s", full, problem);
	return secret;
}
