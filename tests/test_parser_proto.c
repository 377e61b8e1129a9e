/*
 * test_parser_proto.c - output of a hostile parser.
 */
#include <glib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/unit.h"
#include "message/parser_proto.h"

#define FIRST "paperboy-parser 1\n"
#define END   "end 0\n\n"

static struct inmail *
parse(const char *data, size_t size)
{
	struct inmail *mail = NULL;
	char *refusal = NULL;
	GError *error = NULL;
	/* Exact size, so that sanitizers detect reads beyond it. */
	g_autofree char *copy = g_memdup2(data, size);

	g_assert_true(parser_decode(copy, size, &mail, &refusal, &error));
	g_assert_no_error(error);
	g_assert_null(refusal);
	return mail;
}

static void
refuse(const char *data, size_t size, const char *words)
{
	struct inmail *mail = (struct inmail *)1;
	char *refusal = (char *)1;
	g_autoptr(GError) error = NULL;
	g_autofree char *copy = g_memdup2(data, size);

	g_assert_false(parser_decode(copy, size, &mail, &refusal, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	g_assert_true(mail == (struct inmail *)1);
	g_assert_true(refusal == (char *)1);
	if (words && !strstr(error->message, words))
		g_error("%s: not %s", error->message, words);
}

static const struct {
	const char *records, *words;
} hostile[] = {
    {"", "no end"},
    {"end 0\n", "wrong length"},
    {"end 1\nx\n", "too long"},
    {"end 0\n\nend 0\n\n", "after the end"},
    {"end 0\n\n\n", "after the end"},
    {"subject 5\nhello" END, "wrong length"},
    {"subject 4\nhello\n" END, "wrong length"},
    {"subject 6\nhello\n" END, "wrong length"},
    {"subject 999999\nhello\n" END, "too long"},
    {"subject 9999999\nhello\n" END, "too long"},
    {"subject 99999999\nhello\n" END, "length"},
    {"subject 18446744073709551621\nhello\n" END, "length"},
    {"subject -1\nhello\n" END, "length"},
    {"subject +5\nhello\n" END, "length"},
    {"subject 05\nhello\n" END, "length"},
    {"subject 0x5\nhello\n" END, "length"},
    {"subject  5\nhello\n" END, "length"},
    {"subject 5 \nhello\n" END, "length"},
    {"subject \nhello\n" END, "length"},
    {"subject\nhello\n" END, "unknown tag"},
    {"subject 5\r\nhello\n" END, "length"},
    {"SUBJECT 5\nhello\n" END, "unknown tag"},
    {"subjects 5\nhello\n" END, "unknown tag"},
    {"subjec 5\nhello\n" END, "unknown tag"},
    {" 5\nhello\n" END, "unknown tag"},
    {"secret 5\nhello\n" END, "unknown tag"},
    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 5\nhello\n" END, "unknown tag"},
    {"subject 5\nhello\nsubject 5\nhello\n" END, "too many records"},
    {"subject 2\na\n\n" END, "plain text"},
    {"subject 1\n\x1b\n" END, "plain text"},
    {"subject 1\n\x7f\n" END, "plain text"},
    {"subject 2\n\xc2\x85\n" END, "plain text"},
    {"subject 1\n\xff\n" END, "plain text"},
    {"subject 3\n\xed\xa0\x80\n" END, "plain text"},
    {"text 1\n\r\n" END, "plain text"},
    {"from 0\n\n" END, "mailbox"},
    {"from 11\na@b.example\n" END, "mailbox"},
    {"from 2\na \n" END, "address"},
    {"from 12\na@B.example \n" END, "address"},
    {"from 12\na%b@c.examp \n" END, "address"},
    {"to 12\n<@b.example \n" END, "address"},
    {"return-path 1\nx\n" END, "address"},
    {"delivered-to 0\n\n" END, "address"},
    {"date 1\nx\n" END, "number"},
    {"date 2\n-1\n" END, "number"},
    {"date 12\n253402300800\n" END, "number"},
    {"received 10\n9999999999\n" END, "number"},
    {"received 0\n\n" END, "number"},
    {"message-id 0\n\n" END, "message id"},
    {"message-id 3\na b\n" END, "message id"},
    {"message-id 3\na>b\n" END, "message id"},
    {"reference 2\n\xc3\xbc\n" END, "message id"},
    {"mark 1\nx\n" END, "without a name"},
    {"mark 3\n: x\n" END, "without a name"},
    {"mark 5\na b: \n" END, "invalid field name"},
    {"auth-server 1\na\n" END, "without authentication"},
    {"auth-result 4\na b \n" END, "without authentication"},
    {"authentication 1\na\nauth-result 3\na b\n" END, "invalid result"},
    {"authentication 1\na\nauth-result 3\n  b\n" END, "invalid result"},
    {"text-source 5\nplane\n" END, "text source"},
    {"report 3\nodd\n" END, "kind of report"},
    {"report-field 4\na: b\n" END, "without a group"},
    {"filtered 1\nx\n" END, "too long"},
    {"refused 1\nx\nsubject 1\nx\n" END, "a refusal and other records"},
    {"subject 1\nx\nrefused 1\nx\n" END, "a refusal and other records"},
};

TEST(hostile_output_is_rejected)
{
	for (size_t i = 0; i < G_N_ELEMENTS(hostile); i++) {
		g_autofree char *all = g_strconcat(FIRST, hostile[i].records, NULL);

		refuse(all, strlen(all), hostile[i].words);
	}
}

TEST(another_first_line_is_rejected)
{
	static const char *const lines[] = {"", "p", "paperboy-parser 1",
	    "paperboy-parser 2\n" END, "paperboy-parser 1\r\n" END,
	    "Paperboy-letter 1\n" END, "\n" FIRST END};

	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
		refuse(lines[i], strlen(lines[i]), "unknown first line");
}

TEST(a_nul_is_rejected)
{
	static const char data[] = FIRST "subject 3\na\0b\n" END;
	static const char name[] = FIRST "sub\0ect 3\nabc\n" END;

	refuse(data, sizeof(data) - 1, "plain text");
	refuse(name, sizeof(name) - 1, "unknown tag");
}

/* All tags, in the order of the program. */
static GString *
make_whole(void)
{
	GString *out = g_string_new(NULL);

	parser_proto_begin(out);
	parser_proto_append(out, PROTO_TAG_FILTERED, "");
	parser_proto_append(out, PROTO_TAG_FROM, "eva@b.example Eva \xc3\xbc");
	parser_proto_append(out, PROTO_TAG_SENDER, "s@b.example ");
	parser_proto_append(out, PROTO_TAG_REPLY_TO, "r@b.example R");
	parser_proto_append(out, PROTO_TAG_TO, "t@b.example ");
	parser_proto_append(out, PROTO_TAG_CC, "c@b.example ");
	parser_proto_append(out, PROTO_TAG_FROM_FIELDS, "1");
	parser_proto_append(out, PROTO_TAG_RECEIVED, "2");
	parser_proto_append(out, PROTO_TAG_SUBJECT, "list");
	parser_proto_append(out, PROTO_TAG_MESSAGE_ID, "a@b");
	parser_proto_append(out, PROTO_TAG_IN_REPLY_TO, "c@d");
	parser_proto_append(out, PROTO_TAG_REFERENCE, "e@f");
	parser_proto_append(out, PROTO_TAG_REFERENCE, "c@d");
	parser_proto_append(out, PROTO_TAG_DATE, "1795165200");
	parser_proto_append(out, PROTO_TAG_RETURN_PATH, "");
	parser_proto_append(out, PROTO_TAG_DELIVERED_TO, "d@b.example");
	parser_proto_append(out, PROTO_TAG_ORIGINAL_TO, "o@b.example");
	parser_proto_append(out, PROTO_TAG_MARK, "Precedence: bulk");
	parser_proto_append(out, PROTO_TAG_AUTHENTICATION, "mx; dmarc=pass a=b c=d");
	parser_proto_append(out, PROTO_TAG_AUTH_SERVER, "mx");
	parser_proto_append(out, PROTO_TAG_AUTH_RESULT, "dmarc pass a=b c=d");
	parser_proto_append(out, PROTO_TAG_TEXT_SOURCE, "html");
	parser_proto_append(out, PROTO_TAG_TEXT_CUT, "");
	parser_proto_append(out, PROTO_TAG_TEXT, "list\n\tx\n");
	parser_proto_append(out, PROTO_TAG_BODY, "list\n\tx\n> y\n");
	parser_proto_append(out, PROTO_TAG_REPORT, "delivery");
	parser_proto_append(out, PROTO_TAG_REPORT_GROUP, "");
	parser_proto_append(out, PROTO_TAG_REPORT_FIELD, "Reporting-MTA: dns; a");
	parser_proto_append(out, PROTO_TAG_REPORT_GROUP, "");
	parser_proto_append(out, PROTO_TAG_REPORT_FIELD, "Action: failed");
	parser_proto_append(out, PROTO_TAG_REPORT_FIELD, "Status: ");
	parser_proto_append(out, PROTO_TAG_RETURNED, "Message-ID: <x@y>");
	parser_proto_append(out, PROTO_TAG_END, "");
	return out;
}

static const struct inmail_address *
get_only(const GPtrArray *list)
{
	g_assert_cmpuint(list->len, ==, 1);
	return list->pdata[0];
}

TEST(all_records_are_decoded)
{
	g_autoptr(GString) out = make_whole();
	pb_auto(inmail) mail = parse(out->str, out->len);
	const struct auth_results *vouched;
	const struct auth_result *result;

	g_assert_true(mail->is_filtered);
	g_assert_cmpstr(get_only(mail->from)->address, ==, "eva@b.example");
	g_assert_cmpstr(get_only(mail->from)->name, ==, "Eva \xc3\xbc");
	g_assert_null(get_only(mail->sender)->name);
	g_assert_cmpstr(get_only(mail->reply_to)->address, ==, "r@b.example");
	g_assert_cmpstr(get_only(mail->to)->address, ==, "t@b.example");
	g_assert_cmpstr(get_only(mail->cc)->address, ==, "c@b.example");
	g_assert_cmpuint(mail->from_fields, ==, 1);
	g_assert_cmpuint(mail->received, ==, 2);
	g_assert_cmpstr(mail->subject, ==, "list");
	g_assert_cmpstr(mail->message_id, ==, "a@b");
	g_assert_cmpuint(mail->in_reply_to->len, ==, 1);
	g_assert_cmpuint(mail->references->len, ==, 2);
	g_assert_cmpstr(mail->references->pdata[1], ==, "c@d");
	g_assert_cmpint(mail->sent_at, ==, 1795165200);
	g_assert_cmpstr(mail->return_path, ==, "");
	g_assert_cmpstr(mail->delivered_to, ==, "d@b.example");
	g_assert_cmpstr(mail->original_to, ==, "o@b.example");
	g_assert_cmpstr(inmail_find_field(mail->marks, "precedence"), ==, "bulk");
	g_assert_cmpuint(mail->authentications->len, ==, 1);
	vouched = mail->authentications->pdata[0];
	g_assert_cmpstr(vouched->server, ==, "mx");
	g_assert_cmpuint(vouched->results->len, ==, 1);
	result = vouched->results->pdata[0];
	g_assert_cmpstr(result->method, ==, "dmarc");
	g_assert_cmpstr(result->result, ==, "pass");
	g_assert_cmpstr(result->properties, ==, "a=b c=d");
	g_assert_cmpint(mail->source, ==, INMAIL_SOURCE_HTML);
	g_assert_true(mail->is_cut);
	g_assert_cmpstr(mail->text, ==, "list\n\tx\n");
	g_assert_cmpstr(mail->body, ==, "list\n\tx\n> y\n");
	g_assert_cmpint(mail->report, ==, INMAIL_REPORT_DELIVERY);
	g_assert_cmpuint(mail->groups->len, ==, 2);
	g_assert_cmpstr(
	    inmail_find_field(mail->groups->pdata[1], "Action"), ==, "failed");
	g_assert_cmpstr(inmail_find_field(mail->groups->pdata[1], "STATUS"), ==, "");
	g_assert_null(inmail_find_field(mail->groups->pdata[0], "Action"));
	g_assert_cmpstr(inmail_find_field(mail->returned, "message-id"), ==, "<x@y>");
}

TEST(truncated_output_is_rejected)
{
	g_autoptr(GString) out = make_whole();

	for (size_t size = 0; size < out->len; size++)
		refuse(out->str, size, NULL);
}

TEST(no_records_are_an_empty_message)
{
	pb_auto(inmail) mail = parse(FIRST END, strlen(FIRST END));

	g_assert_cmpstr(mail->text, ==, "");
	g_assert_cmpstr(mail->subject, ==, "");
	g_assert_null(mail->message_id);
	g_assert_null(mail->return_path);
	g_assert_cmpint(mail->sent_at, ==, -1);
	g_assert_cmpint(mail->report, ==, INMAIL_REPORT_NONE);
	g_assert_false(mail->is_filtered);
}

TEST(a_refusal_is_reported)
{
	static const char data[] = FIRST "refused 3\nwhy\n" END;
	struct inmail *mail = (struct inmail *)1;
	g_autofree char *refusal = NULL;

	g_assert_true(parser_decode(data, strlen(data), &mail, &refusal, NULL));
	g_assert_null(mail);
	g_assert_cmpstr(refusal, ==, "why");
}

static const struct {
	enum proto_tag tag;
	size_t bytes;
} lengths[] = {
    {PROTO_TAG_SUBJECT, BOUNDS_MAIL_VALUE_BYTES},
    {PROTO_TAG_MESSAGE_ID, BOUNDS_MESSAGE_ID_BYTES},
    {PROTO_TAG_TEXT, BOUNDS_MAIL_TEXT_BYTES},
    {PROTO_TAG_BODY, BOUNDS_MAIL_BODY_BYTES},
    {PROTO_TAG_AUTHENTICATION, BOUNDS_MAIL_VALUE_BYTES},
};

static GString *
make_long(enum proto_tag tag, size_t bytes)
{
	g_autofree char *data = g_strnfill(bytes, 'x');
	GString *out = g_string_new(NULL);

	parser_proto_begin(out);
	parser_proto_append(out, tag, data);
	parser_proto_append(out, PROTO_TAG_END, "");
	return out;
}

TEST(lengths_are_bounded)
{
	for (size_t i = 0; i < G_N_ELEMENTS(lengths); i++) {
		g_autoptr(GString) at = make_long(lengths[i].tag, lengths[i].bytes);
		g_autoptr(GString) beyond =
		    make_long(lengths[i].tag, lengths[i].bytes + 1);
		pb_auto(inmail) mail = parse(at->str, at->len);

		g_assert_nonnull(mail);
		refuse(beyond->str, beyond->len, "too long");
	}
}

static const struct {
	enum proto_tag tag;
	const char *data;
	unsigned count;
} counts[] = {
    {PROTO_TAG_TO, "a@b.example ", BOUNDS_MAIL_ADDRESSES},
    {PROTO_TAG_REFERENCE, "a@b", BOUNDS_MAIL_IDS},
    {PROTO_TAG_MARK, "a: b", BOUNDS_MAIL_MARKS},
    {PROTO_TAG_AUTHENTICATION, "a", BOUNDS_MAIL_FIELDS},
    {PROTO_TAG_REPORT_GROUP, "", BOUNDS_REPORT_GROUPS},
    {PROTO_TAG_RETURNED, "a: b", BOUNDS_MAIL_FIELDS},
};

static GString *
make_many(enum proto_tag tag, const char *data, unsigned count)
{
	GString *out = g_string_new(NULL);

	parser_proto_begin(out);
	for (unsigned i = 0; i < count; i++)
		parser_proto_append(out, tag, data);
	parser_proto_append(out, PROTO_TAG_END, "");
	return out;
}

TEST(counts_are_bounded)
{
	for (size_t i = 0; i < G_N_ELEMENTS(counts); i++) {
		g_autoptr(GString) at =
		    make_many(counts[i].tag, counts[i].data, counts[i].count);
		g_autoptr(GString) beyond =
		    make_many(counts[i].tag, counts[i].data, counts[i].count + 1);
		pb_auto(inmail) mail = parse(at->str, at->len);

		g_assert_nonnull(mail);
		refuse(beyond->str, beyond->len, "too many records");
	}
}

TEST(the_whole_is_bounded)
{
	g_autofree char *data = g_malloc(BOUNDS_PARSER_OUTPUT_BYTES + 1);

	memset(data, 'x', BOUNDS_PARSER_OUTPUT_BYTES + 1);
	memcpy(data, FIRST, strlen(FIRST));
	refuse(data, BOUNDS_PARSER_OUTPUT_BYTES, "unknown tag");
	refuse(data, BOUNDS_PARSER_OUTPUT_BYTES + 1, "too much");
}

UNIT_MAIN
