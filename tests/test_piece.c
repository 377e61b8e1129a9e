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
			g_autoptr(GString) both = g_string_new(NULL);
			g_autoptr(GString) octets = g_string_new(NULL);
			struct piece_sum appended = {0};

			piece_init(&first, g_string_new(texts[i]));
			piece_init(&second, g_string_new(texts[j]));
			g_string_append(both, first.plain->str);
			g_string_append(both, second.plain->str);
			piece_sum_add(&sum, &first);
			piece_sum_add(&sum, &second);
			piece_sum_append(&appended, octets, both->str, both->len);
			g_assert_cmpuint(appended.plain_bytes, ==, sum.plain_bytes);
			g_assert_cmpuint(appended.encoded_bytes, ==, sum.encoded_bytes);
			g_assert_cmpuint(appended.foreign, ==, sum.foreign);
			if (piece_sum_get_encoding(&sum) == ENCODING_BASE64) {
				g_string_truncate(octets, 0);
				encoding_append_base64(octets, both->str, both->len);
			}
			g_assert_cmpuint(
			    octets->len, ==, piece_sum_get_part_bytes(&sum));
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
