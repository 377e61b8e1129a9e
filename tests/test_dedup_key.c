/*
 * test_dedup_key.c - the duplicate suppression key does not depend on the receiver.
 */
#include "message/dedup_key.h"

#include <glib.h>
#include <string.h>

#include "base/bounds.h"
#include "lib/unit.h"

#define HEAD "From: Eva <eva@b.example>\nMessage-ID: <1@b>\n"

static char *
key_of(const char *raw)
{
	return dedup_key_format(raw, strlen(raw));
}

static const struct {
	const char *name, *one, *other;
	bool is_same;
} pairs[] = {
    {"Received above", HEAD "\nx\n", "Received: from a\n\tby b\n" HEAD "\nx\n", true},
    {"Delivered-To and Return-Path above", HEAD "\nx\n",
        "Delivered-To: a@b\nReturn-Path: <c@d>\n" HEAD "\nx\n", true},
    {"CRLF", HEAD "\nx\n\ny\n",
        "From: Eva <eva@b.example>\r\nMessage-ID: <1@b>\r\n\r\nx\r\n\r\ny\r\n", true},
    {"empty lines at the end", HEAD "\nx\n", HEAD "\nx\n\n\n", true},
    {"no line end at the end", HEAD "\nx\n", HEAD "\nx", true},
    {"no body and no empty line", HEAD, HEAD "\n\n", true},
    {"names of fields in another case", HEAD "\nx\n",
        "FROM: Eva <eva@b.example>\nmessage-id : <1@b>\n\nx\n", true},
    {"another name beside the address", HEAD "\nx\n",
        "From: \"Eva E.\" <EVA@b.example>\nMessage-ID: <1@b>\n\nx\n", true},
    {"an address alone", HEAD "\nx\n", "From: eva@b.example\nMessage-ID: <1@b>\n\nx\n",
        true},
    {"a folded field", HEAD "\nx\n",
        "From: Eva\n <eva@b.example>\nMessage-ID:\n\t<1@b>\n\nx\n", true},
    {"another subject", "Subject: a\n" HEAD "\nx\n", "Subject: b\n" HEAD "\nx\n", true},
    {"another body", HEAD "\nx\n", HEAD "\ny\n", false},
    {"an empty line within", HEAD "\nx\ny\n", HEAD "\nx\n\ny\n", false},
    {"another id", HEAD "\nx\n", "From: eva@b.example\nMessage-ID: <2@b>\n\nx\n",
        false},
    {"another author", HEAD "\nx\n", "From: eve@b.example\nMessage-ID: <1@b>\n\nx\n",
        false},
    {"the id below another", HEAD "Message-ID: <2@b>\n\nx\n", HEAD "\nx\n", true},
    {"an id in the body", "From: a@b\n\nMessage-ID: <1@b>\n",
        "From: a@b\nMessage-ID: <1@b>\n\n", false},
    {"without id: another date", "From: a@b\nDate: 1\n\nx\n",
        "From: a@b\nDate: 2\n\nx\n", false},
    {"without id: another subject", "From: a@b\nSubject: 1\n\nx\n",
        "From: a@b\nSubject: 2\n\nx\n", false},
    {"without id: another last hop", "Received: 2\nReceived: 1\nFrom: a@b\n\nx\n",
        "Received: 3\nReceived: 1\nFrom: a@b\n\nx\n", true},
    {"without id: another first hop", "Received: 2\nReceived: 1\nFrom: a@b\n\nx\n",
        "Received: 2\nReceived: 4\nFrom: a@b\n\nx\n", false},
    {"an empty id is none", "Message-ID: \nFrom: a@b\nDate: 1\n\nx\n",
        "From: a@b\nDate: 1\n\nx\n", true},
    {"what moves from a field into another", "From: a@b\nDate: 1\nSubject: 2\n\nx\n",
        "From: a@b\nDate: 12\nSubject:\n\nx\n", false},
    {"nothing at all", "", "\n\n", true},
};

static void
test_pair(gconstpointer data)
{
	size_t i = GPOINTER_TO_SIZE(data);
	g_autofree char *one = key_of(pairs[i].one);
	g_autofree char *other = key_of(pairs[i].other);

	g_assert_cmpuint(strlen(one), ==, DEDUP_KEY_LENGTH);
	if (pairs[i].is_same)
		g_assert_cmpstr(one, ==, other);
	else
		g_assert_cmpstr(one, !=, other);
}

static const struct {
	const char *raw, *name, *value;
} fields[] = {
    {"To: a@b\n\n", "to", "a@b"},
    {"To: a@b\nTo: c@d\n\n", "To", "a@b"},
    {"To:a@b", "To", "a@b"},
    {"To :  a@b  \n\n", "To", "a@b"},
    {"To: a,\n b\n\tc\nX: y\n d\n\n", "To", "a, b c"},
    {"Too: a@b\nX-To: c\n\nTo: d@e\n", "To", NULL},
    {"To\n\n", "To", NULL},
    {" To: a\n\n", "To", NULL},
    {"To: a\033b\r\n\r\n", "To", "a b"},
    {"", "To", NULL},
};

TEST(topmost_field_is_found_and_unfolded)
{
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
		g_autofree char *value = dedup_key_find_field(
		    fields[i].raw, strlen(fields[i].raw), fields[i].name);

		g_assert_cmpstr(value, ==, fields[i].value);
	}
}

static const struct {
	const char *value, *address;
} addresses[] = {
    {"a@b", "a@b"},
    {"<a@b>", "a@b"},
    {"<>", ""},
    {" <a+t@b> ", "a+t@b"},
    {"\303\244@b", "\303\244@b"},
    {"\344@b", NULL},
    {"a@b c@d", NULL},
    {"a@b, c@d", NULL},
    {"Eva <a@b>", NULL},
    {"", NULL},
};

TEST(envelope_address_is_the_whole_value)
{
	for (size_t i = 0; i < G_N_ELEMENTS(addresses); i++) {
		g_autofree char *raw =
		    g_strdup_printf("Delivered-To: %s\n\n", addresses[i].value);
		g_autofree char *found =
		    dedup_key_find_address(raw, strlen(raw), "Delivered-To");

		g_assert_cmpstr(found, ==, addresses[i].address);
	}
}

TEST(values_are_limited)
{
	for (int more = -1; more <= 1; more++) {
		size_t size = (size_t)(BOUNDS_MAIL_VALUE_BYTES + more);
		size_t length = (size_t)(BOUNDS_ADDRESS_BYTES + more);
		g_autofree char *long_word = g_strnfill(size - 1, 'x');
		g_autofree char *word = g_strnfill(length, 'x');
		g_autofree char *raw =
		    g_strdup_printf("A:y%s\nB: <%s>\n\n", long_word, word);
		g_autofree char *value = dedup_key_find_field(raw, strlen(raw), "A");
		g_autofree char *address =
		    dedup_key_find_address(raw, strlen(raw), "B");

		g_assert_cmpuint(strlen(value), ==, MIN(size, BOUNDS_MAIL_VALUE_BYTES));
		g_assert_true((address != NULL) == (more <= 0));
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++) {
		g_autofree char *path = g_strdup_printf("/dedup_key/%s: %s",
		    pairs[i].is_same ? "same" : "another", pairs[i].name);

		g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_pair);
	}
	unit_add_all();
	return g_test_run();
}
