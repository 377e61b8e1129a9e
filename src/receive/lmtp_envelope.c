/*
 * lmtp_envelope.c - what MAIL and RCPT say: a path and parameters.
 */
#include "receive/lmtp_envelope.h"

#include <glib.h>
#include <string.h>

#include "base/bounds.h"

char *
lmtp_envelope_parse_path(const char *text, const char **rest)
{
	bool is_quoted = false;
	const char *from;

	while (*text == ' ')
		text++;
	if (*text++ != '<')
		return NULL;
	if (*text == '@') {
		text = strchr(text, ':');
		if (!text)
			return NULL;
		text++;
	}
	for (from = text; *text && (is_quoted || *text != '>'); text++) {
		if (*text == '"')
			is_quoted = !is_quoted;
		else if (*text == '\\' && text[1])
			text++;
	}
	if (*text != '>' || (text[1] && text[1] != ' '))
		return NULL;
	*rest = text + 1;
	return g_strndup(from, (gsize)(text - from));
}

const char *
lmtp_envelope_check_address(const char *address, bool is_utf8)
{
	if (strlen(address) > BOUNDS_ADDRESS_BYTES || strpbrk(address, " <>,"))
		return "553 5.1.3 Bad address syntax";
	if (g_str_is_ascii(address))
		return NULL;
	if (!is_utf8)
		return "553 5.6.7 Address requires SMTPUTF8";
	return g_utf8_validate(address, -1, NULL)
	           ? NULL
	           : "553 5.6.7 Address is not valid UTF-8";
}

/* @return a refusal, or NULL */
static const char *
check_mail_parameter(const char *word, bool *is_utf8)
{
	if (g_ascii_strcasecmp(word, "SMTPUTF8") == 0) {
		*is_utf8 = true;
		return NULL;
	}
	if (g_ascii_strcasecmp(word, "BODY=7BIT") == 0 ||
	    g_ascii_strcasecmp(word, "BODY=8BITMIME") == 0)
		return NULL;
	if (g_ascii_strncasecmp(word, "SIZE=", 5) == 0) {
		guint64 size;

		/* RFC 1870 section 3: twenty digits at most. */
		if (!g_ascii_string_to_unsigned(
		        word + 5, 10, 0, G_MAXUINT64, &size, NULL))
			return "501 5.5.4 Bad message size syntax";
		return size > BOUNDS_MAIL_BYTES
		           ? "552 5.3.4 Message size exceeds fixed limit"
		           : NULL;
	}
	return "555 5.5.4 Unsupported option";
}

const char *
lmtp_envelope_check_mail(const char *text, bool *is_utf8)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);

	for (char **word = words; *word; word++) {
		const char *refusal =
		    **word ? check_mail_parameter(*word, is_utf8) : NULL;

		if (refusal)
			return refusal;
	}
	return NULL;
}
