/*
 * check_mail.c - evaluate a mail of paperboyctl check to ourselves.
 */
#include "service/inbound/check_mail.h"

#include <string.h>

#include "base/bounds.h"
#include "message/address.h"
#include "render/sender.h"

/* Maximum number of domains, and of results. */
#define LIST_MAX 5

/* Header fields that a signature has to cover (RFC 8058 section 4). */
static const char *const list_headers[] = {
    "list-id", "list-unsubscribe", "list-unsubscribe-post", NULL};

static const char *const methods[] = {"dkim", "spf", "dmarc", NULL};
static const char *const outcomes[] = {"pass", "fail", "softfail", "neutral", "none",
    "temperror", "permerror", "policy", NULL};

void
check_mail_clear(struct check_mail *mail)
{
	g_clear_pointer(&mail->signers, g_free);
	g_clear_pointer(&mail->missing, g_free);
	g_clear_pointer(&mail->results, g_free);
	g_clear_pointer(&mail->link, g_free);
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

/* Add the header fields that a signature covers, in lower case, each between colons. */
static void
add_covered(const char *signature, GString *covered)
{
	g_autofree char *value = find_tag(signature, "h");
	g_autofree char *lower = value ? g_ascii_strdown(value, -1) : NULL;
	g_auto(GStrv) names = lower ? g_strsplit(lower, ":", 200) : NULL;

	for (size_t i = 0; names && names[i]; i++)
		g_string_append_printf(covered, ":%s:", g_strstrip(names[i]));
}

static bool
is_covered(const GString *covered, const char *name)
{
	g_autofree char *word = g_strdup_printf(":%s:", name);

	return strstr(covered->str, word) != NULL;
}

static void
append(GString *out, const char *word, unsigned *count)
{
	g_string_append_printf(out, "%s%s", (*count)++ ? "," : "", word);
}

/* @param covered  add_covered() */
static void
append_signatures(GString *out, const struct inmail *mail, GString *covered)
{
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
		add_covered(mark->value, covered);
	}
	count = 0;
	g_string_append(out, " unsigned=");
	for (size_t i = 0; list_headers[i]; i++)
		if (!is_covered(covered, list_headers[i]))
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

		if (g_strv_contains(methods, result->method) &&
		    g_strv_contains(outcomes, result->result))
			append(out, word, &count);
	}
}

/* Find the https link of List-Unsubscribe (RFC 2369 section 2), which has to be the
 * only one and announced by List-Unsubscribe-Post (RFC 8058 section 3.1), without the
 * blank of a broken line.  @return a new string; "": there is none */
static char *
find_link(const struct inmail *mail)
{
	g_autoptr(GString) links = g_string_new(NULL);
	g_auto(GStrv) parts = NULL;
	bool is_announced = false;
	const char *end;

	for (unsigned i = 0; i < mail->marks->len; i++) {
		const struct inmail_field *mark = mail->marks->pdata[i];

		if (g_ascii_strcasecmp(mark->name, "List-Unsubscribe") == 0)
			g_string_append(links, mark->value);
		if (g_ascii_strcasecmp(mark->name, "List-Unsubscribe-Post") == 0)
			is_announced = strcmp(mark->value, SENDER_ONE_CLICK) == 0;
	}
	g_string_replace(links, "<HTTPS:", "<https:", 0);
	parts = g_strsplit(links->str, "<https:", 3);
	if (!is_announced || g_strv_length(parts) != 2)
		return g_strdup("");
	end = parts[1] + strcspn(parts[1], "> \t");
	if (*end != '>' || end - parts[1] > BOUNDS_WEB_LINK_BYTES)
		return g_strdup("");
	return g_strdup_printf("https:%.*s", (int)(end - parts[1]), parts[1]);
}

/* As service/health/self_test.c makes it. */
static bool
has_own_id(const struct inmail *mail, const char *token)
{
	g_autofree char *start = g_strdup_printf("check.%s@", token);

	return mail->message_id && g_str_has_prefix(mail->message_id, start);
}

char *
check_mail_format(const struct inmail *mail, const char *token, const char *authserv_id)
{
	GString *out = g_string_new(CHECK_MAIL_WORD);
	g_autoptr(GString) covered = g_string_new(NULL);
	g_autofree char *link = find_link(mail);

	/* Our tokens are alphanumeric. */
	for (const char *at = token; *at; at++)
		g_string_append_c(out, g_ascii_isalnum(*at) ? *at : '?');
	append_signatures(out, mail, covered);
	append_results(out, mail, authserv_id);
	g_string_append_printf(out, " cfbl=%s id=%s link=%s",
	    is_covered(covered, "cfbl-address") ? "yes" : "no",
	    has_own_id(mail, token) ? "own" : "other", link);
	return g_string_free(out, FALSE);
}

/* @param word  "name=a,b" @return a new string, "a, b" */
static char *
parse_list(const char *word)
{
	GString *list = g_string_new(strchr(word, '=') + 1);

	g_string_replace(list, ",", ", ", 0);
	return g_string_free(list, FALSE);
}

bool
check_mail_parse(const char *line, const char *token, struct check_mail *mail)
{
	static const char *const names[] = {
	    "signed=", "unsigned=", "results=", "cfbl=", "id=", "link="};
	g_auto(GStrv) words = g_strsplit(line, " ", -1);

	if (g_strv_length(words) != 2 + G_N_ELEMENTS(names) ||
	    strcmp(words[0], "check") != 0 || strcmp(words[1], token) != 0)
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (!g_str_has_prefix(words[2 + i], names[i]))
			return false;
	*mail = (struct check_mail){
	    .signers = parse_list(words[2]),
	    .missing = parse_list(words[3]),
	    .results = parse_list(words[4]),
	    .has_feedback = strcmp(words[5], "cfbl=yes") == 0,
	    .has_own_id = strcmp(words[6], "id=own") == 0,
	    .link = g_strdup(words[7] + strlen("link=")),
	};
	return true;
}
