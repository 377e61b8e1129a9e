/*
 * fuzz_imap_line.c - parse any line from an IMAP server.
 *
 * The result is within its limits and does not depend on the line ending.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "fuzz.h"
#include "receive/imap_line.h"

static void
check_line(const struct imap_line *line, bool is_rest)
{
	g_assert(is_rest == (line->kind == IMAP_LINE_AFTER_LITERAL));
	g_assert(line->kind <= IMAP_LINE_OTHER);
	g_assert(line->literal_bytes <= BOUNDS_MAIL_BYTES + 1);
	g_assert(line->has_literal || line->literal_bytes == 0);
	g_assert(!line->has_literal || line->kind == IMAP_LINE_FETCH || is_rest);
}

/* @return what is made of it, in words */
static char *
classify(const char *text, size_t size, const char *end, bool is_rest)
{
	g_autoptr(GString) whole = g_string_new_len(text, (gssize)size);
	g_autofree char *copy = NULL;
	g_autoptr(GError) error = NULL;
	struct imap_line line = {.kind = IMAP_LINE_OTHER, .number = 77};

	g_string_append(whole, end);
	/* Of just this size, so that reading further is seen. */
	copy = g_memdup2(whole->str, whole->len);
	if (imap_line_parse(copy ? copy : "", whole->len, is_rest, &line, &error)) {
		check_line(&line, is_rest);
	} else {
		fuzz_check_error(error);
		g_assert(error->code == PB_ERROR_TEMPORARY && line.number == 77);
	}
	return g_strdup_printf("%d %u %d %u %s", (int)line.kind, line.number,
	    line.has_literal, line.literal_bytes, error ? error->message : "");
}

static void
check_both(const char *text, size_t size, bool is_rest)
{
	g_autofree char *bare = classify(text, size, "\n", is_rest);
	g_autofree char *full = classify(text, size, "\r\n", is_rest);

	g_assert_cmpstr(bare, ==, full);
	/* A NUL, or a parenthesis too many, is one in any place. */
	if (memchr(text, '\0', size))
		g_assert(strstr(bare, "a NUL") || strstr(bare, "parentheses"));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = size ? (const char *)data : "";
	const char *end = at + size;

	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		if (!stop)
			stop = end;
		check_both(at, (size_t)(stop - at), false);
		check_both(at, (size_t)(stop - at), true);
		at = MIN(stop + 1, end);
	}
	return 0;
}
