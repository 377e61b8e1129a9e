/*
 * bounce_class.c - the meaning of a refusal for the recipient's address.
 */
#include "transport/bounce_class.h"

#include <fnmatch.h>
#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/bounces.h"

/* Maximum size of a text that is classified, bytes; the rest of it is ignored. */
#define TEXT_BYTES 4096

/* Maximum size of a pattern with its definitions inserted, bytes. */
#define PATTERN_BYTES_MAX (64 << 10)

#define RULES_PATH "/paperboy/bounces/rules"

/* Conditions of a rule; etc/bounces/rules describes them. */
enum when {
	RECIPIENT = 1 << 0,
	LOCAL = 1 << 1,
	PLAIN = 1 << 2,
	LASTING = 1 << 3,
	NO_POLICY = 1 << 4,
	REPLY = 1 << 5,
	EARLY = 1 << 6,
	LATE = 1 << 7,
};

struct rule {
	const char *name;
	enum bounce_class class;
	enum bounce_fault fault;
	unsigned when;      /* bits of enum when; all have to hold */
	const char *status; /* glob of the enhanced code, or NULL */
	const char *code;   /* glob of the reply code, or NULL */
	GRegex *words;      /* on normalized text, or NULL */
};

struct replacement {
	GRegex *words;
	const char *by;
};

struct rules {
	GArray *rules;        /* struct rule, in the order in which they are tried */
	GArray *replacements; /* struct replacement, which make normalized text */
	GRegex *guesses;
};

/* ---- reading etc/bounces/rules, which describes its format ---- */

struct reader {
	struct rules *rules;
	GHashTable *definitions; /* "${NAME}" to a pattern */
	unsigned line;
	/* The block that is read. */
	char **head; /* words of its first line, or NULL before the first block */
	unsigned head_line;
	GString *pattern;
	bool is_continued; /* by the next line */
};

/* The file is part of the program: an error in it is one in the program. */
static void G_NORETURN
fail(unsigned line, const char *message, const char *what)
{
	g_autofree char *text = g_strconcat(message, what, NULL);

	g_assertion_message(G_LOG_DOMAIN, RULES_PATH, (int)line, "", text);
	abort();
}

/* A pattern that takes too long for hostile text does not match. */
static GRegex *
compile(const struct reader *reader)
{
	g_autoptr(GError) problem = NULL;
	g_autofree char *limited =
	    g_strconcat("(*LIMIT_MATCH=200000)", reader->pattern->str, NULL);
	GRegex *words = g_regex_new(limited, 0, 0, &problem);

	if (!words)
		fail(reader->head_line, "", problem->message);
	return words;
}

static void
read_class(struct rule *rule, const char *word, unsigned line)
{
	static const struct {
		const char *word;
		enum bounce_class class;
		enum bounce_fault fault;
	} classes[] = {
	    {"dead", BOUNCE_DEAD, BOUNCE_FAULT_NONE},
	    {"full", BOUNCE_FULL, BOUNCE_FAULT_NONE},
	    {"temporary", BOUNCE_TEMPORARY, BOUNCE_FAULT_NONE},
	    {"domain", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN},
	    {"message", BOUNCE_SENDER, BOUNCE_FAULT_MESSAGE},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(classes); i++)
		if (strcmp(word, classes[i].word) == 0) {
			rule->class = classes[i].class;
			rule->fault = classes[i].fault;
			return;
		}
	fail(line, "unknown class: ", word);
}

static void
read_condition(struct rule *rule, const char *word, unsigned line)
{
	static const char *const conditions[] = {"recipient", "local", "plain",
	    "lasting", "no-policy", "reply", "early", "late"}; /* as enum when */

	for (size_t i = 0; i < G_N_ELEMENTS(conditions); i++)
		if (strcmp(word, conditions[i]) == 0) {
			rule->when |= 1U << i;
			return;
		}
	if (g_str_has_prefix(word, "status="))
		rule->status = g_intern_string(word + strlen("status="));
	else if (g_str_has_prefix(word, "code="))
		rule->code = g_intern_string(word + strlen("code="));
	else
		fail(line, "unknown condition: ", word);
}

static void
read_rule(const struct reader *reader)
{
	struct rule rule = {.name = g_intern_string(reader->head[1])};

	if (g_strv_length(reader->head) < 3)
		fail(reader->head_line, "expected: rule NAME CLASS", "");
	read_class(&rule, reader->head[2], reader->head_line);
	for (char **word = reader->head + 3; *word; word++)
		read_condition(&rule, *word, reader->head_line);
	if (reader->pattern->len > 0)
		rule.words = compile(reader);
	g_array_append_val(reader->rules->rules, rule);
}

/* Replace each ${NAME} in the pattern by the pattern of the definition of NAME. */
static void
expand(const struct reader *reader)
{
	GHashTableIter iter;
	gpointer name, pattern;
	const char *unknown;

	g_hash_table_iter_init(&iter, reader->definitions);
	while (g_hash_table_iter_next(&iter, &name, &pattern)) {
		g_string_replace(reader->pattern, name, pattern, 0);
		if (reader->pattern->len > PATTERN_BYTES_MAX)
			fail(reader->head_line, "the pattern is too long", "");
	}
	unknown = strstr(reader->pattern->str, "${");
	if (unknown)
		fail(reader->head_line, "unknown definition: ", unknown);
}

static void
finish_block(const struct reader *reader)
{
	const char *keyword = reader->head ? reader->head[0] : NULL;
	const char *word = keyword ? reader->head[1] : NULL;

	if (!keyword)
		return;
	expand(reader);
	if (strcmp(keyword, "rule") == 0) {
		read_rule(reader);
	} else if (strcmp(keyword, "define") == 0 && word) {
		g_hash_table_insert(reader->definitions, g_strdup_printf("${%s}", word),
		    g_strdup_printf("(?:%s)", reader->pattern->str));
	} else if (strcmp(keyword, "replace") == 0 || strcmp(keyword, "remove") == 0) {
		const char *by = word ? g_intern_string(word) : " ";
		struct replacement replacement = {
		    compile(reader), strcmp(keyword, "remove") == 0 ? "" : by};

		g_array_append_val(reader->rules->replacements, replacement);
	} else if (strcmp(keyword, "guess") == 0 && !reader->rules->guesses) {
		reader->rules->guesses = compile(reader);
	} else {
		fail(reader->head_line, "unexpected block: ", keyword);
	}
}

static void
read_pattern(struct reader *reader, const char *words)
{
	if (!reader->head)
		fail(reader->line, "a pattern before the first block", "");
	if (reader->pattern->len > 0 && !reader->is_continued)
		g_string_append_c(reader->pattern, '|');
	reader->is_continued = g_str_has_suffix(words, "\\");
	g_string_append_len(reader->pattern, words,
	    (gssize)(strlen(words) - (reader->is_continued ? 1 : 0)));
}

static void
read_line(struct reader *reader, const char *line)
{
	reader->line++;
	if (*line == '\t') {
		read_pattern(reader, line + 1);
	} else if (reader->is_continued) {
		fail(reader->line, "expected the rest of a pattern", "");
	} else if (*line && *line != '#') {
		finish_block(reader);
		g_strfreev(reader->head);
		reader->head = g_strsplit(line, " ", -1);
		reader->head_line = reader->line;
		g_string_truncate(reader->pattern, 0);
	}
}

static gpointer
load_rules(gpointer unused)
{
	g_autoptr(GBytes) text = NULL;
	g_autoptr(GString) pattern = g_string_new(NULL);
	g_autoptr(GHashTable) definitions =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_autofree char *content = NULL;
	g_auto(GStrv) lines = NULL;
	struct reader reader = {.rules = g_new0(struct rules, 1),
	    .definitions = definitions,
	    .pattern = pattern};

	(void)unused;
	(void)bounces_get_resource(); /* registers it */
	reader.rules->rules = g_array_new(FALSE, FALSE, sizeof(struct rule));
	reader.rules->replacements =
	    g_array_new(FALSE, FALSE, sizeof(struct replacement));
	text = g_resources_lookup_data(RULES_PATH, 0, NULL);
	/* An overlay does not end with NUL. */
	content = text ? g_strndup(g_bytes_get_data(text, NULL), g_bytes_get_size(text))
	               : NULL;
	lines = g_strsplit(content ? content : "", "\n", -1);
	for (char **line = lines; *line; line++)
		read_line(&reader, *line);
	finish_block(&reader);
	g_strfreev(reader.head);
	if (!reader.rules->guesses)
		fail(reader.line, "no block: guess", "");
	return reader.rules;
}

/* @return the rules, which are read once and stay */
static const struct rules *
get_rules(void)
{
	static GOnce once = G_ONCE_INIT;

	return g_once(&once, load_rules, NULL);
}

/* ---- classes ---- */

/* Remove the accents of Latin and Cyrillic letters; other marks change the meaning. */
static char *
strip_accents(const char *text)
{
	g_autofree char *decomposed = g_utf8_normalize(text, -1, G_NORMALIZE_NFD);
	g_autoptr(GString) plain = g_string_new(NULL);

	for (const char *at = decomposed; *at; at = g_utf8_next_char(at)) {
		gunichar c = g_utf8_get_char(at);

		if (c == 0x142) /* has no decomposition */
			g_string_append_c(plain, 'l');
		else if (c < 0x300 || c > 0x36f)
			g_string_append_unichar(plain, c);
	}
	return g_utf8_normalize(plain->str, -1, G_NORMALIZE_NFKC);
}

/* @param text  taken @return text if the matcher reached a limit */
static char *
replace(const GRegex *regex, char *text, const char *by)
{
	char *replaced = g_regex_replace_literal(regex, text, -1, 0, by, 0, NULL);

	if (!replaced)
		return text;
	g_free(text);
	return replaced;
}

static char *
normalize(const struct rules *rules, const char *text)
{
	g_autofree char *valid =
	    g_utf8_make_valid(text, (gssize)strnlen(text, TEXT_BYTES));
	g_autofree char *lower = g_utf8_strdown(valid, -1);
	char *plain = strip_accents(lower);

	for (guint i = 0; i < rules->replacements->len; i++) {
		const struct replacement *replacement =
		    &g_array_index(rules->replacements, struct replacement, i);

		plain = replace(replacement->words, plain, replacement->by);
	}
	return plain;
}

static bool
is_early(const struct bounce_refusal *refusal)
{
	return refusal->stage > SMTP_STAGE_NONE && refusal->stage < SMTP_STAGE_RCPT;
}

/*
 * Whether the recipient was refused, and not the message: in reply to RCPT, by an
 * enhanced code about an address, or in a report that does not say when.
 */
static bool
is_of_recipient(const struct bounce_refusal *refusal, const char *status)
{
	if (is_early(refusal))
		return false;
	if (refusal->stage == SMTP_STAGE_RCPT)
		return true;
	if (fnmatch("?.1.[0-6]", status, 0) == 0 || strcmp(status, "5.1.10") == 0 ||
	    fnmatch("?.2.[01]", status, 0) == 0 || strcmp(status, "5.5.0") == 0 ||
	    strcmp(status, "5.4.1") == 0) /* the last two by Exchange Online */
		return true;
	if (refusal->stage != SMTP_STAGE_NONE)
		return false;
	/* "5.3.0 ... 550 Unknown user": the agent reports another failure. */
	return refusal->code != 0 && !(*status && strchr("346", status[2]));
}

/* @return the bits of enum when that hold */
static unsigned
find_conditions(const struct bounce_refusal *refusal, const char *status)
{
	const bool is_recipient = is_of_recipient(refusal, status);
	const bool has_reply = refusal->stage != SMTP_STAGE_NONE || refusal->code != 0;

	return (is_recipient ? RECIPIENT : 0) |
	       (is_recipient || !has_reply ? LOCAL : 0) |
	       (is_recipient || !(has_reply || *status) ? PLAIN : 0) |
	       (refusal->code / 100 != 4 ? LASTING : 0) |
	       (fnmatch("?.7.*", status, 0) != 0 ? NO_POLICY : 0) |
	       (refusal->code != 0 || *status ? REPLY : 0) |
	       (is_early(refusal) ? EARLY : LATE);
}

static bool
rule_matches(const struct rule *rule, const struct bounce_refusal *refusal,
    const char *status, const char *text)
{
	char code[G_ASCII_DTOSTR_BUF_SIZE];

	g_snprintf(code, sizeof(code), "%d", refusal->code);
	if (rule->code && fnmatch(rule->code, code, 0) != 0)
		return false;
	if (rule->status && fnmatch(rule->status, status, 0) != 0)
		return false;
	return !rule->words || g_regex_match(rule->words, text, 0, NULL);
}

struct bounce_verdict
bounce_classify(const struct bounce_refusal *refusal)
{
	const struct rules *rules = get_rules();
	const char *status = refusal->status ? refusal->status : "";
	const unsigned conditions = find_conditions(refusal, status);
	g_autofree char *plain = normalize(rules, refusal->text ? refusal->text : "");
	g_autofree char *certain = replace(rules->guesses, g_strdup(plain), " ");

	for (guint i = 0; i < rules->rules->len; i++) {
		const struct rule *rule = &g_array_index(rules->rules, struct rule, i);
		bool is_of_address =
		    rule->class == BOUNCE_DEAD || rule->class == BOUNCE_FULL;

		if ((rule->when & ~conditions) == 0 &&
		    rule_matches(
		        rule, refusal, status, is_of_address ? certain : plain))
			return (struct bounce_verdict){
			    rule->class, rule->fault, rule->name};
	}
	return (struct bounce_verdict){BOUNCE_UNKNOWN, BOUNCE_FAULT_NONE, "none"};
}

static const char *const names[] = {
    [BOUNCE_UNKNOWN] = "unknown",
    [BOUNCE_DEAD] = "dead",
    [BOUNCE_FULL] = "full",
    [BOUNCE_TEMPORARY] = "temporary",
    [BOUNCE_SENDER] = "sender",
    [BOUNCE_COMPLAINT] = "complaint",
    [BOUNCE_AUTO] = "auto",
    [BOUNCE_DELIVERED] = "delivered",
};

const char *bounce_class_get_name(enum bounce_class class)
{
	return names[class];
}
