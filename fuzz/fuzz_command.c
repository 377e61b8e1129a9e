/*
 * fuzz_command.c - read what a mail asks for: commands and sentences.
 */
#include <string.h>

#include "base/bounds.h"
#include "fuzz.h"
#include "message/command_text.h"
#include "message/prose.h"
#include "service/command/command_private.h"

static void
check_line(const char *line)
{
	const char *arguments, *all;
	g_autofree char *word = command_table_split(line, &arguments);

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
	const struct prose_mail mail = {.subject = command_text_skip_prefixes(first),
	    .text = text,
	    .is_command = command_table_is_command};
	pb_auto(prose) prose = prose_read(&mail);

	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];

		g_assert(g_utf8_validate(item->line, -1, NULL));
		g_assert(item->kind != PROSE_WISH || item->wish.intent);
		if (item->kind == PROSE_COMMAND)
			check_line(item->line);
	}
	return 0;
}
