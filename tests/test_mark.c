/*
 * test_mark.c - marked words in the HTML of a paper.
 */
#include <glib.h>
#include <string.h>

#include "lib/unit.h"
#include "render/mark.h"

static void
words_of_hits_are_marked(void)
{
	static const struct {
		const char *html, *hits, *wanted, *shown;
	} rows[] = {
	    {"<h2>\5State Space\7</h2>\n", "tState Space",
	        "<h2><b>State Space</b></h2>\n", "1"},
	    /* As written only, and whole words. */
	    {"\6a Space, a space, spaces\7", "bspace",
	        "a Space, a <b>space</b>, spaces", "1"},
	    /* A title is not an abstract; markup is neither. */
	    {"<a title=\"deep\">\5deep\7</a> \6deep\7", "tdeep",
	        "<a title=\"deep\"><b>deep</b></a> deep", "1"},
	    {"\5deep\7 \6deep\7", "bdeep", "deep <b>deep</b>", "1"},
	    {"\5deep\7 \6deep\7", "tdeep\tBdeep", "<b>deep</b> <b>deep</b>", "11"},
	    /* A phrase does not continue in the next text. */
	    {"\6state\7 \6space\7", "bstate space", NULL, "0"},
	    {"\6state-space &amp; state\n space\7", "bstate space",
	        "<b>state-space</b> &amp; <b>state\n space</b>", "1"},
	    /* Escapes are not words. */
	    {"\6Q&amp;A, don&#39;t amp 39\7", "bamp\tb39\tbdon't\tbQ&A",
	        "<b>Q&amp;A</b>, <b>don&#39;t</b> <b>amp</b> <b>39</b>", "1111"},
	    /* Signs belong to the word. */
	    {"\6C, C++ and C#\7", "bC++\tbC#", "C, <b>C++</b> and <b>C#</b>", "11"},
	    {"\6C and C-\7", "bC++", NULL, "0"},
	    /* Overlaps are one mark. */
	    {"\6deep state space model\7", "bdeep state\tbstate space\tbmodel",
	        "<b>deep state space</b> <b>model</b>", "111"},
	    /* NEAR: all of its phrases must be there. */
	    {"\6reward of the hacking\7", "breward\x1fhacking",
	        "<b>reward</b> of the <b>hacking</b>", "1"},
	    {"\6reward only\7", "breward\x1fhacking", "<b>reward</b> only", "0"},
	    /* Other fields are not in the text. */
	    {"\5Ada 23\7", "aAda\tu23", NULL, "00"},
	    {"\5Größe der Zebras, 模型\7", "tGröße\tt模型",
	        "<b>Größe</b> der Zebras, <b>模型</b>", "11"},
	    {"\6\7<p>\6x\7</p>", "bx", "<p><b>x</b></p>", "1"},
	    {"nothing", "bnothing\tb\tb++", NULL, "000"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GString) html = g_string_new(rows[i].html);
		g_autoptr(GPtrArray) hits = hits_parse(rows[i].hits);
		pb_auto(mark_list) list = mark_list_new();
		struct mark_index index;
		GString *marked;

		mark_index_init(&index, html);
		mark_list_add(list, hits);
		marked = mark_list_apply(list, &index, html);
		g_assert_cmpstr(marked ? marked->str : NULL, ==, rows[i].wanted);
		g_assert_cmpuint(hits->len, ==, strlen(rows[i].shown));
		for (unsigned j = 0; j < hits->len; j++)
			g_assert_cmpint(
			    mark_list_is_shown(list, j), ==, rows[i].shown[j] == '1');
		if (marked)
			g_string_free(marked, TRUE);
		mark_index_clear(&index);
	}
}

UNIT_MAIN(words_of_hits_are_marked)
