/*
 * fuzz_command.c - extract command lines from the body of a mail.
 */
#include <string.h>

#include "base/bounds.h"
#include "fuzz.h"
#include "message/command_text.h"
#include "service/command/command_private.h"

static void
check_line(const char *line)
{
	const char *arguments, *all;
	g_autofree char *word = command_table_split(line, &arguments);

	fuzz_check_line(line, G_MAXSIZE);
	g_assert(command_table_parse(line, &all) || command_table_find_closest(word));
	g_assert(all == arguments || all == line);
	while (*arguments) {
		const char *before = arguments;
		g_autofree char *value = command_take_option(&arguments, "name");
		g_autofree char *next = value ? NULL : command_take_word(&arguments);

		g_assert(value || next || !*arguments);
		g_assert(arguments > before);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	g_autofree char *subject = fuzz_take_text(&input);
	g_autofree char *rest = fuzz_take_text(&input);
	g_autofree char *first = g_utf8_make_valid(subject, -1);
	g_autofree char *text = g_utf8_make_valid(rest, -1);
	struct command_text lines;

	command_text_read(first, text, command_table_classify, &lines);
	g_assert(lines.lines->len <= BOUNDS_COMMANDS);
	for (unsigned i = 0; i < lines.lines->len; i++)
		check_line(lines.lines->pdata[i]);
	if (lines.stopped_at) {
		g_assert(lines.lines->len > 0);
		g_assert(command_table_classify(lines.stopped_at) == COMMAND_KIND_NONE);
		fuzz_check_line(lines.stopped_at, G_MAXSIZE);
	}
	command_text_clear(&lines);
	return 0;
}
