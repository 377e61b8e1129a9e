/*
 * po.c - the translations of one language: reads PO files (GNU gettext manual, "PO
 * Files").
 */
#include "base/po.h"

#include <string.h>

#include "base/error.h"

#define CONTEXT_END "\004"

/* Maximum number of plural forms; Arabic has six. */
#define FORMS_MAX 6

/* The rule of English and German, without a header `Plural-Forms`. */
#define RULE_DEFAULT "n != 1"

/* Maximum length of a rule, which bounds its nesting; that of Arabic has 100 bytes. */
#define RULE_BYTES 1000

/* A rule is tried with the counts below this. */
#define RULE_TRIED 1000

struct po {
	GHashTable *entries; /* char *, the key -> GStrv, the forms */
	unsigned forms;      /* nplurals of the header */
	char *rule;          /* plural of the header, a C expression of n */
};

/* ---- plural rules ---- */

/* The rule from the next character on. */
struct rule {
	const char *at;
	int64_t n;
	bool is_wrong;
};

/* Operators of C by precedence, the weakest first; "<=" before "<". */
static const char *const operators[][5] = {
    {"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}};

static int64_t eval_condition(struct rule *rule);

static bool
skip(struct rule *rule, const char *sign)
{
	rule->at += strspn(rule->at, " \t");
	if (!g_str_has_prefix(rule->at, sign))
		return false;
	rule->at += strlen(sign);
	return true;
}

static int64_t
eval_operand(struct rule *rule)
{
	int64_t value;
	char *end;

	if (skip(rule, "!"))
		return !eval_operand(rule);
	if (skip(rule, "n"))
		return rule->n;
	if (skip(rule, "(")) {
		value = eval_condition(rule);
		rule->is_wrong |= !skip(rule, ")");
		return value;
	}
	value = (int64_t)(g_ascii_strtoull(rule->at, &end, 10) & G_MAXINT32);
	rule->is_wrong |= end == rule->at;
	rule->at = end;
	return value;
}

static int64_t
apply(struct rule *rule, const char *sign, int64_t left, int64_t right)
{
	bool is_equal = sign[1] == '=' && left == right;

	if (right == 0 && strchr("/%", *sign)) {
		rule->is_wrong = true;
		return 0;
	}
	switch (*sign) {
	case '|':
		return left || right;
	case '&':
		return left && right;
	case '=':
		return is_equal;
	case '!':
		return !is_equal;
	case '<':
		return left < right || is_equal;
	case '>':
		return left > right || is_equal;
	case '+':
		return left + right;
	case '-':
		return left - right;
	case '*':
		return (left % G_MAXINT32) * (right % G_MAXINT32);
	case '/':
		return left / right;
	}
	return left % right;
}

/* Find the operator of a level that is next. @return NULL if there is none */
static const char *
skip_operator(struct rule *rule, unsigned level)
{
	for (const char *const *sign = operators[level]; *sign; sign++)
		if (skip(rule, *sign))
			return *sign;
	return NULL;
}

static int64_t
eval_binary(struct rule *rule, unsigned level)
{
	const char *sign;
	int64_t left;

	if (level == G_N_ELEMENTS(operators))
		return eval_operand(rule);
	left = eval_binary(rule, level + 1);
	while (!rule->is_wrong && (sign = skip_operator(rule, level)))
		left = apply(rule, sign, left, eval_binary(rule, level + 1));
	return left;
}

static int64_t
eval_condition(struct rule *rule)
{
	int64_t value = eval_binary(rule, 0), yes, no;

	if (rule->is_wrong || !skip(rule, "?"))
		return value;
	yes = eval_condition(rule);
	rule->is_wrong |= !skip(rule, ":");
	no = eval_condition(rule);
	return value ? yes : no;
}

/* Get the form for a count. @return -1 if the rule is wrong */
static int
get_form(const struct po *po, int64_t count)
{
	struct rule rule = {.at = po->rule, .n = ABS(count)};
	int64_t form = eval_condition(&rule);

	skip(&rule, "");
	return rule.is_wrong || *rule.at || form < 0 || form >= po->forms ? -1
	                                                                  : (int)form;
}

/* ---- reading ---- */

/* One entry; all strings are owned. */
struct entry {
	char *context, *id, *plural; /* context and plural: or NULL */
	char *forms[FORMS_MAX];
	bool is_fuzzy; /* to be checked by a translator: not used */
};

static void
entry_clear(struct entry *entry)
{
	g_free(entry->context);
	g_free(entry->id);
	g_free(entry->plural);
	for (unsigned i = 0; i < FORMS_MAX; i++)
		g_free(entry->forms[i]);
	*entry = (struct entry){0};
}

static const GScannerConfig scanner_config = {
    .cset_skip_characters = " \t\r\n",
    .cset_identifier_first = G_CSET_a_2_z,
    .cset_identifier_nth = G_CSET_a_2_z "_",
    .cpair_comment_single = "#\n",
    .case_sensitive = true,
    .scan_identifier = true,
    .scan_string_dq = true,
    .numbers_2_int = true,
    .char_2_token = true,
};

static bool
fail(GScanner *scanner, GError **error, const char *problem, const char *what)
{
	return pb_fail(error, PB_ERROR_INPUT, "%s:%u: %s%s", scanner->input_name,
	    scanner->line, problem, what);
}

/* Skip comments before an entry: "#, fuzzy" is a flag of it. @return false at the end
 */
static bool
skip_comments(GScanner *scanner, struct entry *entry)
{
	while (g_scanner_peek_next_token(scanner) == G_TOKEN_COMMENT_SINGLE) {
		const char *text;

		g_scanner_get_next_token(scanner);
		text = scanner->value.v_comment;
		entry->is_fuzzy |= *text == ',' && strstr(text, "fuzzy");
	}
	return scanner->next_token != G_TOKEN_EOF;
}

static bool
is_next(GScanner *scanner, const char *keyword)
{
	return g_scanner_peek_next_token(scanner) == G_TOKEN_IDENTIFIER &&
	       g_str_equal(scanner->next_value.v_identifier, keyword);
}

/* Take a keyword. @return false if the next token is another one */
static bool
take(GScanner *scanner, const char *keyword)
{
	if (!is_next(scanner, keyword))
		return false;
	g_scanner_get_next_token(scanner);
	return true;
}

/* Take strings, which belong together. */
static bool
take_strings(GScanner *scanner, char **text, GError **error)
{
	g_autoptr(GString) joined = g_string_new(NULL);

	g_scanner_peek_next_token(scanner);
	if (scanner->next_token != G_TOKEN_STRING || *text)
		return fail(scanner, error, "expected one text in quotes", "");
	while (g_scanner_peek_next_token(scanner) == G_TOKEN_STRING) {
		g_scanner_get_next_token(scanner);
		g_string_append(joined, scanner->value.v_string);
	}
	if (!g_utf8_validate(joined->str, -1, NULL))
		return fail(scanner, error, "not UTF-8", "");
	*text = g_string_free(g_steal_pointer(&joined), FALSE);
	return true;
}

/* `msgstr "…"` or `msgstr[1] "…"` */
static bool
take_form(GScanner *scanner, struct entry *entry, GError **error)
{
	unsigned form = 0;

	if (g_scanner_peek_next_token(scanner) == '[') {
		g_scanner_get_next_token(scanner);
		if (g_scanner_get_next_token(scanner) != G_TOKEN_INT ||
		    scanner->value.v_int >= FORMS_MAX)
			return fail(scanner, error, "invalid number of msgstr", "");
		form = (unsigned)scanner->value.v_int;
		if (g_scanner_get_next_token(scanner) != ']')
			return fail(scanner, error, "expected ]", "");
	}
	return take_strings(scanner, &entry->forms[form], error);
}

static bool
take_entry(GScanner *scanner, struct entry *entry, GError **error)
{
	if (take(scanner, "msgctxt") && !take_strings(scanner, &entry->context, error))
		return false;
	if (!take(scanner, "msgid"))
		return fail(scanner, error, "expected msgid", "");
	if (!take_strings(scanner, &entry->id, error) ||
	    (take(scanner, "msgid_plural") &&
	        !take_strings(scanner, &entry->plural, error)))
		return false;
	if (!is_next(scanner, "msgstr"))
		return fail(scanner, error, "expected msgstr", "");
	while (take(scanner, "msgstr"))
		if (!take_form(scanner, entry, error))
			return false;
	return true;
}

/* ---- entries ---- */

/* `Plural-Forms: nplurals=2; plural=(n != 1);` */
static bool
read_header(struct po *po, GScanner *scanner, const char *header, GError **error)
{
	g_autoptr(GRegex) regex =
	    g_regex_new("^Plural-Forms:\\s*nplurals\\s*=\\s*([1-6])"
	                "\\s*;\\s*plural\\s*=([^;\n]*);?\\s*$",
	        G_REGEX_MULTILINE, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;
	g_autofree char *forms = NULL;

	if (!header || !g_regex_match(regex, header, 0, &match))
		return true;
	forms = g_match_info_fetch(match, 1);
	po->forms = (unsigned)g_ascii_digit_value(*forms);
	g_free(po->rule);
	po->rule = g_match_info_fetch(match, 2);
	for (int64_t n = 0; n < RULE_TRIED; n++)
		if (strlen(po->rule) > RULE_BYTES || get_form(po, n) < 0)
			return fail(scanner, error, "invalid plural rule:", po->rule);
	return true;
}

/* A translation has the placeholders of the English text only. */
static bool
check_placeholders(
    GScanner *scanner, const struct entry *entry, const char *text, GError **error)
{
	g_autoptr(GRegex) word = g_regex_new("\\{[a-z_]+\\}", 0, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;

	g_regex_match(word, text, 0, &match);
	for (; g_match_info_matches(match); g_match_info_next(match, NULL)) {
		g_autofree char *found = g_match_info_fetch(match, 0);

		if (!strstr(entry->id, found) &&
		    !(entry->plural && strstr(entry->plural, found)))
			return fail(scanner, error,
			    "the English text has no placeholder ", found);
	}
	return true;
}

/* @param is_translated  set: no form is missing @return false if there are too many */
static bool
check_forms(const struct po *po, GScanner *scanner, const struct entry *entry,
    bool *is_translated, GError **error)
{
	unsigned wanted = entry->plural ? po->forms : 1, filled = 0;

	for (unsigned i = 0; i < FORMS_MAX; i++) {
		if (entry->forms[i] && i >= wanted)
			return fail(scanner, error,
			    "more forms of msgstr than Plural-Forms says", "");
		if (!entry->forms[i] || !*entry->forms[i])
			continue;
		filled++;
		if (!check_placeholders(scanner, entry, entry->forms[i], error))
			return false;
	}
	*is_translated = filled == wanted && !entry->is_fuzzy;
	return true;
}

static bool
add_entry(struct po *po, GScanner *scanner, const struct entry *entry,
    const struct po *known, GError **error)
{
	g_autofree char *key =
	    entry->context ? g_strconcat(entry->context, CONTEXT_END, entry->id, NULL)
	                   : g_strdup(entry->id);
	bool is_translated = false;
	GStrvBuilder *forms;

	if (!*key)
		return read_header(po, scanner, entry->forms[0], error);
	if (known && !g_hash_table_contains(known->entries, key))
		return fail(scanner, error, "the program has no text: ", entry->id);
	if (!check_forms(po, scanner, entry, &is_translated, error))
		return false;
	if (!is_translated && g_hash_table_contains(po->entries, key))
		return true;
	forms = g_strv_builder_new();
	for (unsigned i = 0; is_translated && i < FORMS_MAX && entry->forms[i]; i++)
		g_strv_builder_add(forms, entry->forms[i]);
	g_hash_table_insert(
	    po->entries, g_steal_pointer(&key), g_strv_builder_end(forms));
	g_strv_builder_unref(forms);
	return true;
}

bool
po_parse(struct po *po, const char *label, const char *text, const struct po *known,
    GError **error)
{
	GScanner *scanner = g_scanner_new(&scanner_config);
	bool is_ok = true, is_more;

	scanner->input_name = label;
	g_scanner_input_text(scanner, text, (unsigned)strlen(text));
	do {
		pb_local(entry) entry = {0};

		is_more = skip_comments(scanner, &entry);
		is_ok = !is_more || (take_entry(scanner, &entry, error) &&
		                        add_entry(po, scanner, &entry, known, error));
	} while (is_ok && is_more);
	g_scanner_destroy(scanner);
	return is_ok;
}

struct po *
po_new(void)
{
	struct po *po = g_new0(struct po, 1);

	po->entries = g_hash_table_new_full(
	    g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_strfreev);
	po->forms = 2;
	po->rule = g_strdup(RULE_DEFAULT);
	return po;
}

void
po_free(struct po *po)
{
	if (!po)
		return;
	g_hash_table_unref(po->entries);
	g_free(po->rule);
	g_free(po);
}

/* ---- texts ---- */

static const char *
get_text(const struct po *po, const char *text, unsigned form)
{
	char **forms = po ? g_hash_table_lookup(po->entries, text) : NULL;
	const char *end;

	if (forms && forms[0])
		return forms[form < g_strv_length(forms) ? form : 0];
	end = strstr(text, CONTEXT_END);
	return end ? end + strlen(CONTEXT_END) : text;
}

const char *
po_get(const struct po *po, const char *text)
{
	return get_text(po, text, 0);
}

const char *
po_get_count(const struct po *po, const char *text, int64_t count)
{
	char **forms = po ? g_hash_table_lookup(po->entries, text) : NULL;

	if (forms && forms[0])
		return get_text(po, text, (unsigned)get_form(po, count));
	text = get_text(NULL, text, 0);
	return count == 1 ? text : text + strlen(text) + 1;
}
