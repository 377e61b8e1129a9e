/*
 * name.c - names of authors, in filters and in papers.
 */
#include "query/parse/name.h"

#include <string.h>

#include "query/text/tokens.h"

struct name_part {
	char *text;
	bool begins_word; /* false: joined to the part before, as in ben-david */
};

/* Words that may begin a last name. A last name in a filter that begins with one ("van
 * den Oord") needs no given names. */
static const char *const particles[] = {"al", "bin", "da", "dal", "de", "del", "della",
    "den", "der", "di", "dos", "du", "el", "ibn", "la", "le", "st", "te", "ten", "ter",
    "van", "von", "zu", "zur"};

static const char *const suffixes[] = {"jr", "sr", "ii", "iii", "iv"};

static bool
is_among(const char *text, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(text, words[i]) == 0)
			return true;
	return false;
}

static const struct name_part *
get_part(const struct name *name, unsigned i)
{
	return &g_array_index(name->parts, struct name_part, i);
}

static void
clear_part(void *data)
{
	g_free(((struct name_part *)data)->text);
}

void
name_free(struct name *name)
{
	if (!name)
		return;
	g_array_unref(name->parts);
	g_free(name);
}

/* Hyphens and apostrophes join parts (Ben-David, O'Brien); other characters separate
 * words, such as the dot between Japanese names. */
static bool
is_joined(const char *gap, size_t len)
{
	for (const char *p = gap; p < gap + len; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);

		if (g_unichar_isspace(c) || c == '.' || c == '_' || c == ',' ||
		    c == 0x30fb)
			return false;
	}
	return true;
}

static bool
is_suffix(const struct name_part *part)
{
	return part->begins_word &&
	       is_among(part->text, suffixes, G_N_ELEMENTS(suffixes));
}

/* Append the words of a text, without suffixes such as Jr. */
static bool
add_parts(
    GArray *parts, const char *text, size_t len, const struct tokenizer *tokenizer)
{
	g_autoptr(GArray) tokens = tokens_split(tokenizer, text, len);
	size_t before = 0;

	if (!tokens)
		return false;
	for (guint i = 0; i < tokens->len; i++) {
		struct token *token = &g_array_index(tokens, struct token, i);
		struct name_part part = {0};

		if (token->start < before) {
			/* A further pair of a run, which is one word of a name. */
			char **run =
			    &g_array_index(parts, struct name_part, parts->len - 1)
			         .text;
			g_autofree char *shorter = *run;

			*run =
			    g_strconcat(shorter, g_utf8_next_char(token->text), NULL);
			before = token->end;
			continue;
		}
		part.begins_word =
		    i == 0 || !is_joined(text + before, token->start - before);
		before = token->end;
		part.text = g_steal_pointer(&token->text);
		g_array_append_val(parts, part);
	}
	while (parts->len > 1 &&
	       is_suffix(&g_array_index(parts, struct name_part, parts->len - 1)))
		g_array_set_size(parts, parts->len - 1);
	return true;
}

static unsigned
count_last_word(const GArray *parts)
{
	unsigned n = 0;

	while (n < parts->len) {
		n++;
		if (g_array_index(parts, struct name_part, parts->len - n).begins_word)
			break;
	}
	return n;
}

/* The comma of "Robert Downey, Jr." does not invert the order. */
static bool
is_suffix_alone(const GArray *parts)
{
	return parts->len == 1 && is_suffix(&g_array_index(parts, struct name_part, 0));
}

/* In "van den Oord, Aaron", the particles belong to the given names. */
static unsigned
count_turned_last(const GArray *parts, unsigned last)
{
	unsigned word = count_last_word(parts);

	for (unsigned i = parts->len - last; i < parts->len - word; i++)
		if (!is_among(g_array_index(parts, struct name_part, i).text, particles,
		        G_N_ELEMENTS(particles)))
			return last;
	return word;
}

bool
name_parse(
    const char *text, size_t len, const struct tokenizer *tokenizer, struct name **name)
{
	g_autoptr(GArray) given = g_array_new(FALSE, FALSE, sizeof(struct name_part));
	g_autoptr(GArray) last = g_array_new(FALSE, FALSE, sizeof(struct name_part));
	const char *comma = memchr(text, ',', len);
	size_t last_len = comma ? (size_t)(comma - text) : len;
	struct name *made;

	g_array_set_clear_func(given, clear_part);
	g_array_set_clear_func(last, clear_part);
	if (!add_parts(last, text, last_len, tokenizer))
		return false;
	if (comma && !add_parts(given, comma + 1, len - last_len - 1, tokenizer))
		return false;
	if (comma && is_suffix_alone(given)) {
		g_array_set_size(given, 0);
		comma = NULL;
	}
	if (last->len + given->len == 0) {
		*name = NULL;
		return true;
	}
	made = g_new0(struct name, 1);
	made->last = comma && last->len > 0 ? last->len : 0;
	g_array_append_vals(given, last->data, last->len);
	/* The other array owns the strings now. */
	g_array_set_clear_func(last, NULL);
	made->parts = g_steal_pointer(&given);
	if (made->last > 0) {
		made->last = count_turned_last(made->parts, made->last);
	} else {
		made->last = count_last_word(made->parts);
		made->is_any_word = !comma && made->last == made->parts->len;
	}
	*name = made;
	return true;
}

static bool
is_equal_or_initial(const char *a, const char *b)
{
	const char *shorter = strlen(a) < strlen(b) ? a : b;
	const char *longer = shorter == a ? b : a;

	if (strcmp(a, b) == 0)
		return true;
	return *g_utf8_next_char(shorter) == '\0' && g_str_has_prefix(longer, shorter);
}

static bool
is_run_equal(const struct name *a, unsigned a_from, const struct name *b,
    unsigned b_from, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(get_part(a, a_from + i)->text,
		        get_part(b, b_from + i)->text) != 0)
			return false;
	return true;
}

static bool
is_word_end(const struct name *name, unsigned next)
{
	return next == name->parts->len || get_part(name, next)->begins_word;
}

/* Given names match by part (song in Gui-Song), last names only whole. */
static bool
has_word(const struct name *author, const struct name *word)
{
	unsigned n = word->parts->len;
	unsigned given = author->parts->len - author->last;

	for (unsigned i = 0; i + n <= author->parts->len; i++) {
		bool is_whole =
		    get_part(author, i)->begins_word && is_word_end(author, i + n);

		if ((is_whole || i + n <= given) && is_run_equal(word, 0, author, i, n))
			return true;
	}
	return false;
}

/*
 * Find the first given name of a filter: the first one in the paper, or a part of it;
 * particles match anywhere.
 *
 * @return its index, or the number of given names
 */
static unsigned
find_first(const char *text, const struct name *author, unsigned given)
{
	bool is_particle = is_among(text, particles, G_N_ELEMENTS(particles));

	for (unsigned i = 0; i < given; i++) {
		const char *part = get_part(author, i)->text;

		if (i == 0 || is_particle ? is_equal_or_initial(text, part)
		                          : strcmp(text, part) == 0)
			return i;
		if (!is_particle && is_word_end(author, i + 1))
			break;
	}
	return given;
}

bool
name_is_match(const struct name *pattern, const struct name *author)
{
	unsigned pattern_given = pattern->parts->len - pattern->last;
	unsigned author_given;
	unsigned at = 0;

	if (pattern->is_any_word)
		return has_word(author, pattern);
	if (pattern->last > author->parts->len)
		return false;
	author_given = author->parts->len - pattern->last;
	if (!get_part(author, author_given)->begins_word ||
	    !is_run_equal(pattern, pattern_given, author, author_given, pattern->last))
		return false;
	/* Given names match in order; all but the first may be missing. */
	for (unsigned i = 0; i < pattern_given; i++) {
		const char *text = get_part(pattern, i)->text;

		if (i == 0)
			at = find_first(text, author, author_given);
		while (at < author_given &&
		       !is_equal_or_initial(text, get_part(author, at)->text))
			at++;
		if (at == author_given)
			return false;
		at++;
	}
	return true;
}

/* Whether the last name is the same without a comma and is not a suffix. */
static bool
is_last_plain(const struct name *name, unsigned given)
{
	return given > 0 && count_last_word(name->parts) == name->last &&
	       !is_suffix(get_part(name, name->parts->len - 1));
}

static void
append_parts(const struct name *name, unsigned from, unsigned to, GString *out)
{
	for (unsigned i = from; i < to; i++) {
		const struct name_part *part = get_part(name, i);

		if (i > from)
			g_string_append_c(out, part->begins_word ? ' ' : '-');
		g_string_append(out, part->text);
	}
}

void
name_append(const struct name *name, GString *out)
{
	unsigned all = name->parts->len;
	unsigned given = all - name->last;

	if (name->is_any_word) {
		append_parts(name, 0, all, out);
		return;
	}
	g_string_append_c(out, '"');
	if (is_last_plain(name, given)) {
		append_parts(name, 0, all, out);
	} else {
		append_parts(name, given, all, out);
		g_string_append_c(out, ',');
		if (given > 0)
			g_string_append_c(out, ' ');
		append_parts(name, 0, given, out);
	}
	g_string_append_c(out, '"');
}

const char *
name_get_part(const struct name *name, unsigned i)
{
	return get_part(name, i)->text;
}
