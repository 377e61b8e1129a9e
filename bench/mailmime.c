/*
 * mailmime.c - libetpan's mailmime composes the same digests.
 *
 * mailmime STORE TEMPLATES COUNT: both parts are given as finished texts (not timed);
 * headers, encoding and structure are timed.
 */
#include <glib.h>
#include <libetpan/libetpan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "stopwatch.h"

/* As many as compose.c has. */
#define DIGESTS 50

struct parts {
	const struct digest *digest;
	char *text;
	char *html;
};

static const char *const extra[][2] = {
    {"List-Id", "paperboy <digest.papers.example.org>"},
    {"List-Help", "<mailto:paperboy+help@papers.example.org>"},
    {"List-Subscribe", "<mailto:paperboy+subscribe@papers.example.org>"},
    {"List-Owner", "<mailto:paperboy+owner@papers.example.org>"},
    {"List-Post", "NO"},
    {"Auto-Submitted", "auto-generated"},
    {"Precedence", "bulk"},
    {"X-Auto-Response-Suppress", "OOF, AutoReply"},
    {"Reply-To", "paperboy+r-abcdefghijklmnopqabcd@papers.example.org"},
    {"List-Unsubscribe",
        "<mailto:paperboy+u-abcdefghijklmnopqabcd@papers.example.org>"},
};

static struct mailmime *
new_part(const char *type, const char *text)
{
	struct mailmime_content *content = mailmime_content_new_with_str(type);
	struct mailmime_fields *fields =
	    mailmime_fields_new_encoding(MAILMIME_MECHANISM_QUOTED_PRINTABLE);
	struct mailmime *part;

	clist_append(content->ct_parameters,
	    mailmime_param_new_with_data((char *)"charset", (char *)"utf-8"));
	part = mailmime_new_empty(content, fields);
	mailmime_set_body_text(part, (char *)text, strlen(text));
	return part;
}

static struct mailimf_fields *
new_fields(const struct digest *digest)
{
	struct mailimf_mailbox_list *from = mailimf_mailbox_list_new_empty();
	struct mailimf_address_list *to = mailimf_address_list_new_empty();
	struct mailimf_fields *fields;

	mailimf_mailbox_list_add_mb(
	    from, strdup("paperboy"), strdup("paperboy@papers.example.org"));
	mailimf_address_list_add_mb(to, NULL, strdup(digest->recipient));
	fields = mailimf_fields_new_with_data_all(mailimf_get_date(digest->created_at),
	    from, NULL, NULL, to, NULL, NULL,
	    strdup("digest.4711.abcdefghijklmnopqrstuvwxyz@papers.example.org"), NULL,
	    NULL, strdup("5 papers of Friday, 20 November"));
	for (unsigned i = 0; i < G_N_ELEMENTS(extra); i++)
		mailimf_fields_add(fields,
		    mailimf_field_new_custom(strdup(extra[i][0]), strdup(extra[i][1])));
	return fields;
}

static size_t
build(const struct parts *parts)
{
	struct mailmime *message = mailmime_new_message_data(NULL);
	struct mailmime *both = mailmime_multiple_new("multipart/alternative");
	MMAPString *out = mmap_string_new("");
	int column = 0;
	size_t bytes;

	mailmime_add_part(message, both);
	mailmime_add_part(both, new_part("text/plain", parts->text));
	mailmime_add_part(both, new_part("text/html", parts->html));
	mailmime_set_imf_fields(message, new_fields(parts->digest));
	g_assert_cmpint(
	    mailmime_write_mem(out, &column, message), ==, MAILIMF_NO_ERROR);
	bytes = out->len;
	mailmime_free(message);
	mmap_string_free(out);
	return bytes;
}

static void
parts_clear(void *data)
{
	struct parts *parts = data;

	g_free(parts->text);
	g_free(parts->html);
}

static GArray *
load_parts(const GPtrArray *digests, const char *template_dir)
{
	pb_auto(renderer) renderer = input_new_renderer(template_dir);
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct parts));

	g_array_set_clear_func(all, parts_clear);
	for (unsigned i = 0; i < digests->len; i++) {
		const struct digest *digest = digests->pdata[i];
		struct parts parts = {
		    .digest = digest,
		    .text = renderer_format_text(renderer, digest, NULL),
		    .html = renderer_format_html(renderer, digest, NULL),
		};

		g_array_append_val(all, parts);
	}
	return all;
}

int
main(int argc, char **argv)
{
	pb_auto(store) store = NULL;
	g_autoptr(GPtrArray) digests = NULL;
	g_autoptr(GArray) parts = NULL;
	struct stopwatch watch = {0};
	unsigned count;
	size_t bytes = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: mailmime STORE TEMPLATES COUNT\n");
		return 64;
	}
	store = input_open_store(argv[1]);
	digests = input_load_digests(store, DIGESTS);
	parts = load_parts(digests, argv[2]);
	count = (unsigned)strtoul(argv[3], NULL, 10);
	stopwatch_start(&watch);
	for (unsigned i = 0; i < count; i++)
		bytes += build(&g_array_index(parts, struct parts, i % parts->len));
	stopwatch_stop(&watch);
	stopwatch_print(&watch);
	printf(
	    "messages=%u bytes=%zu digests=%u\n", count, bytes / count, digests->len);
	return 0;
}
