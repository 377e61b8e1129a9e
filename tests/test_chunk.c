/*
 * test_chunk.c - sizes of parts.
 */
#include <glib.h>
#include <string.h>

#include "lib/unit.h"
#include "render/chunk.h"

TEST(a_part_has_the_bytes_that_were_measured)
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
			struct chunk first, second;
			struct chunk_stats sum = {0};
			g_autoptr(GString) one = g_string_new(texts[i]);
			g_autoptr(GString) two = g_string_new(texts[j]);
			g_autoptr(GString) both = g_string_new(NULL);
			g_autoptr(GString) bytes = g_string_new(NULL);
			struct chunk_stats appended = {0};

			chunk_init(&first, one);
			chunk_init(&second, two);
			g_string_append(both, one->str);
			g_string_append(both, two->str);
			chunk_stats_add(&sum, &first.stats);
			chunk_stats_add(&sum, &second.stats);
			chunk_stats_append(&appended, bytes, both->str, both->len);
			g_assert_cmpuint(appended.plain_bytes, ==, sum.plain_bytes);
			g_assert_cmpuint(appended.encoded_bytes, ==, sum.encoded_bytes);
			g_assert_cmpuint(appended.non_ascii, ==, sum.non_ascii);
			if (chunk_stats_get_encoding(&sum) == ENCODING_BASE64) {
				g_string_truncate(bytes, 0);
				encoding_append_base64(bytes, both->str, both->len);
			}
			g_assert_cmpuint(
			    bytes->len, ==, chunk_stats_get_part_bytes(&sum));
			chunk_stats_subtract(&sum, &second.stats);
			chunk_stats_subtract(&sum, &first.stats);
			g_assert_cmpuint(sum.plain_bytes, ==, 0);
			chunk_clear(&first);
			chunk_clear(&second);
		}
}

TEST(lines_are_found_in_the_encoded_form)
{
	g_autofree char *wide = g_strnfill(200, '=');
	g_autoptr(GString) text = g_string_new(NULL);
	pb_local(chunk) chunk;

	g_string_printf(text, "first\n%s\n\n=\nlast = 5", wide);
	chunk_init(&chunk, text);
	g_assert_cmpuint(chunk_find_line(&chunk, 0), ==, 0);
	g_assert_cmpuint(chunk_find_line(&chunk, 1), ==, strlen("first\r\n"));
	g_assert_true(
	    g_str_has_prefix(chunk.encoded + chunk_find_line(&chunk, 2), "\r\n=3D\r"));
	g_assert_cmpstr(
	    chunk.encoded + chunk_find_line(&chunk, 4), ==, "last =3D 5\r\n");
	g_assert_cmpuint(chunk_find_line(&chunk, 5), ==, chunk.stats.encoded_bytes);
}

UNIT_MAIN
