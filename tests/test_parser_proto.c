/*
 * test_parser_proto.c - output of a hostile parser.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/unit.h"
#include "message/parser_proto.h"

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

/* A record; NULL ends a list of them. */
struct record {
	int tag;
	const char *data;
};

static GBytes *
serialize(const struct record *records)
{
	GVariantBuilder out;
	g_autoptr(GVariant) all = NULL;

	g_variant_builder_init(&out, G_VARIANT_TYPE(PROTO_TYPE));
	for (; records->data; records++)
		parser_proto_append(&out, (enum proto_tag)records->tag, records->data);
	all = g_variant_ref_sink(g_variant_builder_end(&out));
	return g_variant_get_data_as_bytes(all);
}

static void
refuse_bytes(GBytes *bytes, const char *words)
{
	refuse(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes), words);
}

static struct inmail *
parse_bytes(GBytes *bytes)
{
	return parse(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
}

static const struct {
	struct record records[3];
	const char *words;
} hostile[] = {
    {{{PROTO_TAGS, "hello"}}, "unknown tag"},
    {{{255, "hello"}}, "unknown tag"},
    {{{PROTO_TAG_SUBJECT, "hello"}, {PROTO_TAG_SUBJECT, "hello"}}, "too many records"},
    {{{PROTO_TAG_SUBJECT, "a\n"}}, "plain text"},
    {{{PROTO_TAG_SUBJECT, "\x1b"}}, "plain text"},
    {{{PROTO_TAG_SUBJECT, "\x7f"}}, "plain text"},
    {{{PROTO_TAG_SUBJECT, "\xc2\x85"}}, "plain text"},
    {{{PROTO_TAG_TEXT, "\r"}}, "plain text"},
    {{{PROTO_TAG_FROM, ""}}, "mailbox"},
    {{{PROTO_TAG_FROM, "a@b.example"}}, "mailbox"},
    {{{PROTO_TAG_FROM, "a "}}, "address"},
    {{{PROTO_TAG_FROM, "a@B.example "}}, "address"},
    {{{PROTO_TAG_FROM, "a%b@c.examp "}}, "address"},
    {{{PROTO_TAG_TO, "<@b.example "}}, "address"},
    {{{PROTO_TAG_RETURN_PATH, "x"}}, "address"},
    {{{PROTO_TAG_DELIVERED_TO, ""}}, "address"},
    {{{PROTO_TAG_DATE, "x"}}, "number"},
    {{{PROTO_TAG_DATE, "-1"}}, "number"},
    {{{PROTO_TAG_DATE, "253402300800"}}, "number"},
    {{{PROTO_TAG_RECEIVED, "9999999999"}}, "number"},
    {{{PROTO_TAG_RECEIVED, ""}}, "number"},
    {{{PROTO_TAG_MESSAGE_ID, ""}}, "message id"},
    {{{PROTO_TAG_MESSAGE_ID, "a b"}}, "message id"},
    {{{PROTO_TAG_MESSAGE_ID, "a>b"}}, "message id"},
    {{{PROTO_TAG_REFERENCE, "\xc3\xbc"}}, "message id"},
    {{{PROTO_TAG_MARK, "x"}}, "without a name"},
    {{{PROTO_TAG_MARK, ": x"}}, "without a name"},
    {{{PROTO_TAG_MARK, "a b: "}}, "invalid field name"},
    {{{PROTO_TAG_AUTH_SERVER, "a"}}, "without authentication"},
    {{{PROTO_TAG_AUTH_RESULT, "a b "}}, "without authentication"},
    {{{PROTO_TAG_AUTHENTICATION, "a"}, {PROTO_TAG_AUTH_RESULT, "a b"}},
        "invalid result"},
    {{{PROTO_TAG_AUTHENTICATION, "a"}, {PROTO_TAG_AUTH_RESULT, "  b"}},
        "invalid result"},
    {{{PROTO_TAG_TEXT_SOURCE, "plane"}}, "unknown word"},
    {{{PROTO_TAG_REPORT, "odd"}}, "unknown word"},
    {{{PROTO_TAG_REPORT_FIELD, "a: b"}}, "without a group"},
    {{{PROTO_TAG_FILTERED, "x"}}, "too long"},
    {{{PROTO_TAG_REFUSED, "x"}, {PROTO_TAG_SUBJECT, "x"}}, "a refusal and other"},
    {{{PROTO_TAG_SUBJECT, "x"}, {PROTO_TAG_REFUSED, "x"}}, "a refusal and other"},
};

TEST(hostile_records_are_rejected)
{
	for (size_t i = 0; i < G_N_ELEMENTS(hostile); i++) {
		g_autoptr(GBytes) all = serialize(hostile[i].records);

		refuse_bytes(all, hostile[i].words);
	}
}

/* Each is one record of the subject, "x", whose end is at byte 3; but for one defect.
 */
TEST(what_is_not_an_array_of_records_is_rejected)
{
	static const struct {
		const char *data;
		size_t size;
	} rows[] = {
	    {"", 0},
	    {"\x09", 1},
	    {"\x09x\0\2", 4},
	    {"\x09x\0\4", 4},
	    {"\x09x\0\0", 4},
	    {"\x09x\0\xff", 4},
	    {"\x09xy\3", 4},
	    {"\x09\0\0\3", 4},
	    {"\x09\xff\0\3", 4},
	    {"\x09\xed\xa0\x80\0\5", 6},
	    {"\x09x\0y\3", 5},
	    {"\x09x\0\x09x\0\6\3", 8},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		refuse(rows[i].data, rows[i].size, "no records");
}

/* All tags, in the order of the program. */
static GBytes *
make_whole(void)
{
	static const struct record records[] = {
	    {PROTO_TAG_FILTERED, ""},
	    {PROTO_TAG_FROM, "eva@b.example Eva \xc3\xbc"},
	    {PROTO_TAG_SENDER, "s@b.example "},
	    {PROTO_TAG_REPLY_TO, "r@b.example R"},
	    {PROTO_TAG_TO, "t@b.example "},
	    {PROTO_TAG_CC, "c@b.example "},
	    {PROTO_TAG_FROM_FIELDS, "1"},
	    {PROTO_TAG_RECEIVED, "2"},
	    {PROTO_TAG_SUBJECT, "list"},
	    {PROTO_TAG_MESSAGE_ID, "a@b"},
	    {PROTO_TAG_IN_REPLY_TO, "c@d"},
	    {PROTO_TAG_REFERENCE, "e@f"},
	    {PROTO_TAG_REFERENCE, "c@d"},
	    {PROTO_TAG_DATE, "1795165200"},
	    {PROTO_TAG_RETURN_PATH, ""},
	    {PROTO_TAG_DELIVERED_TO, "d@b.example"},
	    {PROTO_TAG_ORIGINAL_TO, "o@b.example"},
	    {PROTO_TAG_MARK, "Precedence: bulk"},
	    {PROTO_TAG_AUTHENTICATION, "mx; dmarc=pass a=b c=d"},
	    {PROTO_TAG_AUTH_SERVER, "mx"},
	    {PROTO_TAG_AUTH_RESULT, "dmarc pass a=b c=d"},
	    {PROTO_TAG_TEXT_SOURCE, "html"},
	    {PROTO_TAG_TEXT_CUT, ""},
	    {PROTO_TAG_TEXT, "list\n\tx\n"},
	    {PROTO_TAG_BODY, "list\n\tx\n> y\n"},
	    {PROTO_TAG_REPORT, "delivery"},
	    {PROTO_TAG_REPORT_GROUP, ""},
	    {PROTO_TAG_REPORT_FIELD, "Reporting-MTA: dns; a"},
	    {PROTO_TAG_REPORT_GROUP, ""},
	    {PROTO_TAG_REPORT_FIELD, "Action: failed"},
	    {PROTO_TAG_REPORT_FIELD, "Status: "},
	    {PROTO_TAG_RETURNED, "Message-ID: <x@y>"},
	    {0, NULL},
	};

	return serialize(records);
}

static const struct inmail_address *
get_only(const GPtrArray *list)
{
	g_assert_cmpuint(list->len, ==, 1);
	return list->pdata[0];
}

TEST(all_records_are_decoded)
{
	g_autoptr(GBytes) out = make_whole();
	pb_auto(inmail) mail = parse_bytes(out);
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

TEST(what_has_no_record_is_empty)
{
	static const struct record records[] = {{PROTO_TAG_SUBJECT, ""}, {0, NULL}};
	g_autoptr(GBytes) out = serialize(records);
	pb_auto(inmail) mail = parse_bytes(out);

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
	static const struct record records[] = {{PROTO_TAG_REFUSED, "why"}, {0, NULL}};
	g_autoptr(GBytes) out = serialize(records);
	struct inmail *mail = (struct inmail *)1;
	g_autofree char *refusal = NULL;

	g_assert_true(parser_decode(
	    g_bytes_get_data(out, NULL), g_bytes_get_size(out), &mail, &refusal, NULL));
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

static GBytes *
make_long(enum proto_tag tag, size_t bytes)
{
	g_autofree char *data = g_strnfill(bytes, 'x');

	return serialize((struct record[]){{(int)tag, data}, {0, NULL}});
}

TEST(lengths_are_bounded)
{
	for (size_t i = 0; i < G_N_ELEMENTS(lengths); i++) {
		g_autoptr(GBytes) at = make_long(lengths[i].tag, lengths[i].bytes);
		g_autoptr(GBytes) beyond =
		    make_long(lengths[i].tag, lengths[i].bytes + 1);
		pb_auto(inmail) mail = parse_bytes(at);

		g_assert_nonnull(mail);
		refuse_bytes(beyond, "too long");
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

static GBytes *
make_many(enum proto_tag tag, const char *data, unsigned count)
{
	g_autofree struct record *records = g_new0(struct record, count + 1);

	for (unsigned i = 0; i < count; i++)
		records[i] = (struct record){(int)tag, data};
	return serialize(records);
}

TEST(counts_are_bounded)
{
	for (size_t i = 0; i < G_N_ELEMENTS(counts); i++) {
		g_autoptr(GBytes) at =
		    make_many(counts[i].tag, counts[i].data, counts[i].count);
		g_autoptr(GBytes) beyond =
		    make_many(counts[i].tag, counts[i].data, counts[i].count + 1);
		pb_auto(inmail) mail = parse_bytes(at);

		g_assert_nonnull(mail);
		refuse_bytes(beyond, "too many records");
	}
}

TEST(the_whole_is_bounded)
{
	g_autofree char *data = g_malloc0(BOUNDS_PARSER_OUTPUT_BYTES + 1);

	refuse(data, BOUNDS_PARSER_OUTPUT_BYTES, "no records");
	refuse(data, BOUNDS_PARSER_OUTPUT_BYTES + 1, "too much");
}

UNIT_MAIN
