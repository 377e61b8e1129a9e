/*
 * conversation.c - mail in, reply out: a handler with a store, and tables of
 * conversations.
 */
#include "conversation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/token.h"
#include "cases.h"
#include "service/setup/factory.h"

/* The mail server whose results are believed without subaddresses. */
#define OWN_SERVER "mx.example.org"

GString *conversation_calls;
const char *conversation_delimiter = "+";

static void
fill(void *data, void *to, size_t size)
{
	struct conversation *conversation = data;
	uint8_t *bytes = to;

	memset(bytes, 0, size);
	bytes[0] = ++conversation->last_random;
	bytes[1] = (uint8_t)(conversation->options.now & 0xff);
	bytes[2] = (uint8_t)(conversation->options.now >> 8 & 0xff);
	bytes[3] = (uint8_t)(conversation->options.now >> 16 & 0xff);
}

void
conversation_set(char **setting, const char *text)
{
	g_free(*setting);
	*setting = g_strdup(text);
}

struct conversation *
conversation_new(void)
{
	static struct catalog *phrases;
	struct conversation *conversation = g_new0(struct conversation, 1);
	struct settings *settings = settings_new();
	GError *error = NULL;

	conversation->fixture = store_fixture_new();
	conversation->settings = settings;
	conversation_set(&settings->mail_from, HOME);
	conversation_set(&settings->mail_owner, "owner@example.org");
	conversation_set(&settings->commands_address, HOME);
	conversation_set(&settings->commands_delimiter, conversation_delimiter);
	if (!*conversation_delimiter)
		conversation_set(&settings->commands_authserv_id, OWN_SERVER);
	conversation->own_addresses = own_addresses_new(settings, &error);
	g_assert_no_error(error);
	if (!phrases)
		phrases = catalog_load(NULL, &error);
	g_assert_no_error(error);
	conversation->random = (struct random_source){fill, conversation};
	conversation->sources = factory_new_sources(settings);
	conversation->options = (struct handler_options){
	    .settings = settings,
	    .own_addresses = conversation->own_addresses,
	    .sources = conversation->sources,
	    .phrases = phrases,
	    .key = conversation->fixture->key,
	    .random = &conversation->random,
	    .now = store_fixture_time(CONVERSATION_NOW),
	};
	conversation->saved =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	if (conversation_calls)
		g_string_truncate(conversation_calls, 0);
	return conversation;
}

void
conversation_free(struct conversation *conversation)
{
	store_fixture_assert_idle(conversation->fixture);
	own_addresses_free(conversation->own_addresses);
	g_ptr_array_unref(conversation->sources);
	settings_free(conversation->settings);
	g_hash_table_unref(conversation->saved);
	store_fixture_free(conversation->fixture);
	g_free(conversation);
}

/* The parts that settings select are loaded once by a program. */
static struct renderer *
load_renderer(const struct conversation *conversation)
{
	static GHashTable *loaded;
	const struct settings *settings = conversation->settings;
	g_autofree char *name = g_strjoin(" ", settings->commands_address,
	    settings->commands_delimiter, settings->web_url, settings->mail_from, NULL);
	struct renderer *renderer;
	GError *error = NULL;

	if (!loaded)
		loaded = g_hash_table_new(g_str_hash, g_str_equal);
	renderer = g_hash_table_lookup(loaded, name);
	if (!renderer) {
		renderer =
		    factory_new_renderer(settings, conversation->fixture->key, &error);
		g_assert_no_error(error);
		g_hash_table_insert(loaded, g_steal_pointer(&name), renderer);
	}
	return renderer;
}

void
conversation_load_templates(struct conversation *conversation)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *templates =
	    g_build_filename(top ? top : ".", "etc", "templates", NULL);

	conversation_set(&conversation->settings->template_dir, templates);
	conversation->renderer = load_renderer(conversation);
	conversation->options.renderer = conversation->renderer;
}

void
conversation_subscribe(struct conversation *conversation, const char *address)
{
	store_fixture_subscribe(conversation->fixture, address, "UTC", NULL,
	    conversation->options.now - DAY);
}

struct inmail *
conversation_new_mail(const char *from, const char *subject, const char *text)
{
	struct inmail *mail = inmail_new();

	conversation_add_address(mail->from, from);
	mail->from_fields = 1;
	conversation_set(&mail->subject, subject);
	conversation_set(&mail->message_id, "made-up@mail.example.com");
	conversation_set(&mail->text, text);
	conversation_set(&mail->body, text);
	mail->source = INMAIL_SOURCE_PLAIN;
	mail->received = 1;
	return mail;
}

void
conversation_add_field(struct inmail *mail, const char *field)
{
	g_auto(GStrv) parts = g_strsplit(field, ": ", 2);

	g_ptr_array_add(mail->marks, inmail_field_new(parts[0], parts[1]));
}

void
conversation_add_address(GPtrArray *list, const char *address)
{
	g_ptr_array_add(list, inmail_address_new(address, NULL));
}

void
conversation_add_result(struct inmail *mail, const char *server, const char *method,
    const char *result, const char *properties)
{
	struct auth_results *field = auth_results_new("made up");

	g_free(field->server);
	field->server = g_ascii_strdown(server, -1);
	g_ptr_array_add(field->results, auth_result_new(method, result, properties));
	g_ptr_array_add(mail->authentications, field);
}

void
conversation_add_pass(struct inmail *mail, const char *server)
{
	const struct inmail_address *from = mail->from->pdata[0];
	g_autofree char *domain =
	    g_strconcat("header.from=", strchr(from->address, '@') + 1, NULL);

	conversation_add_result(mail, server, "dmarc", "pass", domain);
}

static bool
has_subaddresses(const struct conversation *conversation)
{
	return conversation->own_addresses->commands.delimiter;
}

static bool
parse_subaddress(const char *address, enum subaddress_kind *kind, char **token)
{
	pb_local(subaddress_base) base = {0};

	g_assert_true(subaddress_base_parse(HOME, "+", &base, NULL));
	return subaddress_parse(&base, address, kind, token);
}

/* A Message-ID proves nothing alone. */
static void
sign(struct inmail *mail)
{
	const struct inmail_address *from = mail->from->pdata[0];
	g_autofree char *domain =
	    g_strconcat("header.d=", strchr(from->address, '@') + 1, NULL);

	if (!mail->authentications->len)
		conversation_add_result(mail, OWN_SERVER, "dkim", "pass", domain);
}

/* A reply names the newest mail to its sender, and without subaddresses the token. */
static void
add_parent(struct conversation *conversation, struct inmail *mail, const char *token)
{
	const struct inmail_address *from = mail->from->pdata[0];
	g_autofree char *message =
	    conversation_get_message(conversation, from->address);

	if (!mail->in_reply_to->len)
		g_ptr_array_add(mail->in_reply_to,
		    g_strdup_printf("%s%s%s@example.org", message,
		        has_subaddresses(conversation) ? "" : ".",
		        has_subaddresses(conversation) ? "" : token));
}

/* Put the token of an address elsewhere, but for subaddresses. @return whether it has
 * one
 */
static bool
move_token(struct conversation *conversation, struct inmail *mail, const char *address)
{
	g_autofree char *token = NULL;
	enum subaddress_kind kind;

	if (address && *address == '<') {
		sign(mail);
		g_ptr_array_add(
		    mail->in_reply_to, g_strndup(address + 1, strlen(address) - 2));
		return true;
	}
	if (!address || !parse_subaddress(address, &kind, &token) || !*token)
		return false;
	if (kind == SUBADDRESS_REPLY)
		add_parent(conversation, mail, token);
	if (has_subaddresses(conversation))
		return false;
	if (kind == SUBADDRESS_REPLY) {
		sign(mail);
	} else if (kind == SUBADDRESS_BOUNCE) {
		g_ptr_array_add(
		    mail->returned, inmail_field_new(SUBADDRESS_BOUNCE_FIELD, token));
	} else {
		g_autofree char *tag = subaddress_format_tag(kind, token);
		g_autofree char *bare = mail->subject;

		mail->subject = g_strdup_printf("%s %s", bare, tag);
	}
	return true;
}

/* @param mail  changed without subaddresses */
/* A message in its transaction. */
struct handling {
	struct conversation *conversation;
	const struct inmail *mail;
	const struct receive_mail *envelope;
	gsize calls;                  /* length of conversation_calls before it */
	struct handler_report report; /* set */
};

static bool
handle(struct store *store, void *data, GError **error)
{
	struct handling *handling = data;

	if (conversation_calls)
		g_string_truncate(conversation_calls, handling->calls);
	handling->report = (struct handler_report){0};
	return handler_run(store, &handling->conversation->options, handling->mail,
	    handling->envelope, &handling->report, error);
}

struct handler_report
conversation_hand_in(struct conversation *conversation, const struct inmail *mail,
    const char *sender, const char *recipient)
{
	bool is_moved = move_token(conversation, (struct inmail *)mail, recipient);
	const struct receive_mail envelope = {
	    .id = 1, .sender = sender, .recipient = is_moved ? HOME : recipient};
	struct handling handling = {conversation, mail, &envelope,
	    conversation_calls ? conversation_calls->len : 0, {0}};
	GError *error = NULL;

	store_transact(conversation->fixture->store, handle, &handling, &error);
	g_assert_no_error(error);
	return handling.report;
}

char *
conversation_get_message(struct conversation *conversation, const char *address)
{
	g_autofree char *sql = g_strdup_printf(
	    "SELECT substr(text, instr(text, 'Message-ID: <') + 13, 100) FROM"
	    " (SELECT id, CAST(message AS TEXT) AS text FROM outbox"
	    " WHERE lower(recipient) = lower('%s')) ORDER BY id DESC LIMIT 1",
	    address);
	g_autofree char *row = store_fixture_text(conversation->fixture, sql);
	g_auto(GStrv) parts = g_strsplit_set(row, ".@", 3);

	return *row ? g_strconcat(parts[0], ".", parts[1], NULL)
	            : g_strdup("letter.made-up");
}

int64_t
conversation_count_mails(struct conversation *conversation)
{
	return store_fixture_number(
	    conversation->fixture, "SELECT count(*) FROM outbox");
}

char *
conversation_get_mail(struct conversation *conversation)
{
	return store_fixture_text(conversation->fixture,
	    "SELECT CAST(message AS TEXT) FROM outbox ORDER BY id DESC LIMIT 1");
}

char *
conversation_find_sender(struct conversation *conversation, int64_t outbox_id)
{
	static const char field[] = "\r\n" SUBADDRESS_BOUNCE_FIELD ": ";
	g_autofree char *sql = g_strdup_printf(
	    "SELECT sender, CAST(message AS TEXT) FROM outbox WHERE id = %" PRId64,
	    outbox_id);
	g_autofree char *row = store_fixture_text(conversation->fixture, sql);
	const char *at = strstr(row, field);
	g_autofree char *token = NULL;

	g_assert_true(has_subaddresses(conversation) != (at != NULL));
	if (!at)
		return g_strndup(row, strcspn(row, "|"));
	g_assert_true(g_str_has_prefix(row, HOME "|"));
	at += strlen(field);
	token = g_strndup(at, strcspn(at, "\r"));
	return g_strdup_printf("paperboy+b-%s@example.org", token);
}

char *
conversation_format_leave(struct conversation *conversation, GBytes *key, int64_t id)
{
	int64_t since = store_fixture_number(conversation->fixture,
	    "SELECT created_at FROM subscriber ORDER BY id LIMIT 1");
	g_autofree char *token = token_sign(key, SUBADDRESS_TOKEN_LEAVE, id, since);

	return g_strdup_printf("paperboy+u-%s@example.org", token);
}

/* Append $name or #name. @return its length, 0: not saved */
static size_t
expand_name(struct conversation *conversation, const char *at, GString *to)
{
	size_t length = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz");
	g_autofree char *name = g_strndup(at + 1, length);
	const char *saved = g_hash_table_lookup(conversation->saved, name);

	if (!saved)
		return 0;
	if (*at == '$')
		g_string_append(to, saved);
	else
		g_string_append_len(
		    to, saved + strlen("paperboy+c-"), TOKEN_RANDOM_LENGTH);
	return length + 1;
}

static char *
expand(struct conversation *conversation, const char *text)
{
	GString *result = g_string_new(NULL);

	for (const char *at = text; *at;) {
		size_t length = *at == '$' || *at == '#'
		                    ? expand_name(conversation, at, result)
		                    : 0;

		if (length == 0)
			g_string_append_c(result, *at++);
		at += length;
	}
	return g_string_free(result, FALSE);
}

enum handler_outcome
conversation_send(struct conversation *conversation, const char *from,
    const char *recipient, const char *subject)
{
	pb_auto(inmail) mail = conversation_new_mail(from, subject, "");
	g_autofree char *to = expand(conversation, recipient);

	return conversation_hand_in(conversation, mail, from, to).outcome;
}

static void
send_mail(struct conversation *conversation, const struct step *step)
{
	g_autofree char *to = expand(conversation, step->recipient);
	g_autofree char *subject = expand(conversation, step->subject);
	g_autofree char *text = expand(conversation, step->text ? step->text : "");
	pb_auto(inmail) mail = conversation_new_mail(step->sender, subject, text);
	struct handler_report report;
	g_autofree char *verdict = NULL;

	if (step->field)
		conversation_add_field(mail, step->field);
	if (step->authserv)
		conversation_add_pass(mail, step->authserv);
	if (conversation_calls)
		g_string_truncate(conversation_calls, 0);
	report = conversation_hand_in(
	    conversation, mail, step->envelope ? step->envelope : step->sender, to);
	verdict = handler_format_verdict(&report);
	g_test_message("'%s' from %s", subject, step->sender);
	g_assert_cmpstr(verdict, ==, step->verdict);
	if (step->calls)
		conversation_assert_calls(step->calls);
}

/* Find what stands for Reply-To. @return as with subaddresses; NULL: no token */
static char *
find_token(const char *mail)
{
	g_autoptr(GRegex) regex =
	    g_regex_new("\\[(c-[a-z2-7]+)\\]\r$|"
	                "^Message-ID: <letter[.][a-z0-9]+[.]([a-z2-7]+)@",
	        G_REGEX_MULTILINE, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;
	g_autofree char *confirm = NULL;
	g_autofree char *reply = NULL;

	if (!g_regex_match(regex, mail, 0, &match))
		return NULL;
	confirm = g_match_info_fetch(match, 1);
	reply = g_match_info_fetch(match, 2);
	return reply && *reply ? g_strdup_printf("paperboy+r-%s@example.org", reply)
	                       : g_strdup_printf("paperboy+%s@example.org", confirm);
}

static void
save(struct conversation *conversation, const char *name, const char *start)
{
	g_autofree char *mail = conversation_get_mail(conversation);
	g_autofree char *address =
	    has_subaddresses(conversation) ? NULL : find_token(mail);
	const char *at = strstr(mail, start);

	if (address && *start == '\r') {
		g_hash_table_insert(
		    conversation->saved, g_strdup(name), g_steal_pointer(&address));
		return;
	}

	g_assert_nonnull(at);
	at += *start == '\r' ? strlen(start) : 0;
	g_hash_table_insert(
	    conversation->saved, g_strdup(name), g_strndup(at, strcspn(at, "\r\n")));
}

static void
assert_text(struct conversation *conversation, const char *part, bool has_it)
{
	g_autofree char *mail = conversation_get_mail(conversation);

	if (has_it != (strstr(mail, part) != NULL))
		g_error("'%s' is %s: %s", part, has_it ? "not in" : "in", mail);
}

static void
take_step(struct conversation *conversation, const struct step *step)
{
	g_autofree char *text = step->text ? expand(conversation, step->text) : NULL;

	conversation->options.now += step->seconds;
	switch (step->kind) {
	case STEP_END:
	case STEP_TITLE:
	case STEP_LATER:
		break;
	case STEP_MAIL:
		send_mail(conversation, step);
		break;
	case STEP_SAVE:
		save(conversation, step->subject, step->text);
		break;
	case STEP_ROWS:
		assert_rows(conversation->fixture, text, step->subject);
		break;
	case STEP_RUN:
		store_fixture_run(conversation->fixture, text);
		break;
	case STEP_HAS:
	case STEP_HAS_NOT:
		assert_text(conversation, text, step->kind == STEP_HAS);
		break;
	case STEP_CALL:
		step->call(conversation);
		break;
	case STEP_LET:
		g_hash_table_insert(
		    conversation->saved, g_strdup(step->subject), g_strdup(step->text));
		break;
	}
}

void
conversation_play(struct conversation *conversation, const struct step *steps)
{
	for (; steps->kind != STEP_END && steps->kind != STEP_TITLE; steps++)
		for (unsigned i = 0; i < MAX(steps->times, 1); i++)
			take_step(conversation, steps);
}

/* The steps before the first title of the script. */
static const struct step *first_steps;

static void
play_test(const void *data)
{
	const struct step *title = data;
	pb_auto(conversation) conversation = conversation_new();

	conversation_play(conversation, first_steps);
	conversation_play(conversation, title + 1);
}

static void
play_without(const void *data)
{
	conversation_delimiter = "";
	play_test(data);
	conversation_delimiter = "+";
}

static void
run_without(const void *data)
{
	void (*const *function)(void) = data;

	conversation_delimiter = "";
	(*function)();
	conversation_delimiter = "+";
}

/* Several recipients are subaddresses, too. */
static bool
names_subaddress(const char *text)
{
	const char *at = text ? strstr(text, "paperboy+") : NULL;

	return at && !g_str_has_prefix(at, "paperboy+r-#") &&
	       !g_str_has_prefix(at, "paperboy+u-#");
}

static bool
is_about_subaddresses(const struct step *steps)
{
	for (; steps->kind != STEP_END && steps->kind != STEP_TITLE; steps++)
		if (names_subaddress(steps->recipient) ||
		    names_subaddress(steps->text) ||
		    (steps->recipient && strchr(steps->recipient, '\n')))
			return true;
	return false;
}

/* Fields that a step can have without naming them. */
#define FIELDS_MIN 6

static int64_t
read_seconds(const char *text)
{
	char *end;
	int64_t count = g_ascii_strtoll(text, &end, 10);

	return count * (*end == 'd' ? DAY : *end == 'h' ? HOUR : 1);
}

/* @param option  "NAME=VALUE" */
static void
read_option(struct step *step, char *option)
{
	struct {
		const char *name, **text;
	} texts[] = {{"text", &step->text}, {"field", &step->field},
	    {"envelope", &step->envelope}, {"authserv", &step->authserv}};
	char *value = strchr(option, '=') + 1;

	value[-1] = '\0';
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		if (strcmp(option, texts[i].name) == 0)
			*texts[i].text = value;
	if (strcmp(option, "seconds") == 0)
		step->seconds = read_seconds(value);
	else if (strcmp(option, "times") == 0)
		step->times = (unsigned)atoi(value);
}

static struct step
read_mail(char **field)
{
	struct step step = MAIL(field[1], field[2], field[3], field[4], field[5]);

	for (field += 6; *field; field++)
		read_option(&step, *field);
	return step;
}

static struct step
find_call(const char *name, const struct conversation_call *calls)
{
	while (calls->name && strcmp(calls->name, name) != 0)
		calls++;
	if (!calls->name)
		g_error("no function %s", name);
	return (struct step){.kind = STEP_CALL, .call = calls->call};
}

/* @param field  kept @return a step of the kind STEP_END for an unknown word */
static struct step
read_step(char **field, const struct conversation_call *calls)
{
	const struct {
		const char *word;
		struct step step;
	} words[] = {
	    {"title", {.kind = STEP_TITLE, .subject = field[1]}},
	    {"save", SAVE(field[1])},
	    {"save_undo", SAVE_UNDO(field[1])},
	    {"let", {.kind = STEP_LET, .subject = field[1], .text = field[2]}},
	    {"rows", ROWS(field[1], field[2])},
	    {"run", RUN(field[1])},
	    {"has", HAS(field[1])},
	    {"has_not", HAS_NOT(field[1])},
	};

	if (strcmp(field[0], "mail") == 0)
		return read_mail(field);
	if (strcmp(field[0], "call") == 0)
		return find_call(field[1], calls);
	if (strcmp(field[0], "later") == 0)
		return (struct step){
		    .kind = STEP_LATER, .seconds = read_seconds(field[1])};
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (strcmp(field[0], words[i].word) == 0)
			return words[i].step;
	return (struct step){0};
}

static void
add_test(const struct step *title)
{
	g_autofree char *path = g_strconcat("/", title->subject, NULL);
	g_autofree char *without = g_strconcat(path, ", without subaddresses", NULL);

	g_test_add_data_func(path, title, play_test);
	if (!is_about_subaddresses(title + 1))
		g_test_add_data_func(without, title, play_without);
}

void
conversation_add_script(const char *name, const struct conversation_call *calls)
{
	g_auto(GStrv) lines = cases_read_lines(name, "steps");
	/* Kept until the program ends, with the texts. */
	static GArray *steps;
	static GPtrArray *texts;

	steps = g_array_new(TRUE, TRUE, sizeof(struct step));
	texts = g_ptr_array_new();
	for (char **line = lines; *line; line++) {
		g_autoptr(GPtrArray) fields = g_ptr_array_new();
		struct step step;

		if (cases_split(*line, fields) == 0)
			continue;
		g_ptr_array_extend(texts, fields, NULL, NULL);
		g_ptr_array_set_size(fields, (int)MAX(fields->len, FIELDS_MIN) + 1);
		step = read_step((char **)fields->pdata, calls);
		if (step.kind == STEP_END)
			g_error("%s.steps: unknown step: %s", name, *line);
		g_array_append_val(steps, step);
	}
	first_steps = (const struct step *)steps->data;
	for (const struct step *at = first_steps; at->kind != STEP_END; at++)
		if (at->kind == STEP_TITLE)
			add_test(at);
}

void
conversation_add_functions(struct unit_test *tests)
{
	for (struct unit_test *test = tests; test; test = test->next) {
		g_autofree char *path = unit_get_path(test->name);
		g_autofree char *without =
		    g_strconcat(path, ", without subaddresses", NULL);

		g_test_add_func(path, test->run);
		g_test_add_data_func(without, &test->run, run_without);
	}
}

void
conversation_assert_calls(const char *wanted)
{
	g_assert_cmpstr(conversation_calls->str, ==, wanted);
	g_string_truncate(conversation_calls, 0);
}
