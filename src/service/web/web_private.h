/*
 * web_private.h - shared by the files of the page's handler only.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "message/web_proto.h"
#include "model/subscriber.h"
#include "query/query_error.h"
#include "service/advice/backtest.h"
#include "service/command/request.h"
#include "service/delivery/mail_token.h"
#include "service/inbound/rate_limit.h"
#include "service/web/web_handler.h"

/* A request being processed. */
struct web_call {
	const struct web_handler *handler;
	const struct web_request *request;
	struct handler_report *report;
	struct reply_text text; /* the page's language, for phrases and numbers */
	char language[8];       /* that of the text, if it was set later */
	const char *help;       /* address for help */

	/* The reply. */
	enum web_status status;
	enum web_page page;
	GVariantBuilder *values;
	GVariantBuilder *messages;
	/* A form of the preferences had no mistake: it is shown empty again. */
	bool is_done;
	int64_t offered_at; /* list the proposals made at this time, s; 0: none */
	/* An applied proposal to list again, so that it can be undone; 0: none. */
	unsigned applied;
};

/** Process a request; the reply is WEB_STATUS_OK unless set. */
typedef bool web_run_fn(struct web_call *call, GError **error);

/** Reply with a status alone, whose page paperboy-web knows. @return true */
bool web_refuse(struct web_call *call, enum web_status status);

/** Get a field of the form. @return "" if it is missing; borrowed */
#define web_get(call, name) web_request_get((call)->request, name)

/** Get a field as one line, without blanks at its ends. @return a new string */
char *web_get_line(const struct web_call *call, const char *name);

/** Parse a field. @return 0 unless it is a number from 1 to most */
unsigned web_get_number(const struct web_call *call, const char *name, unsigned most);

/**
 * Prepare a request of the handler, a pb_local().
 *
 * @param language  of mails to somebody who is not subscribed
 */
void
web_init_request(struct web_call *call, const char *language, struct request *request);

/** Set the language of the page, if the reader has not requested one. */
void web_set_language(struct web_call *call, const char *language);

/** Add a phrase as result, `kind` as in struct reply_result. */
#define web_add_phrase(call, kind, ...) \
	web_add_field_phrase(call, kind, NULL, __VA_ARGS__)
#define web_add_field_phrase(call, kind, field, ...)               \
	do {                                                       \
		g_autofree char *phrase_ =                         \
		    reply_text_format(&(call)->text, __VA_ARGS__); \
		web_add_message(call, kind, phrase_, field);       \
	} while (0)

/** @param field  name of the field with an error, or NULL */
void web_add_message(
    struct web_call *call, const char *kind, const char *text, const char *field);

/**
 * Add the results of commands.
 *
 * @param results  struct reply_result *; or NULL
 * @param field    that an error belongs to, or NULL; those of filters name theirs
 */
void
web_add_results(struct web_call *call, const GPtrArray *results, const char *field);

/**
 * Report a mistake of the user on the page.
 *
 * @param field    as above
 * @param problem  taken if it is one
 * @return false if it is another error, which is forwarded
 */
bool web_add_error(
    struct web_call *call, const char *field, GError **problem, GError **error);

/** Report an error in the field `filter`: of its syntax, else as web_add_error(). */
bool web_add_filter_error(struct web_call *call, const char *filter,
    const struct query_error *problem, GError **wrong, GError **error);

/* Limits on tests: anybody must not be able to use up those of others. */
enum web_limit {
	WEB_LIMIT_ANYBODY,
	WEB_LIMIT_SUBSCRIPTIONS,
	WEB_LIMIT_SUBSCRIBERS, /* the first of several, by the subscriber's id */
	WEB_LIMITS = WEB_LIMIT_SUBSCRIBERS + 64
};

/** Whether a limit allows one more test; else the reply says so. */
bool web_take_test(struct web_call *call, enum web_limit limit);

/** Whether the limit of a subscriber allows one more test; else the reply says so. */
bool web_take_own_test(struct web_call *call, const struct subscriber *subscriber);

/**
 * Reply that the form has had too many requests, and that mail works.
 *
 * @param reason  a keyword for the log, or NULL
 */
void web_refuse_form(struct web_call *call, const char *reason);

/** Whether the limit of forms allows one more; else the reply says so. */
bool web_take_form(struct web_call *call);

/** Test a filter: add the value `backtest`, or its error. */
bool web_add_test(
    struct web_call *call, const char *filter, int64_t subscriber_id, GError **error);

/**
 * Offer suggestions for a filter that was tested, and show them.
 *
 * @param text  valid; suggestions for another text than that of the filter with the
 *              number in the form would not be its
 */
bool web_offer_suggestions(
    struct web_call *call, const char *text, int64_t subscriber_id, GError **error);

/** Show the proposals that came together with the one in the form. */
bool web_find_answered(
    struct web_call *call, const struct subscriber *subscriber, GError **error);

/** Add the proposals to show. @param is_all  all open ones, and that just applied */
bool web_add_proposals(struct web_call *call, const struct subscriber *subscriber,
    const GPtrArray *own, bool is_all, GError **error);

/** Mail the requester, a subscriber, a link to the preferences; within a limit. */
bool web_send_link(struct web_call *call, struct request *request,
    enum rate_case rate_case, GError **error);

#define WEB_UNSUBSCRIBED \
	N_("You are unsubscribed: no more digests come. A mail confirms it.")

/** Say that the subscription has ended, and how to undo it. */
void web_add_undo(struct web_call *call);

/** Undo by the token in the field `undo`. */
bool web_run_undo(struct web_call *call, GError **error);

/**
 * Find the subscriber of the preferences' token; without one the status is set.
 *
 * @param subscriber  set; NULL if there is none; owned by the caller
 * @param expires_at  set with it, s
 */
bool web_find_subscriber(struct web_call *call, struct subscriber **subscriber,
    int64_t *expires_at, GError **error);

/** Append a field in quotation marks to a command, after a text. */
void web_append_quoted(
    struct web_call *call, GString *line, const char *before, const char *name);

/** Add `zones`, a choice of time zones. @param selected  an IANA name; added to them */
void
web_add_zones(struct web_call *call, GVariantBuilder *values, const char *selected);

void web_add_settings(struct web_call *call, const struct subscriber *subscriber);

/**
 * List the commands that change the settings to those of the form, one for each field.
 *
 * @param lines   char *, appended to
 * @param fields  their fields, const char *, appended to
 */
void web_list_changes(struct web_call *call, const struct subscriber *subscriber,
    GPtrArray *lines, GPtrArray *fields);

/** Format a backtest for the page. @param has_papers  list its papers */
GVariantBuilder *web_format_backtest(
    struct web_call *call, const struct backtest *backtest, bool has_papers);

/** Add the token for the forms of this page. */
void web_add_csrf(struct web_call *call, const char *page);

/** Whether the form came from this page, today or yesterday. */
bool web_check_csrf(const struct web_call *call, const char *page);

web_run_fn web_run_home, web_run_subscribe, web_run_confirm_show, web_run_confirm,
    web_run_leave_show, web_run_one_click, web_run_leave, web_show_preferences,
    web_run_preferences, web_run_digest, web_run_feed, web_run_search;

/* ---- values of a page: names with texts, flags and lists ---- */

/* Values are of type a{sv}. */
GVariantBuilder *web_values_new(void);

/** @param text  NULL is empty; invalid UTF-8 is replaced */
void web_values_add(GVariantBuilder *values, const char *name, const char *text);
void web_values_add_number(GVariantBuilder *values, const char *name, int64_t number);
void web_values_add_flag(GVariantBuilder *values, const char *name, bool is_set);

/* Lists are of type aa{sv}. */
GVariantBuilder *web_list_new(void);

/** @param item  taken */
void web_list_add(GVariantBuilder *list, GVariantBuilder *item);

/** @param inner  values or a list; taken */
void web_values_take(GVariantBuilder *values, const char *name, GVariantBuilder *inner);

/* ---- signed tokens in URLs of the page ----
 *
 * Each contains the number of a row (base/token.h) and is checked against values of
 * that row.  The token of an unsubscribe page is that of the address
 * (service/delivery/mail_token.h). */

/** Format the token of the feed of all filters. @param since  when feeds were turned
 * on */
char *web_token_format_feed(GBytes *key, int64_t subscriber_id, int64_t since);

char *web_token_format_filter_feed(
    GBytes *key, const struct subscription *subscription, int64_t since);
