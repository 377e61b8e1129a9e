/*
 * credential.c - read secrets from private files.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "config/settings.h"
#include "config/text_file.h"

/* @return an error message, or NULL */
static char *
check_secret(const struct text_file *file, bool is_credential)
{
	size_t size = strcspn(file->text, "\n");

	/* systemd grants access to a credential by an ACL, whose mask shows up as the
	 * permissions of the group; its directory is private. */
	if (file->status.st_mode & (is_credential ? S_IRWXO : S_IRWXG | S_IRWXO))
		return g_strdup("the secret is readable by others (chmod 600)");
	if (!size)
		return g_strdup("the file is empty (expected a secret)");
	if (file->text[size] && file->text[size + 1])
		return g_strdup(
		    "the file has several lines (expected the secret on one)");
	return NULL;
}

char *
settings_load_secret(const char *path, const char *credentials, GError **error)
{
	g_autofree char *full = NULL;
	g_autofree char *problem = NULL;
	char *secret;
	bool is_credential = !g_path_is_absolute(path);
	pb_local(text_file) file = {0};

	if (!is_credential) {
		full = g_strdup(path);
	} else if (credentials) {
		full = g_build_filename(credentials, path, NULL);
	} else {
		pb_fail(error, PB_ERROR_INPUT,
		    "'%s' is a systemd credential, but $CREDENTIALS_DIRECTORY is not "
		    "set: "
		    "use an absolute path, or LoadCredential= in the unit",
		    path);
		return NULL;
	}
	problem = text_file_load(&file, full, BOUNDS_SECRET_BYTES);
	if (!problem)
		problem = check_secret(&file, is_credential);
	secret = problem ? NULL : g_strndup(file.text, strcspn(file.text, "\n"));
	if (!secret)
		pb_fail(error, PB_ERROR_INPUT, "'%s': %s", full, problem);
	return secret;
}
