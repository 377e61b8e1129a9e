/*
 * test_bibliography.c - files of reference managers: their works, whatever is broken.
 */
#include "message/bibliography.h"

#include <string.h>

#include "lib/cases.h"
#include "lib/texts.h"
#include "lib/unit.h"

static char *
read_names(const char *data, size_t size)
{
	pb_auto(bibliography) found = bibliography_parse(data, size);
	g_autofree char *works = texts_join(found->works);

	return g_strdup_printf("%u|%s", found->unnamed, works);
}

TEST(works_are_found_in_the_forms_of_reference_managers)
{
	CASES_FOREACH(row, "bibliography", *name, *text, *wanted) {
		g_autofree char *names = read_names(row->text, strlen(row->text));

		g_test_message("%s", row->name);
		g_assert_cmpstr(names, ==, row->wanted);
	}
}

#define ENTRY                                                                     \
	"TY  - JOUR\r\nTI  - \303\234ber die wahre Natur der Zellen aus Hefe\r\n" \
	"AU  - M\303\274ller, A.\r\nER  - \r\n"

/* The same file in other encodings, and cut at each byte. */
TEST(encodings_and_cut_files_are_read)
{
	static const char *const charsets[] = {"UTF-8", "WINDOWS-1252", "UTF-16"};
	static const char text[] = "\357\273\277" ENTRY;
	g_autofree char *wanted = read_names(ENTRY, strlen(ENTRY));

	g_assert_true(g_str_has_prefix(wanted, "0|title:"));
	for (size_t i = 0; i < G_N_ELEMENTS(charsets); i++) {
		gsize size;
		g_autofree char *data =
		    g_convert(ENTRY, -1, charsets[i], "UTF-8", NULL, &size, NULL);
		g_autofree char *names = read_names(data, size);

		g_assert_cmpstr(names, ==, wanted);
	}
	for (size_t size = 0; size <= strlen(text); size++)
		g_free(read_names(text, size));
}

/* The first one has a NUL and more ids than are read. */
TEST(a_file_has_at_most_5000_entries)
{
	static const char head[] = "@article{k, title={\0}, note={";
	g_autoptr(GString) text = g_string_new_len(head, sizeof(head) - 1);
	pb_auto(bibliography) found = NULL;
	g_auto(GStrv) names = NULL;

	for (int i = 0; i < 50000; i++)
		g_string_append_printf(text, "10.5555/a%d ", i);
	g_string_append(text, "}}\n");
	for (int i = 1; i < BIBLIOGRAPHY_ENTRIES + 7; i++)
		g_string_append_printf(text, "@article{k,doi={10.5555/%d}}\n", i);
	found = bibliography_parse(text->str, text->len);
	g_assert_cmpuint(found->works->len, ==, BIBLIOGRAPHY_ENTRIES);
	g_assert_cmpuint(found->unnamed, ==, 7);
	names = g_strsplit(found->works->pdata[0], " ", -1);
	g_assert_cmpuint(g_strv_length(names), ==, 16);
}

TEST(a_file_is_recognised_by_its_start)
{
	static const struct {
		const char *text;
		bool is_likely;
	} rows[] = {{ENTRY, true}, {"\357\273\277" ENTRY, true},
	    {"\n% Encoding: UTF-8\n\n@Article{a,", true}, {"@misc (a", true},
	    {"", false}, {"%PDF-1.5 @a{", false}, {"@ada wrote: {x}", false},
	    {"TY", false}};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (bibliography_is_likely(rows[i].text, strlen(rows[i].text)) !=
		    rows[i].is_likely)
			g_error("'%s'", rows[i].text);
}

UNIT_MAIN
