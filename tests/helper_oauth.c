/*
 * helper_oauth.c - get access tokens for SMTP as the mail clients do.
 *
 * helper_oauth CONFIG NOW THREADS [REJECTED]: every thread prints "token TOKEN" or
 * "error CODE MESSAGE".
 */
#include <glib.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "service/setup/factory.h"
#include "service/setup/startup.h"

struct run {
	struct oauth_source *source;
	const char *rejected;
};

static gpointer
get(gpointer data)
{
	const struct run *run = data;
	const struct stream_tokens *tokens = oauth_source_get_tokens(run->source);
	g_autoptr(GError) error = NULL;
	g_autofree char *token = tokens->get(tokens->data, run->rejected, NULL, &error);

	if (token)
		printf("token %s\n", token);
	else
		printf("error %d %s\n", error->code, error->message);
	return NULL;
}

int
main(int argc, char **argv)
{
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	pb_auto(settings) settings = NULL;
	pb_auto(oauth_source) source = NULL;
	GThread *threads[64];
	struct clock clock;
	struct run run;
	int count;

	if (argc < 4 || !startup_init_clock(&clock, argv[2], false, &error))
		return EXIT_FAILURE;
	json_set_alloc_funcs(g_malloc, g_free);
	count = CLAMP(atoi(argv[3]), 1, (int)G_N_ELEMENTS(threads));
	settings = startup_load_settings(argv[1], problems);
	if (settings)
		source =
		    factory_new_oauth(settings, OAUTH_USE_SMTP, NULL, &clock, &error);
	if (!source)
		return EXIT_FAILURE;
	run = (struct run){source, argc > 4 ? argv[4] : NULL};
	for (int i = 0; i < count; i++)
		threads[i] = g_thread_new("get", get, &run);
	for (int i = 0; i < count; i++)
		g_thread_join(threads[i]);
	return EXIT_SUCCESS;
}
