/*
 * test_piece.c - a part is measured as it will be made.
 */
#include <glib.h>
#include <string.h>

#include "render/piece.h"

static void
a_part_has_the_octets_that_were_measured(void)
{
	static const char *const texts[] = {
	    "",
	    "\n",
	    "one line",
	    "one line\n",
	    "two\n\nand more\n",
	    "na\u00EFve = 3\n",
	    "\u957F\u6587\u672C\n\u6A21\u578B\nand some ASCII\n",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		for (size_t j = 0; j < G_N_ELEMENTS(texts); j++) {
			struct piece first, second;
			struct piece_sum sum = {0};
			struct message_part part = {0};
			g_autoptr(GPtrArray) pieces = g_ptr_array_new();
			g_autoptr(GString) buffer = g_string_new(NULL);

			piece_init(&first, g_string_new(texts[i]));
			piece_init(&second, g_string_new(texts[j]));
			g_ptr_array_add(pieces, &first);
			g_ptr_array_add(pieces, &second);
			piece_sum_add(&sum, &first);
			piece_sum_add(&sum, &second);
			piece_join(pieces, buffer, &part);
			g_assert_cmpuint(part.size, ==, piece_sum_get_part_bytes(&sum));
			piece_sum_subtract(&sum, &second);
			piece_sum_subtract(&sum, &first);
			g_assert_cmpuint(sum.plain_bytes, ==, 0);
			piece_clear(&first);
			piece_clear(&second);
		}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/piece/a part has the octets that were measured",
	    a_part_has_the_octets_that_were_measured);
	return g_test_run();
}
