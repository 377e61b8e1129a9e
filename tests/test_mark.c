/*
 * test_mark.c - marked words in the HTML of a paper.
 */
#include <glib.h>
#include <string.h>

#include "lib/unit.h"
#include "render/mark.h"

/* @param text  or NULL */
static char *
end_line(const char *text)
{
	return text ? g_strconcat(text, g_str_has_suffix(text, "\n") ? "" : "\n", NULL)
	            : NULL;
}

/* @return the whole text, encoded */
static GString *
join(const struct chunk *chunk, const struct marked *marked)
{
	GString *whole = g_string_new(NULL);
	const char *text = marked->text->str;
	size_t at = 0;

	for (unsigned i = 0; i < marked->count; i++) {
		const struct mark_piece *piece = &marked->pieces[i];

		g_assert_cmpuint(piece->start, ==, at);
		at = piece->end;
		if (piece->marked_bytes)
			g_string_append_len(whole, text, (gssize)piece->marked_bytes);
		else
			g_string_append_len(whole, chunk->encoded + piece->start,
			    (gssize)(piece->end - piece->start));
		text += piece->marked_bytes;
	}
	g_assert_cmpuint(at, ==, chunk->stats.encoded_bytes);
	g_assert_cmpuint(whole->len, ==, marked->stats.encoded_bytes);
	return whole;
}

static GString *
decode(const GString *encoded)
{
	GString *text = g_string_new(NULL);

	encoding_append_decoded(text, encoded->str, encoded->len);
	return text;
}

TEST(words_of_hits_are_marked)
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
	    /* Words of a URL are not marked. */
	    {"\6Code: https://a.org/deep-space?x=1, deep http\7", "bdeep\tbhttp\tborg",
	        "Code: https://a.org/deep-space?x=1, <b>deep</b> <b>http</b>", "110"},
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
	    /* Any part of a run; adjacent parts are one mark. */
	    {"\6大型语言模型，用BERT模型\7", "b语言\tb模型\tbBERT",
	        "大型<b>语言模型</b>，用<b>BERT模型</b>", "111"},
	    {"\6データ\7", "bデ\tbタ\tbー夕", "<b>デ</b>ー<b>タ</b>", "110"},
	    {"\6\7<p>\6x\7</p>", "bx", "<p><b>x</b></p>", "1"},
	    {"nothing", "bnothing\tb\tb++", NULL, "000"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *wanted = end_line(rows[i].wanted);
		g_autoptr(GPtrArray) hits = hits_parse(rows[i].hits);
		pb_auto(mark_list) list = mark_list_new();
		pb_local(chunk) html;
		pb_local(mark_index) index;
		struct marked marked;
		g_autoptr(GString) encoded = NULL;
		g_autoptr(GString) text = NULL;

		mark_index_init(&index, &html, g_string_new(rows[i].html));
		mark_list_add(list, hits);
		mark_list_apply(list, &index, &html, &marked);
		encoded = join(&html, &marked);
		text = decode(encoded);
		g_assert_true((marked.text->len > 0) == (wanted != NULL));
		g_assert_cmpstr(text->str, ==, wanted ? wanted : index.html);
		g_assert_cmpuint(hits->len, ==, strlen(rows[i].shown));
		for (unsigned j = 0; j < hits->len; j++)
			g_assert_cmpint(
			    mark_list_is_shown(list, j), ==, rows[i].shown[j] == '1');
	}
}

/* A line of random length with words that are marked or escaped or long. */
static void
append_random_line(GString *html)
{
	static const char *const words[] = {"a", "deep", "state space", "=", "é", ".",
	    "From ", "&amp;", " ", "", "ab\nab", "模型 deep", "0123456789abcdef"};

	for (int i = g_test_rand_int_range(0, 14); i > 0; i--) {
		g_string_append(
		    html, words[g_test_rand_int_range(0, G_N_ELEMENTS(words))]);
		if (g_test_rand_bit())
			g_string_append_c(html, ' ');
	}
	if (g_test_rand_int_range(0, 9))
		g_string_append_c(html, '\n');
}

/* Lines that are not encoded again are those of the chunk. */
TEST(a_marked_chunk_is_as_if_it_were_encoded_anew)
{
	for (int round = 0; round < 2000; round++) {
		g_autoptr(GPtrArray) hits =
		    hits_parse("bdeep\tbab ab\tbspace deep\tbstate space\tb模型");
		GString *html = g_string_new(MARK_BODY);
		pb_auto(mark_list) list = mark_list_new();
		g_autoptr(GString) encoded = NULL;
		g_autoptr(GString) text = NULL;
		struct chunk chunk, anew;
		pb_local(mark_index) index;
		struct marked marked;

		for (int i = g_test_rand_int_range(0, 12); i > 0; i--)
			append_random_line(html);
		g_string_append(html, MARK_END);
		mark_index_init(&index, &chunk, html);
		mark_list_add(list, hits);
		mark_list_apply(list, &index, &chunk, &marked);
		encoded = join(&chunk, &marked);
		text = decode(encoded);
		chunk_init(&anew, text);
		g_assert_cmpstr(encoded->str, ==, anew.encoded);
		g_assert_cmpuint(
		    marked.stats.encoded_bytes, ==, anew.stats.encoded_bytes);
		g_assert_cmpuint(marked.stats.plain_bytes, ==, anew.stats.plain_bytes);
		g_assert_cmpuint(marked.stats.non_ascii, ==, anew.stats.non_ascii);
		chunk_clear(&chunk);
		chunk_clear(&anew);
	}
}

UNIT_MAIN
