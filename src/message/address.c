/*
 * address.c - validation and comparison of mail addresses.
 */
#include "message/address.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "message/sanitize.h"

static bool
refuse(GError **error, const char *message)
{
	return pb_error_set(error, PB_ERROR_INPUT, message, NULL);
}

static bool
refuse_length(GError **error, const char *message, unsigned limit)
{
	return pb_error_set(
	    error, PB_ERROR_LIMIT, message, "most", MSG_INT(limit), NULL);
}

static bool
is_invisible(gunichar c)
{
	GUnicodeType type = g_unichar_type(c);

	return type == G_UNICODE_CONTROL || type == G_UNICODE_FORMAT ||
	       type == G_UNICODE_UNASSIGNED || type == G_UNICODE_LINE_SEPARATOR ||
	       type == G_UNICODE_PARAGRAPH_SEPARATOR ||
	       type == G_UNICODE_SPACE_SEPARATOR;
}

static bool
check_characters(const char *text, GError **error)
{
	/* An internationalised domain may be four times as long as its A-labels. */
	if (strlen(text) > 4 * BOUNDS_ADDRESS_BYTES)
		return refuse_length(error, N_("address has more than {most} bytes"),
		    BOUNDS_ADDRESS_BYTES);
	if (!g_utf8_validate(text, -1, NULL))
		return refuse(error, N_("address is not valid UTF-8"));
	for (const char *p = text; *p; p = g_utf8_next_char(p)) {
		if (*p == ' ' || *p == '\t')
			return refuse(error, N_("address contains a blank"));
		if (is_invisible(g_utf8_get_char(p)))
			return refuse(error,
			    N_("address contains a control or invisible character"));
		if (*p == '<' || *p == '>')
			return refuse(error, N_("address contains an angle bracket"));
	}
	return true;
}

/* RFC 5322 section 3.2.3 and RFC 6532 section 3.2, without "%" and "!", which some
 * relays still rewrite into source routes. */
static bool
is_atom_char(char c)
{
	return g_ascii_isalnum(c) || (unsigned char)c >= 0x80 ||
	       (c != '\0' && strchr("#$&'*+-/=?^_`{|}~", c) != NULL);
}

static bool
is_dot_atom(const char *text, size_t size)
{
	if (size == 0 || text[0] == '.' || text[size - 1] == '.')
		return false;
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '.' ? text[i + 1] == '.' : !is_atom_char(text[i]))
			return false;
	}
	return true;
}

static char *
parse_local(const char *text, size_t size, GError **error)
{
	bool is_quoted = size >= 2 && text[0] == '"' && text[size - 1] == '"';
	const char *inner = is_quoted ? text + 1 : text;
	size_t inner_size = is_quoted ? size - 2 : size;
	char *local = NULL;

	if (inner_size == 0) {
		refuse(error, N_("address has nothing before '@'"));
	} else if (size > BOUNDS_LOCAL_PART_BYTES) {
		refuse_length(error,
		    N_("address has more than {most} bytes before '@'"),
		    BOUNDS_LOCAL_PART_BYTES);
	} else if (is_dot_atom(inner, inner_size)) {
		local = g_strndup(inner, inner_size);
	} else {
		for (size_t i = 0; i < inner_size; i++) {
			if (inner[i] == '@')
				refuse(error, N_("address has more than one '@'"));
			else if (inner[i] == '!' || inner[i] == '%')
				refuse(error,
				    N_("address has a route ('!' or '%') before '@'"));
			else if (!is_atom_char(inner[i]) && inner[i] != '.')
				refuse(error, N_("address contains a character that is "
				                 "not allowed before '@'"));
			else
				continue;
			return NULL;
		}
		if (is_quoted)
			local = g_strndup(text, size);
		else
			refuse(error, N_("address has a dot at the start, at the end, "
			                 "or two in a row before '@'"));
	}
	return local;
}

static bool
check_label(const char *label, size_t size, GError **error)
{
	if (size == 0)
		return refuse(error, N_("address has an empty label in its domain"));
	if (size > BOUNDS_LABEL_BYTES)
		return refuse_length(error,
		    N_("address has more than {most} bytes in a label of its domain"),
		    BOUNDS_LABEL_BYTES);
	if (label[0] == '-' || label[size - 1] == '-')
		return refuse(error,
		    N_("address has a domain label that starts or ends with '-'"));
	for (size_t i = 0; i < size; i++) {
		if (!g_ascii_isalnum(label[i]) && label[i] != '-')
			return refuse(error, N_("address contains a character that is "
			                        "not allowed in a domain"));
	}
	return true;
}

char *
address_parse_domain(const char *text, GError **error)
{
	g_autofree char *domain = NULL;
	const char *label;

	if (!check_characters(text, error))
		return NULL;
	if (text[0] == '\0') {
		refuse(error, N_("address has nothing after '@'"));
		return NULL;
	}
	if (text[0] == '[') {
		refuse(error, N_("address has an address literal instead of a domain"));
		return NULL;
	}
	if (g_str_is_ascii(text)) {
		domain = g_ascii_strdown(text, -1);
	} else {
		g_autofree char *ascii = g_hostname_to_ascii(text);

		if (!ascii) {
			refuse(error,
			    N_("address has an invalid internationalized domain"));
			return NULL;
		}
		domain = g_ascii_strdown(ascii, -1);
	}
	for (label = domain;; label = strchr(label, '.') + 1) {
		if (!check_label(label, strcspn(label, "."), error))
			return NULL;
		if (!strchr(label, '.'))
			break;
	}
	if (label == domain) {
		refuse(error, N_("address has a domain without a dot"));
		return NULL;
	}
	if (strspn(label, "0123456789") == strlen(label)) {
		refuse(error, N_("address has a number instead of a domain"));
		return NULL;
	}
	if (strlen(domain) > BOUNDS_DOMAIN_BYTES) {
		refuse_length(error,
		    N_("address has more than {most} bytes in its domain"),
		    BOUNDS_DOMAIN_BYTES);
		return NULL;
	}
	return g_steal_pointer(&domain);
}

bool
address_parse(const char *text, struct address *out, GError **error)
{
	g_autofree char *local = NULL;
	g_autofree char *domain = NULL;
	const char *at;

	if (text[0] == '\0')
		return refuse(error, N_("address is empty"));
	if (!check_characters(text, error))
		return false;
	if (text[0] == '@' && strchr(text, ':'))
		return refuse(error, N_("address has a source route"));
	at = strrchr(text, '@');
	if (!at)
		return refuse(error, N_("address has no '@'"));
	local = parse_local(text, (size_t)(at - text), error);
	if (!local)
		return false;
	domain = address_parse_domain(at + 1, error);
	if (!domain)
		return false;
	if (strlen(local) + 1 + strlen(domain) > BOUNDS_ADDRESS_BYTES)
		return refuse_length(error, N_("address has more than {most} bytes"),
		    BOUNDS_ADDRESS_BYTES);
	out->text = g_strconcat(local, "@", domain, NULL);
	out->local = g_steal_pointer(&local);
	out->domain = g_steal_pointer(&domain);
	return true;
}

static char *
unquote_name(const char *quoted, size_t size, GError **error)
{
	g_autoptr(GString) name = g_string_new(NULL);

	for (size_t i = 1; i + 1 < size; i++) {
		if (quoted[i] == '"' || (quoted[i] == '\\' && ++i + 1 >= size)) {
			refuse(error, N_("address has a stray quote in its name"));
			return NULL;
		}
		g_string_append_c(name, quoted[i]);
	}
	return g_string_free(g_steal_pointer(&name), FALSE);
}

static bool
parse_name(const char *text, size_t size, char **out, GError **error)
{
	g_autofree char *name = NULL;

	if (size >= 2 && text[0] == '"' && text[size - 1] == '"') {
		name = unquote_name(text, size, error);
		if (!name)
			return false;
	} else {
		name = g_strndup(text, size);
		if (strpbrk(name, "()<>[]:;@\\,\""))
			return refuse(
			    error, N_("address has a name that needs quotes"));
	}
	if (!g_utf8_validate(name, -1, NULL))
		return refuse(error, N_("address has a name that is not valid UTF-8"));
	for (const char *p = name; *p; p++) {
		if (g_ascii_iscntrl(*p))
			return refuse(error,
			    N_("address contains a control character in its name"));
	}
	if (strlen(name) > BOUNDS_PERSON_NAME_BYTES)
		return refuse_length(error,
		    N_("address has more than {most} bytes in its name"),
		    BOUNDS_PERSON_NAME_BYTES);
	*out = sanitize_line(name, 0);
	if ((*out)[0] == '\0')
		g_clear_pointer(out, g_free);
	return true;
}

bool
address_parse_mailbox(
    const char *text, struct address *out, char **name, GError **error)
{
	size_t start = strspn(text, " ");
	size_t end = strlen(text);
	g_autofree char *spec = NULL;
	g_autofree char *found = NULL;
	const char *open;

	while (end > start && text[end - 1] == ' ')
		end--;
	if (end > start && text[end - 1] == '>') {
		open = g_strrstr_len(text, (gssize)end, "<");
		if (!open)
			return refuse(error, N_("address has '>' without '<'"));
		spec = g_strndup(open + 1, (size_t)(text + end - 1 - open - 1));
		end = (size_t)(open - text);
		while (end > start && text[end - 1] == ' ')
			end--;
		if (end > start &&
		    !parse_name(text + start, end - start, &found, error))
			return false;
	} else {
		spec = g_strndup(text + start, end - start);
	}
	if (!address_parse(spec, out, error))
		return false;
	*name = g_steal_pointer(&found);
	return true;
}

void
address_clear(struct address *address)
{
	g_clear_pointer(&address->local, g_free);
	g_clear_pointer(&address->domain, g_free);
	g_clear_pointer(&address->text, g_free);
}

char *
address_format_key(const struct address *address)
{
	g_autofree char *given = g_utf8_normalize(address->local, -1, G_NORMALIZE_NFC);
	g_autofree char *folded = g_utf8_casefold(given, -1);
	g_autofree char *local = g_utf8_normalize(folded, -1, G_NORMALIZE_NFC);

	return g_strconcat(local, "@", address->domain, NULL);
}

char *
address_format_mailto(const struct address *address, const char *subject)
{
	/* Allowed by RFC 6068 section 2, but not all parsers of mailto URIs decode
	 * it. */
	g_autofree char *local = g_uri_escape_string(address->local, "+", FALSE);
	g_autofree char *escaped =
	    subject ? g_uri_escape_string(subject, NULL, FALSE) : NULL;

	return g_strconcat("mailto:", local, "@", address->domain,
	    escaped ? "?subject=" : NULL, escaped, NULL);
}
