/*
 * fuzz_compose.c - compose a digest from any texts.
 *
 * Texts of papers, subscribers and filters cannot add a header, a line or a part, and
 * no data of an earlier message appears.
 */
#include <string.h>

#include "../tests/lib/render_sample.h"
#include "base/bounds.h"
#include "fuzz.h"

#define ENTRIES_MAX  12
#define REPEATS_MAX  60
/* Few inputs are large, because they are slow. */
#define REPEATS_FROM 224

/* Empty texts are absent. */
static char *
take_optional(struct fuzz_input *input)
{
	char *text = fuzz_take_text(input);

	if (!*text)
		g_clear_pointer(&text, g_free);
	return text;
}

static void
add_entry(struct digest *digest, struct fuzz_input *input)
{
	unsigned choice = fuzz_take_byte(input);
	g_autofree char *title = fuzz_take_text(input);
	g_autofree char *filter = fuzz_take_text(input);
	g_autofree char *words = fuzz_take_text(input);
	struct digest_entry *entry = render_sample_add(
	    digest, "2611.00001", *title ? title : "Title", choice % 3);
	struct paper *paper = entry->paper;

	g_free(paper->abstract);
	paper->abstract = fuzz_take_text(input);
	g_free(paper->url);
	paper->url = fuzz_take_text(input);
	paper->code_url = take_optional(input);
	paper->project_url = take_optional(input);
	paper->video_url = take_optional(input);
	paper->summary = take_optional(input);
	entry->venue = take_optional(input);
	g_ptr_array_set_size(paper->authors, 0);
	for (unsigned i = 0; i < (choice >> 2) % 8; i++)
		g_ptr_array_add(paper->authors, fuzz_take_text(input));
	entry->upvotes = (int64_t)(choice >> 5) - 1;
	entry->upvotes_before = (int64_t)(choice & 7) - 1;
	entry->stars = (int64_t)(choice & 15) - 1;
	g_ptr_array_add(entry->reasons, digest_reason_new(filter, hits_parse(words)));
}

static struct digest *
make_digest(struct fuzz_input *input)
{
	struct digest *digest = render_sample_new_digest();
	g_autofree char *filters = NULL;
	unsigned choice = fuzz_take_byte(input), style = fuzz_take_byte(input);
	unsigned repeats = choice < REPEATS_FROM ? 1 : 1 + choice % REPEATS_MAX;

	g_free(digest->recipient_name);
	digest->recipient_name = take_optional(input);
	filters = take_optional(input);
	render_sample_set_filters(digest, filters);
	digest->notices = take_optional(input);
	digest->style.abstract = (enum preference_abstract)(style % 4);
	digest->style.group = (enum preference_group)(style >> 2 & 1);
	digest->style.feedback = (enum preference_feedback)(style >> 4 & 1);
	g_strlcpy(digest->style.language, style >> 3 & 1 ? "de" : "", 3);
	for (unsigned i = 0; i < ENTRIES_MAX && (i == 0 || input->left > 0); i++)
		add_entry(digest, input);
	/* Repeat the last one, so that the message exceeds the limit. */
	for (unsigned i = 1; i < repeats; i++) {
		const struct digest_entry *last =
		    digest->entries->pdata[digest->entries->len - 1];
		struct digest_entry *entry = render_sample_add(
		    digest, "2611.00002", last->paper->title, last->shown);

		g_free(entry->paper->abstract);
		entry->paper->abstract = g_strdup(last->paper->abstract);
	}
	return digest;
}

/* Only our field names, each once, in this order. */
static void
check_head(const char *head, size_t size)
{
	static const char *const fields[] = {"Date", "From", "To", "Subject",
	    "Message-ID", "MIME-Version", "List-Id", "List-Owner", "List-Post",
	    "Auto-Submitted", "Precedence", "X-Auto-Response-Suppress",
	    "List-Unsubscribe", "Content-Type"};
	const char *end = head + size;
	size_t count = 0;

	for (const char *line = head; line < end; line = strstr(line, "\r\n") + 2) {
		size_t length = strcspn(line, ":\r");

		if (line[0] == ' ' || line[0] == '\t')
			continue;
		g_assert(count < G_N_ELEMENTS(fields));
		g_assert(line[length] == ':' && length == strlen(fields[count]));
		g_assert(strncmp(line, fields[count], length) == 0);
		count++;
	}
	g_assert(count == G_N_ELEMENTS(fields));
}

static void
check_message(GBytes *message)
{
	gsize size;
	const char *data = g_bytes_get_data(message, &size);
	const char *body = g_strstr_len(data, (gssize)size, "\r\n\r\n") + 2;
	const char *rest = body;
	size_t seams = 0;

	fuzz_check_wire(data, (size_t)(body - data), BOUNDS_LINE_BYTES, true);
	fuzz_check_wire(
	    body, size - (size_t)(body - data), BOUNDS_LINE_SOFT_BYTES, true);
	check_head(data, (size_t)(body - data));
	while ((rest = g_strstr_len(rest, data + size - rest, "\r\n--=_"))) {
		seams++;
		rest++;
	}
	g_assert(seams == 3);
}

static bool
begins_with_one_of(const char *text, const char *const *starts)
{
	for (; *starts; starts++)
		if (g_str_has_prefix(text, *starts))
			return true;
	return false;
}

/* Only elements of the templates, and links to expected targets. */
static void
check_html(const char *html)
{
	static const char *const elements[] = {"!DOCTYPE html>", "!--[if mso]>",
	    "![endif]-->", "table>", "table ", "tr>", "td>", "td ", "html ", "html>",
	    "head>", "meta ", "style>", "title>", "body>", "body ", "div>", "div ",
	    "h1>", "h1 ", "h2>", "h2 ", "h3>", "h3 ", "p>", "p ", "ol>", "ol ", "ul>",
	    "ul ", "li>", "li ", "a ", "a>", "b>", "b ", "i>", "i ", "span ", "span>",
	    NULL};
	static const char *const links[] = {"http://", "https://", "mailto:", NULL};

	g_assert(g_utf8_validate(html, -1, NULL));
	g_assert(strlen(html) <= BOUNDS_HTML_PART_BYTES);
	for (const char *p = html; (p = strchr(p, '<')); p++)
		g_assert(begins_with_one_of(p + 1 + (p[1] == '/'), elements));
	for (const char *p = html; (p = strstr(p, "href=\"")); p++)
		g_assert(begins_with_one_of(p + strlen("href=\""), links));
}

static GBytes *
compose(struct renderer *renderer, const struct digest *digest)
{
	g_autoptr(GError) error = NULL;
	GBytes *message = renderer_compose(renderer, digest, &error);

	if (!message)
		g_error("not composed: %s", error->message);
	return message;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Not freed: the cache must not leak data of other inputs. */
	static struct renderer *stored;
	struct fuzz_input input = {data, size};
	bool is_compared = fuzz_take_byte(&input) % 16 == 0;
	pb_auto(digest) digest = make_digest(&input);
	g_autoptr(GBytes) message = NULL;
	g_autofree char *html = NULL;

	if (!stored)
		stored = render_sample_new_renderer();
	message = compose(stored, digest);
	check_message(message);
	html = renderer_format_html(stored, digest, NULL);
	check_html(html);
	if (is_compared) {
		pb_auto(renderer) fresh = render_sample_new_renderer();
		g_autoptr(GBytes) again = compose(fresh, digest);

		g_assert(g_bytes_equal(message, again));
	}
	return 0;
}
