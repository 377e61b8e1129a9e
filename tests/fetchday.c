/*
 * fetchday.c - fetch a day from Hugging Face, for script tests.
 *
 * fetchday BASE-URL DAY [ETAG] prints "status WORD", "count N", "ids SHA-256", "etag
 * VALUE" if there is one, and "paper ID TITLE" for each paper.  On failure it prints
 * the error on standard error, "retry-after N" on standard output, and exits non-zero.
 */
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "sources/huggingface.h"

static const char *
name_status(enum source_status status)
{
	switch (status) {
	case SOURCE_OK:
		return "ok";
	case SOURCE_NOT_MODIFIED:
		return "not-modified";
	case SOURCE_EMPTY:
		return "empty";
	case SOURCE_NOT_YET:
		return "not-yet";
	}
	return "?";
}

static void
print_answer(const struct source_answer *answer)
{
	printf("status %s\ncount %zu\nids %s\n", name_status(answer->status),
	    answer->count, answer->ids_sha256);
	if (answer->etag)
		printf("etag %s\n", answer->etag);
	for (guint i = 0; answer->listings && i < answer->listings->len; i++) {
		const struct listing *listing = g_ptr_array_index(answer->listings, i);

		printf("paper %s %s\n", listing->paper->id, listing->paper->title);
	}
}

int
main(int argc, char **argv)
{
	struct http_settings settings = {
	    .user_agent = "paperboy/test (postmaster@example.org)",
	    .allow_file = true,
	};
	pb_auto(http) http = http_new(&settings);
	pb_auto(source) source = NULL;
	g_autoptr(GError) error = NULL;
	struct source_options options = {.name = "hf"};
	struct source_answer answer;

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: fetchday BASE-URL DAY [ETAG]\n");
		return 64;
	}
	options.url = argv[1];
	source = huggingface_new(&options);
	source_answer_init(&answer);
	if (source_fetch_day(source, http, argv[2], argv[3], &answer, &error)) {
		print_answer(&answer);
	} else {
		printf("retry-after %" PRId64 "\n", answer.retry_after_s);
		fprintf(stderr, "fetchday: %s\n", error->message);
	}
	source_answer_clear(&answer);
	return pb_error_exit_status(error);
}
