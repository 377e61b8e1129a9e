/*
 * one_click.c - result of the last self-test of the page.
 */
#include "service/state/one_click.h"

#include <string.h>

#include "base/error.h"

#define GROUP "one-click"

static char *
get_path(const struct settings *settings)
{
	return g_build_filename(settings->state_dir, "one-click", NULL);
}

/* Whether the file is about this page. */
static bool
is_current(GKeyFile *file, const char *url)
{
	g_autofree char *tested = g_key_file_get_string(file, GROUP, "url", NULL);

	return *url && g_strcmp0(tested, url) == 0;
}

/* @return never NULL */
static char *
get_text(GKeyFile *file, const char *key)
{
	char *text = g_key_file_get_string(file, GROUP, key, NULL);

	return text ? text : g_strdup("");
}

void
one_click_load(const struct settings *settings, struct one_click *state)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autofree char *path = get_path(settings);

	*state = (struct one_click){
	    .fault = g_strdup(""),
	    .detail = g_strdup(""),
	    .since = -1,
	    .checked_at = -1,
	};
	if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, NULL) ||
	    !is_current(file, settings->web_url))
		return;
	one_click_clear(state);
	state->fault = get_text(file, "fault");
	state->detail = get_text(file, "detail");
	state->is_offered = g_key_file_get_boolean(file, GROUP, "offered", NULL);
	state->since = g_key_file_get_int64(file, GROUP, "since", NULL);
	state->checked_at = g_key_file_get_int64(file, GROUP, "checked", NULL);
}

void
one_click_clear(struct one_click *state)
{
	g_clear_pointer(&state->fault, g_free);
	g_clear_pointer(&state->detail, g_free);
}

bool
one_click_save(
    const struct settings *settings, const struct one_click *state, GError **error)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autofree char *path = get_path(settings);
	g_autofree char *text = NULL;
	g_autoptr(GError) problem = NULL;

	g_key_file_set_string(file, GROUP, "url", settings->web_url);
	g_key_file_set_boolean(file, GROUP, "offered", state->is_offered);
	g_key_file_set_string(file, GROUP, "fault", state->fault);
	g_key_file_set_string(file, GROUP, "detail", state->detail);
	g_key_file_set_int64(file, GROUP, "since", state->since);
	g_key_file_set_int64(file, GROUP, "checked", state->checked_at);
	text = g_key_file_to_data(file, NULL, NULL);
	if (g_file_set_contents_full(
	        path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, &problem))
		return true;
	return pb_fail(error, PB_ERROR_TEMPORARY, "%s", problem->message);
}

bool
one_click_is_offered(const struct settings *settings)
{
	pb_local(one_click) state = {0};

	one_click_load(settings, &state);
	return state.is_offered;
}
