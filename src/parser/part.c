/*
 * part.c - MIME parts of a message (RFC 2045, RFC 2046).
 */
#include "parser/part.h"

#include <libetpan/mailmime.h>
#include <libetpan/mmapstring.h>
#include <string.h>

#include "base/bounds.h"

struct part_tree {
	struct mailmime *root;
};

struct part_tree *
part_tree_new(const char *text, size_t size)
{
	struct part_tree *tree = g_new0(struct part_tree, 1);
	size_t at = 0;

	if (mailmime_parse(text, size, &at, &tree->root) != MAILIMF_NO_ERROR) {
		g_free(tree);
		return NULL;
	}
	return tree;
}

void
part_tree_free(struct part_tree *tree)
{
	if (!tree)
		return;
	mailmime_free(tree->root);
	g_free(tree);
}

static const char *
get_type(const struct mailmime_type *type)
{
	if (type->tp_type == MAILMIME_TYPE_DISCRETE_TYPE) {
		switch (type->tp_data.tp_discrete_type->dt_type) {
		case MAILMIME_DISCRETE_TYPE_TEXT:
			return "text";
		case MAILMIME_DISCRETE_TYPE_EXTENSION:
			return type->tp_data.tp_discrete_type->dt_extension;
		default:
			return "other";
		}
	}
	switch (type->tp_data.tp_composite_type->ct_type) {
	case MAILMIME_COMPOSITE_TYPE_MESSAGE:
		return "message";
	case MAILMIME_COMPOSITE_TYPE_MULTIPART:
		return "multipart";
	default:
		return "other";
	}
}

bool
part_is(const struct mailmime *part, const char *type, const char *subtype)
{
	const struct mailmime_content *content = part->mm_content_type;
	const char *known;

	/* RFC 2045 section 5.2. */
	if (!content || !content->ct_type)
		return !strcmp(type, "text") && !strcmp(subtype, "plain");
	known = get_type(content->ct_type);
	return known && !g_ascii_strcasecmp(known, type) && content->ct_subtype &&
	       !g_ascii_strcasecmp(content->ct_subtype, subtype);
}

const char *
part_get_parameter(const struct mailmime *part, const char *name)
{
	clist *parameters =
	    part->mm_content_type ? part->mm_content_type->ct_parameters : NULL;

	if (!parameters)
		return NULL;
	for (clistiter *i = clist_begin(parameters); i; i = clist_next(i)) {
		const struct mailmime_parameter *parameter = clist_content(i);

		if (parameter->pa_name && !g_ascii_strcasecmp(parameter->pa_name, name))
			return parameter->pa_value;
	}
	return NULL;
}

static bool
is_attached(const struct mailmime *part)
{
	clist *fields = part->mm_mime_fields ? part->mm_mime_fields->fld_list : NULL;

	if (!fields)
		return false;
	for (clistiter *i = clist_begin(fields); i; i = clist_next(i)) {
		const struct mailmime_field *field = clist_content(i);

		if (field->fld_type == MAILMIME_FIELD_DISPOSITION)
			return field->fld_data.fld_disposition->dsp_type->dsp_type ==
			       MAILMIME_DISPOSITION_TYPE_ATTACHMENT;
	}
	return false;
}

static const struct mailmime *
get_top(const struct part_tree *tree)
{
	const struct mailmime *root = tree->root;

	return root->mm_type == MAILMIME_MESSAGE ? root->mm_data.mm_message.mm_msg_mime
	                                         : root;
}

/* @return the encoded body */
static const char *
get_body(const struct mailmime *part, size_t *size)
{
	const struct mailmime_data *body = part->mm_body;

	if (!body || body->dt_type != MAILMIME_DATA_TEXT)
		return NULL;
	*size = body->dt_data.dt_text.dt_length;
	return body->dt_data.dt_text.dt_data;
}

static bool
has_text(const struct mailmime *part)
{
	size_t size = 0;
	const char *body = get_body(part, &size);

	for (size_t i = 0; body && i < size; i++)
		if (!g_ascii_isspace(body[i]))
			return true;
	return false;
}

/* prescan_check() limits the depth; the check here is for tests without it. */
static const struct mailmime *
find_of_type(const struct mailmime *part, const char *subtype, unsigned depth)
{
	const struct mailmime *found = NULL;

	if (!part || depth > BOUNDS_MAIL_DEPTH || is_attached(part))
		return NULL;
	if (part->mm_type == MAILMIME_SINGLE)
		return part_is(part, "text", subtype) && has_text(part) ? part : NULL;
	if (part->mm_type != MAILMIME_MULTIPLE)
		return NULL;
	for (clistiter *i = clist_begin(part->mm_data.mm_multipart.mm_mp_list);
	     i && !found; i = clist_next(i))
		found = find_of_type(clist_content(i), subtype, depth + 1);
	return found;
}

/*
 * The first child with text of either type: a text/plain footer that a list appends to
 * a text/html body is not the body.
 */
static const struct mailmime *
find_text(const struct mailmime *part, unsigned depth)
{
	const struct mailmime *found = NULL;

	if (!part || depth > BOUNDS_MAIL_DEPTH)
		return NULL;
	if (part->mm_type == MAILMIME_MULTIPLE &&
	    !part_is(part, "multipart", "alternative") && !is_attached(part)) {
		clist *list = part->mm_data.mm_multipart.mm_mp_list;

		for (clistiter *i = clist_begin(list); i && !found; i = clist_next(i))
			found = find_text(clist_content(i), depth + 1);
		return found;
	}
	found = find_of_type(part, "plain", depth);
	return found ? found : find_of_type(part, "html", depth);
}

const struct mailmime *
part_find_text(const struct part_tree *tree)
{
	return find_text(get_top(tree), 0);
}

const struct mailmime *
part_find_report(const struct part_tree *tree)
{
	const struct mailmime *top = get_top(tree);

	return top && top->mm_type == MAILMIME_MULTIPLE &&
	               (part_is(top, "multipart", "report") ||
	                   part_is(top, "multipart", "mixed"))
	           ? top
	           : NULL;
}

GPtrArray *
part_get_children(const struct mailmime *part)
{
	GPtrArray *children = g_ptr_array_new();

	if (part->mm_type != MAILMIME_MULTIPLE)
		return children;
	for (clistiter *i = clist_begin(part->mm_data.mm_multipart.mm_mp_list); i;
	     i = clist_next(i))
		g_ptr_array_add(children, clist_content(i));
	return children;
}

/* Convert CR LF and CR in decoded text to LF. */
static void
normalize_line_ends(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from == '\r' && from[1] == '\n')
			continue;
		*to++ = *from == '\r' ? '\n' : *from;
	}
	*to = '\0';
}

char *
part_decode(const struct mailmime *part, struct charset_set *charsets, size_t max_bytes)
{
	size_t size = 0, at = 0, decoded_size = 0;
	const char *body = get_body(part, &size);
	char *decoded = NULL;
	char *text;

	if (!body || mailmime_part_parse(body, size, &at, part->mm_body->dt_encoding,
	                 &decoded, &decoded_size) != MAILIMF_NO_ERROR)
		return g_strdup("");
	text = charset_decode(charsets, part_get_parameter(part, "charset"), decoded,
	    decoded_size, max_bytes);
	mmap_string_unref(decoded);
	normalize_line_ends(text);
	return text;
}
