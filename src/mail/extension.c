/*
 * extension.c - the addresses of ours that say what a letter is for.
 */
#include "mail/extension.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/token.h"

/* Of each kind: what stands behind the delimiter, and how long a token may be. */
static const struct {
	const char *word;
	size_t token_bytes; /* the most; 0: none */
} kinds[] = {
    [EXTENSION_COMMANDS] = {"", 0},
    [EXTENSION_SUBSCRIBE] = {"subscribe", 0},
    [EXTENSION_UNSUBSCRIBE] = {"unsubscribe", 0},
    [EXTENSION_HELP] = {"help", 0},
    [EXTENSION_OWNER] = {"owner", 0},
    [EXTENSION_CONFIRM] = {"c-", TOKEN_DRAWN_LENGTH},
    [EXTENSION_REPLY] = {"r-", TOKEN_SIGNED_BYTES_MAX},
    [EXTENSION_LEAVE] = {"u-", TOKEN_SIGNED_BYTES_MAX},
    [EXTENSION_BOUNCE] = {"b-", TOKEN_SIGNED_BYTES_MAX},
    [EXTENSION_CHECK] = {"check-", TOKEN_DRAWN_LENGTH},
};

/* The delimiter, "r-", and the longest token. */
#define EXTENSION_BYTES (3 + TOKEN_SIGNED_BYTES_MAX)

bool
extension_base_parse(const char *address, const char *delimiter,
    struct extension_base *base, GError **error)
{
	struct address parsed = {0};

	if (strlen(delimiter) != 1 || !strchr("+-=_.", delimiter[0])) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "only + - = _ or . can set an address apart from what it is for");
		return false;
	}
	if (!address_parse(address, &parsed, error))
		return false;
	if (parsed.local[0] == '"' || !g_str_is_ascii(parsed.text) ||
	    strlen(parsed.local) > BOUNDS_LOCAL_PART_BYTES - EXTENSION_BYTES ||
	    strlen(parsed.text) > BOUNDS_ADDRESS_BYTES - EXTENSION_BYTES) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "'%s' is too long to have a token behind it: at most %d octets "
		    "before the @, all of them ASCII and unquoted",
		    parsed.text, BOUNDS_LOCAL_PART_BYTES - EXTENSION_BYTES);
		address_clear(&parsed);
		return false;
	}
	base->address = parsed;
	base->delimiter = delimiter[0];
	return true;
}

void
extension_base_clear(struct extension_base *base)
{
	address_clear(&base->address);
}

static enum extension_kind
find_kind(const char *detail, char **token)
{
	for (unsigned i = EXTENSION_SUBSCRIBE; i < G_N_ELEMENTS(kinds); i++) {
		size_t size = strlen(kinds[i].word);
		const char *rest = detail + size;

		if (!g_str_has_prefix(detail, kinds[i].word))
			continue;
		if (kinds[i].token_bytes ? *rest && strlen(rest) <= kinds[i].token_bytes
		                         : !*rest) {
			*token = g_strdup(rest);
			return (enum extension_kind)i;
		}
	}
	*token = g_strdup("");
	return EXTENSION_UNKNOWN;
}

bool
extension_parse(const struct extension_base *base, const char *text,
    enum extension_kind *kind, char **token)
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
	*kind = EXTENSION_COMMANDS;
	*token = g_strdup("");
	return true;
}

char *
extension_format(
    const struct extension_base *base, enum extension_kind kind, const char *token)
{
	g_assert(kind < EXTENSION_UNKNOWN);
	g_assert(!token == !kinds[kind].token_bytes);
	if (kind == EXTENSION_COMMANDS)
		return g_strdup(base->address.text);
	return g_strdup_printf("%s%c%s%s@%s", base->address.local, base->delimiter,
	    kinds[kind].word, token ? token : "", base->address.domain);
}

char *
extension_format_mailto(
    const struct extension_base *base, enum extension_kind kind, const char *token)
{
	g_autofree char *text = extension_format(base, kind, token);
	struct address address = {0};
	g_autofree char *link = NULL;

	/* The base was read with room for the longest token. */
	if (!address_parse(text, &address, NULL))
		g_assert_not_reached();
	link = address_format_mailto(&address, NULL);
	address_clear(&address);
	return g_steal_pointer(&link);
}

static char *
format_either(const struct extension_base *base, enum extension_kind kind, bool is_link,
    const char *token)
{
	return is_link ? extension_format_mailto(base, kind, token)
	               : extension_format(base, kind, token);
}

/* Where two of them differ there is the token. */
void
extension_form_init(struct extension_form *form, const struct extension_base *base,
    enum extension_kind kind, bool is_link)
{
	g_autofree char *one = format_either(base, kind, is_link, "a");
	g_autofree char *other = format_either(base, kind, is_link, "b");
	size_t at = 0;

	while (one[at] == other[at])
		at++;
	form->before = g_strndup(one, at);
	form->behind = g_strdup(one + at + 1);
}

void
extension_form_clear(struct extension_form *form)
{
	g_clear_pointer(&form->before, g_free);
	g_clear_pointer(&form->behind, g_free);
}

char *
extension_form_fill(const struct extension_form *form, const char *token)
{
	return g_strconcat(form->before, token, form->behind, NULL);
}
