/*
 * subaddress.c - subaddresses of our address (RFC 5233) and their purposes.
 */
#include "message/subaddress.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/token.h"

/* For each kind: text after the delimiter, and maximum length of a token. */
static const struct {
	const char *word;
	size_t token_bytes; /* 0: no token */
	bool is_in_subject; /* there are tags with it */
} kinds[] = {
    [SUBADDRESS_COMMANDS] = {"", 0},
    [SUBADDRESS_SUBSCRIBE] = {"subscribe", 0},
    [SUBADDRESS_UNSUBSCRIBE] = {"unsubscribe", 0},
    [SUBADDRESS_HELP] = {"help", 0},
    [SUBADDRESS_OWNER] = {"owner", 0},
    [SUBADDRESS_FEEDBACK] = {"fbl", 0},
    [SUBADDRESS_CONFIRM] = {"c-", TOKEN_RANDOM_LENGTH, true},
    [SUBADDRESS_REPLY] = {"r-", TOKEN_SIGNED_BYTES_MAX},
    [SUBADDRESS_LEAVE] = {"u-", TOKEN_SIGNED_BYTES_MAX, true},
    [SUBADDRESS_PAUSE] = {"p-", TOKEN_SIGNED_BYTES_MAX, true},
    [SUBADDRESS_WEEKLY] = {"w-", TOKEN_SIGNED_BYTES_MAX, true},
    [SUBADDRESS_FEWER] = {"f-", TOKEN_SIGNED_BYTES_MAX, true},
    [SUBADDRESS_BOUNCE] = {"b-", TOKEN_SIGNED_BYTES_MAX},
    [SUBADDRESS_CHECK] = {"check-", TOKEN_RANDOM_LENGTH, true},
};

/* Delimiter, "r-", and the longest token. */
#define SUBADDRESS_BYTES (3 + TOKEN_SIGNED_BYTES_MAX)

bool
subaddress_base_parse(const char *address, const char *delimiter,
    struct subaddress_base *base, GError **error)
{
	struct address parsed = {0};
	size_t room = *delimiter ? SUBADDRESS_BYTES : 0;

	if (strlen(delimiter) > 1 || !strchr("+-=_.", delimiter[0])) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "invalid delimiter (expected one of + - = _ . or nothing)");
		return false;
	}
	if (!address_parse(address, &parsed, error))
		return false;
	if (parsed.local[0] == '"' || !g_str_is_ascii(parsed.text) ||
	    strlen(parsed.local) > BOUNDS_LOCAL_PART_BYTES - room ||
	    strlen(parsed.text) > BOUNDS_ADDRESS_BYTES - room) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "'%s' is too long for a subaddress with a token: at most %d bytes "
		    "before the @, ASCII and unquoted",
		    parsed.text, BOUNDS_LOCAL_PART_BYTES - (int)room);
		address_clear(&parsed);
		return false;
	}
	base->address = parsed;
	base->delimiter = delimiter[0];
	return true;
}

void
subaddress_base_clear(struct subaddress_base *base)
{
	address_clear(&base->address);
}

static enum subaddress_kind
find_kind(const char *detail, char **token)
{
	for (unsigned i = SUBADDRESS_SUBSCRIBE; i < G_N_ELEMENTS(kinds); i++) {
		size_t size = strlen(kinds[i].word);
		const char *rest = detail + size;

		if (!g_str_has_prefix(detail, kinds[i].word))
			continue;
		if (kinds[i].token_bytes ? *rest && strlen(rest) <= kinds[i].token_bytes
		                         : !*rest) {
			*token = g_strdup(rest);
			return (enum subaddress_kind)i;
		}
	}
	*token = g_strdup("");
	return SUBADDRESS_UNKNOWN;
}

bool
subaddress_parse(const struct subaddress_base *base, const char *text,
    enum subaddress_kind *kind, char **token)
{
	size_t size = strlen(base->address.local);
	g_autofree char *local = NULL;
	struct address address = {0};
	bool is_ours;

	if (!address_parse(text, &address, NULL))
		return false;
	is_ours = strcmp(address.domain, base->address.domain) == 0 &&
	          g_ascii_strncasecmp(address.local, base->address.local, size) == 0 &&
	          (!address.local[size] || address.local[size] == base->delimiter);
	local = g_ascii_strdown(address.local, -1);
	address_clear(&address);
	if (!is_ours)
		return false;
	if (local[size]) {
		*kind = find_kind(local + size + 1, token);
		return true;
	}
	*kind = SUBADDRESS_COMMANDS;
	*token = g_strdup("");
	return true;
}

char *
subaddress_format(
    const struct subaddress_base *base, enum subaddress_kind kind, const char *token)
{
	g_assert(kind < SUBADDRESS_UNKNOWN);
	g_assert(!token == !kinds[kind].token_bytes);
	if (kind == SUBADDRESS_COMMANDS || !base->delimiter)
		return g_strdup(base->address.text);
	return g_strdup_printf("%s%c%s%s@%s", base->address.local, base->delimiter,
	    kinds[kind].word, token ? token : "", base->address.domain);
}

char *
subaddress_format_tag(enum subaddress_kind kind, const char *token)
{
	return token ? g_strdup_printf("[%s%s]", kinds[kind].word, token)
	             : g_strdup(kinds[kind].word);
}

/* Other programs tag subjects, too: "[c-users]". */
static bool
is_token(const char *text)
{
	return strlen(text) > TOKEN_LENGTH &&
	       !text[strspn(text, "abcdefghijklmnopqrstuvwxyz234567")];
}

/* @param tag  between the brackets, in lower case */
static bool
parse_tag(const char *tag, enum subaddress_kind *kind, char **token)
{
	g_autofree char *found = NULL;
	enum subaddress_kind maybe = find_kind(tag, &found);

	if (maybe == SUBADDRESS_UNKNOWN || !kinds[maybe].is_in_subject ||
	    !is_token(found))
		return false;
	*kind = maybe;
	*token = g_steal_pointer(&found);
	return true;
}

char *
subaddress_take_tag(const char *subject, enum subaddress_kind *kind, char **token)
{
	const char *at = subject, *end;

	while ((at = strchr(at, '[')) && (end = strchr(at, ']'))) {
		g_autofree char *tag = g_ascii_strdown(at + 1, end - at - 1);

		if (parse_tag(tag, kind, token)) {
			g_autofree char *before =
			    g_strndup(subject, (gsize)(at - subject));
			g_autofree char *rest = g_strdup(end + 1);

			g_strchomp(before);
			g_strchug(rest);
			return g_strjoin(
			    *before && *rest ? " " : "", before, rest, NULL);
		}
		at++;
	}
	return NULL;
}

char *
subaddress_format_mailto(
    const struct subaddress_base *base, enum subaddress_kind kind, const char *token)
{
	g_autofree char *text = subaddress_format(base, kind, token);
	g_autofree char *tag =
	    base->delimiter ? NULL : subaddress_format_tag(kind, token);
	struct address address = {0};
	g_autofree char *link = NULL;

	/* subaddress_base_parse() has reserved room for the longest token. */
	if (!address_parse(text, &address, NULL))
		g_assert_not_reached();
	link = address_format_mailto(&address, tag);
	address_clear(&address);
	return g_steal_pointer(&link);
}

static char *
format_either(const struct subaddress_base *base, enum subaddress_kind kind,
    bool is_link, const char *token)
{
	if (is_link)
		return subaddress_format_mailto(base, kind, token);
	return base->delimiter ? subaddress_format(base, kind, token)
	                       : subaddress_format_tag(kind, token);
}

/* The token is where two of them differ. */
void
subaddress_template_init(struct subaddress_template *template,
    const struct subaddress_base *base, enum subaddress_kind kind, bool is_link)
{
	g_autofree char *one = format_either(base, kind, is_link, "a");
	g_autofree char *other = format_either(base, kind, is_link, "b");
	size_t at = 0;

	while (one[at] == other[at])
		at++;
	template->before = g_strndup(one, at);
	template->behind = g_strdup(one + at + 1);
}

void
subaddress_template_clear(struct subaddress_template *template)
{
	g_clear_pointer(&template->before, g_free);
	g_clear_pointer(&template->behind, g_free);
}

char *
subaddress_template_expand(
    const struct subaddress_template *template, const char *token)
{
	return g_strconcat(template->before, token, template->behind, NULL);
}
