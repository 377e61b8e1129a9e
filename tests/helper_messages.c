/*
 * helper_messages.c - write sample messages into a directory, for test_mime.py.
 *
 * NAME.eml is a message, NAME.subject its subject, NAME.html and NAME.txt are previews
 * of the parts.
 */
#include <glib.h>
#include <stdio.h>

#include "lib/errors.h"
#include "lib/render_sample.h"
#include "message/compose.h"
#include "message/encoding.h"

static void
write_file(const char *dir, const char *name, const char *suffix, const char *data,
    gssize size)
{
	g_autofree char *file = g_strconcat(name, suffix, NULL);
	g_autofree char *path = g_build_filename(dir, file, NULL);
	g_autoptr(GError) error = NULL;

	if (!g_file_set_contents(path, data, size, &error))
		g_error("%s", error->message);
}

static void
write_digest(const char *dir, const char *name, struct digest *digest)
{
	pb_auto(renderer) renderer = render_sample_new_renderer();
	g_autoptr(GBytes) message =
	    NO_ERROR(renderer_compose(renderer, digest, &error));
	g_autofree char *text = renderer_format_text(renderer, digest, NULL);
	g_autofree char *html = renderer_format_html(renderer, digest, NULL);
	size_t size;
	const char *data;

	data = g_bytes_get_data(message, &size);
	write_file(dir, name, ".eml", data, (gssize)size);
	write_file(dir, name, ".txt", text, -1);
	write_file(dir, name, ".html", html, -1);
	digest_free(digest);
}

static void
write_subject(const char *dir, const char *name, const char *subject)
{
	static const struct compose_span run = {"text\r\n", 6};
	struct compose_headers fields = {
	    .date = 1795242600,
	    .from = {"Zoë \"the\" Sender, Dr.", "sender@bücher.example"},
	    .to = {"王小明", "reader@example.org"},
	    .subject = subject,
	    .message_id = "x@example.org",
	    .boundary = "=_x",
	    .text = {&run, 1, ENCODING_QUOTED_PRINTABLE},
	};
	g_autoptr(GBytes) message = NO_ERROR(compose_message(&fields, &error));
	size_t size;
	const char *data;

	data = g_bytes_get_data(message, &size);
	write_file(dir, name, ".eml", data, (gssize)size);
	write_file(dir, name, ".subject", subject, -1);
}

static void
write_repeated(const char *dir, const char *name, const char *text, unsigned times)
{
	g_autoptr(GString) subject = g_string_new(NULL);

	for (unsigned i = 0; i < times; i++)
		g_string_append(subject, text);
	write_subject(dir, name, subject->str);
}

int
main(int argc, char **argv)
{
	const char *dir = argc == 2 ? argv[1] : NULL;
	struct digest *digest;

	if (!dir) {
		fputs("usage: helper_messages FOLDER\n", stderr);
		return 2;
	}
	write_digest(dir, "digest", render_sample_new_full_digest());
	write_digest(dir, "hostile", render_sample_new_hostile_digest());
	digest = render_sample_new_digest();
	for (unsigned i = 0; i < 500; i++) {
		g_autofree char *id = g_strdup_printf("2611.1%04u", i);
		g_autofree char *title = g_strdup_printf("论文 number %u", i);
		struct digest_entry *entry =
		    render_sample_add(digest, id, title, DIGEST_DETAIL_FULL);

		g_free(entry->paper->abstract);
		entry->paper->abstract = g_strnfill(i * 10, 'a');
	}
	write_digest(dir, "large", digest);

	write_subject(dir, "plain", "3 papers for Sat 21 Nov 2026: On Diffusion");
	write_subject(dir, "empty", "");
	write_subject(dir, "latin", "Schrödinger's naïve café: 100 % = ? _ ok");
	write_subject(dir, "looks-encoded", "an =?UTF-8?Q?encoded?= word");
	write_repeated(dir, "chinese", "长标题", 133);
	write_repeated(dir, "emoji", "👩‍🔬🧪", 40);
	write_repeated(dir, "words", "word", 1);
	write_repeated(dir, "one-long-word", "x", 2000);
	write_repeated(dir, "many-words", "sentence", 1);
	write_repeated(dir, "mixed", "a ü 中 ", 1);
	return 0;
}
