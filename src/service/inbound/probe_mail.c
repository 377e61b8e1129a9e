/*
 * probe_mail.c - evaluate a probe, a mail of ours to ourselves.
 */
#include "service/inbound/probe_mail.h"

#include <string.h>

#include "base/bounds.h"
#include "message/address.h"
#include "render/sender.h"

/* Maximum number of domains, and of results. */
#define LIST_MAX 5

/* Header fields that a signature has to cover (RFC 8058 section 4). */
static const char *const list_headers[] = {
    "list-id", "list-unsubscribe", "list-unsubscribe-post", "cfbl-address"};

/* Number of required ones; without the last, digests have no CFBL-Address. */
#define REQUIRED 3

static const char *const methods[] = {"dkim", "spf", "dmarc"};
static const char *const outcomes[] = {
    "pass", "fail", "softfail", "neutral", "none", "temperror", "permerror", "policy"};

void
probe_mail_clear(struct probe_mail *mail)
{
	g_clear_pointer(&mail->signers, g_ptr_array_unref);
	g_clear_pointer(&mail->missing, g_ptr_array_unref);
	g_clear_pointer(&mail->results, g_ptr_array_unref);
	g_clear_pointer(&mail->link, g_free);
}

static bool
is_among(const char *const *words, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (g_ascii_strcasecmp(words[i], word) == 0)
			return true;
	return false;
}

/* Find a tag of a signature (RFC 6376 section 3.2). @return a new string, or NULL */
static char *
find_tag(const char *signature, const char *name)
{
	g_auto(GStrv) tags = g_strsplit(signature, ";", 100);

	for (size_t i = 0; tags[i]; i++) {
		char *value = strchr(tags[i], '=');

		if (!value)
			continue;
		*value++ = '\0';
		if (strcmp(g_strstrip(tags[i]), name) == 0)
			return g_strdup(g_strstrip(value));
	}
	return NULL;
}

static void
mark_covered(const char *signature, bool *is_covered)
{
	g_autofree char *value = find_tag(signature, "h");
	g_auto(GStrv) names = value ? g_strsplit(value, ":", 200) : NULL;

	for (size_t i = 0; names && names[i]; i++) {
		const char *name = g_strstrip(names[i]);

		for (size_t k = 0; k < G_N_ELEMENTS(list_headers); k++)
			if (g_ascii_strcasecmp(name, list_headers[k]) == 0)
				is_covered[k] = true;
	}
}

static void
append(GString *out, const char *word, unsigned *count)
{
	g_string_append_printf(out, "%s%s", (*count)++ ? "," : "", word);
}

static void
append_signatures(GString *out, const struct inmail *mail)
{
	bool is_covered[G_N_ELEMENTS(list_headers)] = {false};
	unsigned count = 0;

	g_string_append(out, " signed=");
	for (unsigned i = 0; i < mail->marks->len; i++) {
		const struct inmail_field *mark = mail->marks->pdata[i];
		g_autofree char *value = NULL;
		g_autofree char *domain = NULL;

		if (g_ascii_strcasecmp(mark->name, "DKIM-Signature") != 0)
			continue;
		value = find_tag(mark->value, "d");
		domain = value ? address_parse_domain(value, NULL) : NULL;
		if (!domain || count >= LIST_MAX)
			continue;
		append(out, domain, &count);
		mark_covered(mark->value, is_covered);
	}
	count = 0;
	g_string_append(out, " covers=");
	for (size_t i = 0; i < G_N_ELEMENTS(list_headers); i++)
		if (is_covered[i])
			append(out, list_headers[i], &count);
}

static void
append_results(GString *out, const struct inmail *mail, const char *authserv_id)
{
	const struct auth_results *top =
	    mail->authentications->len ? mail->authentications->pdata[0] : NULL;
	unsigned count = 0;

	g_string_append(out, " results=");
	if (!top || (*authserv_id && g_ascii_strcasecmp(top->server, authserv_id) != 0))
		return;
	for (unsigned i = 0; i < top->results->len && count < LIST_MAX; i++) {
		const struct auth_result *result = top->results->pdata[i];
		g_autofree char *word =
		    g_strdup_printf("%s:%s", result->method, result->result);

		if (is_among(methods, G_N_ELEMENTS(methods), result->method) &&
		    is_among(outcomes, G_N_ELEMENTS(outcomes), result->result))
			append(out, word, &count);
	}
}

/* ---- the unsubscribe link ---- */

/* Words of the line, but for PROBE_LINK_ONE, which has the link. */
static const char *const link_words[] = {
    [PROBE_LINK_ONE] = "",
    [PROBE_LINK_NONE] = "none",
    [PROBE_LINK_SEVERAL] = "several",
    [PROBE_LINK_BROKEN] = "broken",
};

struct found_links {
	unsigned count;
	bool is_broken;
	char *first; /* or NULL */
};

static bool
is_printable(const char *text)
{
	for (const char *at = text; *at; at++)
		if (!g_ascii_isgraph(*at))
			return false;
	return true;
}

/* Find the https links in a value of List-Unsubscribe (RFC 2369 section 2). */
static void
find_links(const char *value, struct found_links *found)
{
	for (const char *at = strchr(value, '<'); at; at = strchr(at, '<')) {
		const char *end = strchr(++at, '>');
		g_autofree char *link = end ? g_strndup(at, (gsize)(end - at)) : NULL;
		bool is_https =
		    link && !g_ascii_strncasecmp(link, "https:", strlen("https:"));

		if (!link || !is_printable(link) ||
		    (is_https && strlen(link) > BOUNDS_WEB_LINK_BYTES)) {
			found->is_broken = true;
			return;
		}
		at = end;
		if (!is_https)
			continue;
		if (!found->count++)
			found->first = g_steal_pointer(&link);
	}
}

/* @param link  set for PROBE_LINK_ONE, owned by the caller; else NULL */
static enum probe_link
classify_link(const struct inmail *mail, char **link)
{
	struct found_links found = {0};
	g_autofree char *first = NULL;
	bool is_announced = false;

	for (unsigned i = 0; i < mail->marks->len; i++) {
		const struct inmail_field *mark = mail->marks->pdata[i];

		if (g_ascii_strcasecmp(mark->name, list_headers[1]) == 0)
			find_links(mark->value, &found);
		if (g_ascii_strcasecmp(mark->name, list_headers[2]) == 0)
			is_announced = strcmp(mark->value, SENDER_ONE_CLICK) == 0;
	}
	first = found.first;
	*link = NULL;
	if (found.is_broken)
		return PROBE_LINK_BROKEN;
	if (found.count > 1)
		return PROBE_LINK_SEVERAL;
	if (!found.count || !is_announced)
		return PROBE_LINK_NONE;
	*link = g_steal_pointer(&first);
	return PROBE_LINK_ONE;
}

static void
append_link(GString *out, const struct inmail *mail)
{
	g_autofree char *link = NULL;
	enum probe_link state = classify_link(mail, &link);

	g_string_append_printf(out, " link=%s", link ? link : link_words[state]);
}

/* @param word  after "link=" */
static void
parse_link(const char *word, struct probe_mail *mail)
{
	mail->link_state = PROBE_LINK_ONE;
	for (size_t i = PROBE_LINK_NONE; i < G_N_ELEMENTS(link_words); i++)
		if (strcmp(word, link_words[i]) == 0)
			mail->link_state = (enum probe_link)i;
	mail->link = g_strdup(mail->link_state == PROBE_LINK_ONE ? word : "");
}

/* As service/health/self_mail.c makes it. */
static bool
has_own_id(const struct inmail *mail, const char *token)
{
	g_autofree char *start = g_strdup_printf("check.%s@", token);

	return mail->message_id && g_str_has_prefix(mail->message_id, start);
}

char *
probe_mail_format(const struct inmail *mail, const char *token, const char *authserv_id)
{
	GString *out = g_string_new(PROBE_MAIL_WORD);

	/* Our tokens are alphanumeric. */
	for (const char *at = token; *at; at++)
		g_string_append_c(out, g_ascii_isalnum(*at) ? *at : '?');
	append_signatures(out, mail);
	append_results(out, mail, authserv_id);
	append_link(out, mail);
	g_string_append(out, has_own_id(mail, token) ? " id=own" : " id=other");
	return g_string_free(out, FALSE);
}

/* @return of char *, without empty ones */
static GPtrArray *
split(const char *text)
{
	GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
	g_auto(GStrv) parts = g_strsplit(text, ",", -1);

	for (size_t i = 0; parts[i]; i++)
		if (*parts[i])
			g_ptr_array_add(words, g_strdup(parts[i]));
	return words;
}

bool
probe_mail_parse(const char *line, const char *token, struct probe_mail *mail)
{
	static const char *const names[] = {
	    "signed=", "covers=", "results=", "link=", "id="};
	GPtrArray *lists[3];
	g_auto(GStrv) words = g_strsplit(line, " ", -1);

	if (g_strv_length(words) != 2 + G_N_ELEMENTS(names) ||
	    strcmp(words[0], "check") != 0 || strcmp(words[1], token) != 0)
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (!g_str_has_prefix(words[2 + i], names[i]))
			return false;
	parse_link(words[5] + strlen(names[3]), mail);
	mail->has_own_id = strcmp(words[6], "id=own") == 0;
	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
		lists[i] = split(words[2 + i] + strlen(names[i]));
	mail->signers = lists[0];
	mail->results = lists[2];
	mail->missing = g_ptr_array_new_with_free_func(g_free);
	mail->has_feedback = g_ptr_array_find_with_equal_func(
	    lists[1], list_headers[REQUIRED], g_str_equal, NULL);
	for (size_t i = 0; i < REQUIRED; i++)
		if (!g_ptr_array_find_with_equal_func(
		        lists[1], list_headers[i], g_str_equal, NULL))
			g_ptr_array_add(mail->missing, g_strdup(list_headers[i]));
	g_ptr_array_unref(lists[1]);
	return true;
}
