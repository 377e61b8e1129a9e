/*
 * web_call.c - what the requests of the page share: limits, fields, messages, values.
 */
#include "service/web/web_private.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "base/token.h"
#include "service/inbound/handler_request.h"
#include "service/log/event.h"
#include "service/people/filters.h"
#include "transport/token_bucket.h"

/* ---- limits ---- */

/* Forms of a client network in the hour since the first of them.  It is kept for this
 * hour, in memory only, and as an HMAC. */
struct window {
	char *key;
	int64_t since;
	int count;
};

struct web_budget {
	GMutex lock;
	/* Under the lock. */
	struct token_bucket buckets[WEB_LIMITS];
	GHashTable *windows; /* by key */
	GQueue order;        /* of windows, oldest first */
};

static void
window_free(gpointer data)
{
	struct window *window = data;

	g_free(window->key);
	g_free(window);
}

struct web_budget *
web_budget_new(unsigned tests_per_hour)
{
	struct web_budget *budget = g_new0(struct web_budget, 1);

	g_mutex_init(&budget->lock);
	for (size_t i = 0; i < G_N_ELEMENTS(budget->buckets); i++)
		token_bucket_init(&budget->buckets[i], tests_per_hour, CLOCK_HOUR_S);
	budget->windows = g_hash_table_new(g_str_hash, g_str_equal);
	g_queue_init(&budget->order);
	return budget;
}

void
web_budget_free(struct web_budget *budget)
{
	if (!budget)
		return;
	g_hash_table_unref(budget->windows);
	g_queue_clear_full(&budget->order, window_free);
	g_mutex_clear(&budget->lock);
	g_free(budget);
}

bool
web_take_test(struct web_call *call, enum web_limit limit)
{
	struct web_budget *budget = call->handler->budget;
	struct token_bucket *bucket = budget ? &budget->buckets[limit] : NULL;
	int64_t now = call->handler->options.now;
	bool is_left;

	if (!budget)
		return true;
	g_mutex_lock(&budget->lock);
	is_left = token_bucket_get_available(bucket, now, 1) > 0;
	if (is_left)
		token_bucket_take(bucket, now);
	g_mutex_unlock(&budget->lock);
	if (!is_left) {
		call->status = WEB_STATUS_LIMITED;
		web_add_phrase(call, "error",
		    N_("There are too many requests at the moment. Please try again in "
		       "a minute."));
	}
	return is_left;
}

bool
web_take_own_test(struct web_call *call, const struct subscriber *subscriber)
{
	int64_t number = subscriber->id % (WEB_LIMITS - WEB_LIMIT_SUBSCRIBERS);

	return web_take_test(call, (enum web_limit)(WEB_LIMIT_SUBSCRIBERS + number));
}

/* Remove windows that have ended, and the oldest one if there is no room. */
static void
prune_windows(struct web_budget *budget, int64_t now)
{
	struct window *oldest;

	while ((oldest = g_queue_peek_head(&budget->order)) &&
	       (oldest->since > now || oldest->since + CLOCK_HOUR_S <= now ||
	           budget->order.length >= WEB_NETWORKS)) {
		g_hash_table_remove(budget->windows, oldest->key);
		window_free(g_queue_pop_head(&budget->order));
	}
}

/* @return how many forms the network of a request has posted, with this one */
static int
count_form(struct web_call *call)
{
	const struct handler_options *options = &call->handler->options;
	struct web_budget *budget = call->handler->budget;
	g_autofree char *key =
	    token_hash_string(options->key, "limit-network", call->request->network);
	struct window *window;
	int count;

	g_mutex_lock(&budget->lock);
	prune_windows(budget, options->now);
	window = g_hash_table_lookup(budget->windows, key);
	if (!window) {
		window = g_new0(struct window, 1);
		window->key = g_steal_pointer(&key);
		window->since = options->now;
		g_hash_table_insert(budget->windows, window->key, window);
		g_queue_push_tail(&budget->order, window);
	}
	count = MIN(window->count, G_MAXINT - 1) + 1;
	window->count = count;
	g_mutex_unlock(&budget->lock);
	return count;
}

void
web_refuse_form(struct web_call *call, const char *reason)
{
	const char *address =
	    call->handler->options.own_addresses->commands.address.text;

	if (reason)
		event_log_committed(call->handler->store, EVENT_REPLY_SUPPRESSED,
		    EVENT_WORD("actor", "web"), EVENT_WORD("reason", reason));
	call->status = WEB_STATUS_LIMITED;
	web_add_phrase(call, "error",
	    N_("The form has had too many requests in the last hour. Please try again "
	       "later, or\n"
	       "write a mail with the subject \"subscribe\" to {address}."),
	    "address", address);
}

/* To be called outside of the transaction, which may run twice. */
bool
web_take_form(struct web_call *call)
{
	const int most = call->handler->options.settings->limit_forms_per_network_hour;
	int count =
	    call->handler->budget && *call->request->network ? count_form(call) : 0;

	/* A flood is one line in the log. */
	if (count > most)
		web_refuse_form(
		    call, count == most + 1 ? "forms-per-network-hour" : NULL);
	return count <= most;
}

/* ---- fields ---- */

char *
web_get_line(const struct web_call *call, const char *name)
{
	char *line = g_strdup(web_get(call, name));

	return g_strstrip(g_strdelimit(line, "\n", ' '));
}

unsigned
web_get_number(const struct web_call *call, const char *name, unsigned most)
{
	g_autofree char *text = web_get_line(call, name);
	guint64 number;

	return g_ascii_string_to_unsigned(text, 10, 1, most, &number, NULL)
	           ? (unsigned)number
	           : 0;
}

/* ---- forms ---- */

/* @param key  one key */
static char *
format_csrf(const struct web_call *call, GBytes *key, const char *page, int64_t day)
{
	struct token_signer *signer = token_signer_new(key);
	g_autofree char *text =
	    g_strdup_printf("%s/%s/%" G_GINT64_FORMAT, page, call->request->token, day);
	char *token = token_signer_derive_text(signer, "web-form", text);

	token_signer_free(signer);
	return token;
}

void
web_add_csrf(struct web_call *call, const char *page)
{
	const struct handler_options *options = &call->handler->options;
	g_autoptr(GBytes) key = token_get_key(options->key, 0);
	g_autofree char *token =
	    format_csrf(call, key, page, options->now / CLOCK_DAY_S);

	web_values_add(call->values, "csrf", token);
}

bool
web_check_csrf(const struct web_call *call, const char *page)
{
	const struct handler_options *options = &call->handler->options;
	const char *given = web_get(call, "csrf");
	int64_t today = options->now / CLOCK_DAY_S;
	bool is_valid = false;

	for (unsigned i = 0; i < token_count_keys(options->key); i++)
		for (int64_t day = today - 1; day <= today; day++) {
			g_autoptr(GBytes) key = token_get_key(options->key, i);
			g_autofree char *token = format_csrf(call, key, page, day);

			is_valid |= token_is_equal(given, token);
		}
	return is_valid;
}

/* ---- results ---- */

bool
web_refuse(struct web_call *call, enum web_status status)
{
	call->status = status;
	call->page = WEB_PAGE_NONE;
	return true;
}

/* @param filter  with an error at column, or NULL */
static void
add_message(struct web_call *call, const char *kind, const char *text,
    const char *field, const char *filter, unsigned column)
{
	GVariantBuilder *message = web_values_new();

	web_values_add(message, "kind", kind);
	web_values_add(message, "text", text);
	web_values_add(message, "field", field);
	if (filter) {
		web_values_add(message, "line", filter);
		web_values_add_number(message, "column", column);
	}
	web_list_add(call->messages, message);
}

void
web_add_message(
    struct web_call *call, const char *kind, const char *text, const char *field)
{
	add_message(call, kind, text, field, NULL, 0);
}

/* Errors that only the field "name" of a form can have. */
static const char *const name_errors[] = {TEXT_LINE_EMPTY, TEXT_LINE_LONG,
    TEXT_LINE_UTF8, TEXT_LINE_CONTROL, FILTERS_NAME_NUMBER, FILTERS_NAME_TAKEN, NULL};

/* @param field  of other errors, or NULL */
static const char *
find_field(const struct reply_result *result, const char *field)
{
	if (result->filter)
		return "filter";
	if (strcmp(result->kind, "error") != 0)
		return NULL;
	if (result->message && g_strv_contains(name_errors, result->message))
		return "name";
	return field;
}

void
web_add_results(struct web_call *call, const GPtrArray *results, const char *field)
{
	for (unsigned i = 0; results && i < results->len; i++) {
		const struct reply_result *result = results->pdata[i];

		add_message(call, result->kind, result->text, find_field(result, field),
		    result->filter, result->column);
	}
}

bool
web_add_error(
    struct web_call *call, const char *field, GError **problem, GError **error)
{
	const struct msg *msg = pb_error_get_msg(*problem);
	g_autofree char *text = NULL;

	if ((*problem)->domain != PB_ERROR ||
	    ((*problem)->code != PB_ERROR_INPUT && (*problem)->code != PB_ERROR_LIMIT))
		return pb_error_forward(error, problem);
	text = msg ? reply_text_format_msg(&call->text, msg)
	           : g_strdup((*problem)->message);
	web_add_message(call, "error", text, field);
	g_clear_error(problem);
	return true;
}

bool
web_add_filter_error(struct web_call *call, const char *filter,
    const struct query_error *problem, GError **wrong, GError **error)
{
	g_autofree char *message = NULL, *text = NULL;

	if (!problem->message)
		return web_add_error(call, "filter", wrong, error);
	message = reply_text_format_msg(&call->text, problem->message);
	text = reply_text_format(&call->text, N_("column {column}: {message}"),
	    "column", MSG_INT(problem->column), "message", message);
	add_message(call, "error", text, "filter", filter, problem->column);
	return true;
}

/* ---- processing ---- */

void
web_init_request(struct web_call *call, const char *language, struct request *request)
{
	handler_request_init(request, call->handler->store, &call->handler->options,
	    call->help, "web", call->report);
	request->language = language;
}

void
web_set_language(struct web_call *call, const char *language)
{
	const struct catalog *catalog = call->handler->options.phrases;

	if (*call->request->language || !*language ||
	    !catalog_has_language(catalog, language))
		return;
	g_strlcpy(call->language, language, sizeof(call->language));
	call->text.language = call->language;
}

/* ---- values of a page: names with texts, flags and lists ---- */

GVariantBuilder *
web_values_new(void)
{
	return g_variant_builder_new(G_VARIANT_TYPE_VARDICT);
}

void
web_values_add(GVariantBuilder *values, const char *name, const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text ? text : "", -1);

	g_variant_builder_add(values, "{sv}", name, g_variant_new_string(valid));
}

void
web_values_add_number(GVariantBuilder *values, const char *name, int64_t number)
{
	g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, number);

	web_values_add(values, name, text);
}

void
web_values_add_flag(GVariantBuilder *values, const char *name, bool is_set)
{
	g_variant_builder_add(values, "{sv}", name, g_variant_new_boolean(is_set));
}

GVariantBuilder *
web_list_new(void)
{
	return g_variant_builder_new(G_VARIANT_TYPE("aa{sv}"));
}

void
web_list_add(GVariantBuilder *list, GVariantBuilder *item)
{
	g_variant_builder_add_value(list, g_variant_builder_end(item));
	g_variant_builder_unref(item);
}

void
web_values_take(GVariantBuilder *values, const char *name, GVariantBuilder *inner)
{
	g_variant_builder_add(values, "{sv}", name, g_variant_builder_end(inner));
	g_variant_builder_unref(inner);
}
