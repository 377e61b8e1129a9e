/*
 * fuzz_reply.c - parse any replies of a mail server.
 *
 * Input in pieces of any size gives the same replies as the whole, and each reply is
 * classified at every stage.
 */
#include <string.h>

#include "fuzz.h"
#include "transport/classify.h"
#include "transport/reply.h"
#include "transport/smtp_transaction.h"

static void
check_reply(const struct reply *reply)
{
	g_assert(reply->code >= 200 && reply->code <= 599);
	fuzz_check_line(reply->text, BOUNDS_REPLY_TEXT_BYTES);
	g_assert(memchr(reply->enhanced, '\0', sizeof(reply->enhanced)));
	g_assert(!reply->enhanced[0] || reply->enhanced[0] == '0' + reply->code / 100);
	for (enum smtp_stage stage = SMTP_STAGE_CONNECT; stage <= SMTP_STAGE_DOT;
	     stage++) {
		bool is_final =
		    !classify_is_positive(stage, reply) || stage == SMTP_STAGE_DOT;
		struct reply_class meaning;

		if (!is_final)
			continue;
		meaning = classify_reply(stage, reply);
		g_assert((meaning.outcome == DELIVERY_SENT) ==
		         classify_is_positive(stage, reply));
	}
}

/* Format all replies, one per line, and the final state. */
static char *
read_replies(const char *bytes, size_t size, size_t piece)
{
	GString *reported = g_string_new(NULL);
	enum reply_progress progress = REPLY_MORE;
	struct reply_parser parser;
	size_t at = 0;

	reply_parser_init(&parser);
	while (at < size && progress != REPLY_MALFORMED) {
		size_t end = MIN(size, at + piece);

		while (at < end && progress != REPLY_MALFORMED) {
			/* Exact size, so that sanitizers detect reads beyond it. */
			g_autofree char *copy = g_memdup2(bytes + at, end - at);
			size_t used = 0;

			progress = reply_parser_feed(&parser, copy, end - at, &used);
			g_assert(used <= end - at);
			g_assert(used > 0 || progress == REPLY_MALFORMED);
			g_assert(progress != REPLY_MORE || used == end - at);
			at += used;
			if (progress != REPLY_COMPLETE)
				continue;
			check_reply(reply_parser_get(&parser));
			g_string_append_printf(reported, "%d %s %s\n",
			    reply_parser_get(&parser)->code,
			    reply_parser_get(&parser)->enhanced,
			    reply_parser_get(&parser)->text);
		}
	}
	g_string_append_printf(reported, "%d", (int)progress);
	reply_parser_clear(&parser);
	return g_string_free(reported, FALSE);
}

static void
check_hello(const char *bytes, size_t size)
{
	g_autofree char *text = g_strndup(bytes, size);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_autoptr(GPtrArray) hello = g_ptr_array_new();
	struct extensions extensions;

	for (size_t i = 0; lines[i]; i++)
		g_ptr_array_add(hello, lines[i]);
	extensions_parse(hello, &extensions);
	g_assert(!extensions.has_size || g_strstr_len(text, -1, "\n"));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	size_t piece = 1 + fuzz_take_byte(&input) % 64;
	const char *bytes = input.left ? (const char *)input.at : "";
	g_autofree char *whole = read_replies(bytes, input.left, G_MAXINT);
	g_autofree char *pieces = read_replies(bytes, input.left, piece);
	g_autofree char *shown = reply_format_printable(bytes, input.left, piece);

	g_assert_cmpstr(whole, ==, pieces);
	fuzz_check_line(shown, piece);
	check_hello(bytes, input.left);
	return 0;
}
