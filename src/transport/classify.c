/*
 * classify.c - classification of SMTP replies by stage and code.
 */
#include "transport/classify.h"

#include <string.h>

#define AT(stage)  (1u << SMTP_STAGE_##stage)
#define AT_OPENING (AT(CONNECT) | AT(EHLO) | AT(STARTTLS))
#define AT_MESSAGE (AT(MAIL) | AT(RCPT) | AT(DATA) | AT(DOT))
#define AT_ANY     (AT_OPENING | AT(AUTH) | AT_MESSAGE)

#define KEEP false
#define DROP true

struct row {
	unsigned stages;      /* set of AT() */
	int from, to;         /* range of codes, inclusive */
	const char *enhanced; /* prefix of the part behind the class; "": no enhanced
	                         code; NULL: any */
	enum delivery_outcome outcome;
	enum delivery_scope scope;
	bool is_last;
};

/* clang-format off */
static const struct row rows[] = {
    {AT_ANY, 421, 421, NULL, DELIVERY_DEFERRED, DELIVERY_SCOPE_RELAY, DROP},
    {AT_OPENING, 200, 599, NULL, DELIVERY_DEFERRED, DELIVERY_SCOPE_RELAY, DROP},
    {AT(AUTH), 500, 599, NULL, DELIVERY_DEFERRED, DELIVERY_SCOPE_LOGIN, DROP},
    {AT(AUTH), 200, 499, NULL, DELIVERY_DEFERRED, DELIVERY_SCOPE_RELAY, DROP},

    /* 2yz and 3yz: acceptance of the message, or a reply out of step. */
    {AT(DOT), 200, 299, NULL, DELIVERY_SENT, DELIVERY_SCOPE_MESSAGE, KEEP},
    {AT(DOT), 300, 399, NULL, DELIVERY_UNKNOWN, DELIVERY_SCOPE_RELAY, DROP},
    {AT_MESSAGE, 200, 399, NULL, DELIVERY_DEFERRED, DELIVERY_SCOPE_RELAY, DROP},

    /* 4yz. */
    {AT(MAIL), 400, 499, "3.4", DELIVERY_DEFERRED, DELIVERY_SCOPE_MESSAGE, KEEP},
    {AT(MAIL), 400, 499, "1.", DELIVERY_DEFERRED, DELIVERY_SCOPE_MESSAGE, KEEP},
    {AT(MAIL), 400, 499, "2.", DELIVERY_DEFERRED, DELIVERY_SCOPE_MESSAGE, KEEP},
    {AT(MAIL), 400, 499, "6.", DELIVERY_DEFERRED, DELIVERY_SCOPE_MESSAGE, KEEP},
    {AT(MAIL), 400, 499, NULL, DELIVERY_DEFERRED, DELIVERY_SCOPE_RELAY, DROP},
    {AT_MESSAGE, 400, 499, "3.4", DELIVERY_DEFERRED, DELIVERY_SCOPE_MESSAGE, KEEP},
    {AT_MESSAGE, 400, 499, "3.", DELIVERY_DEFERRED, DELIVERY_SCOPE_RELAY, DROP},
    {AT(DATA) | AT(DOT), 452, 452, "", DELIVERY_DEFERRED, DELIVERY_SCOPE_RELAY, DROP},
    {AT_MESSAGE, 400, 499, NULL, DELIVERY_DEFERRED, DELIVERY_SCOPE_MESSAGE, KEEP},

    /* 5yz. */
    {AT_MESSAGE, 530, 530, NULL, DELIVERY_DEFERRED, DELIVERY_SCOPE_LOGIN, DROP},
    {AT_MESSAGE, 534, 535, NULL, DELIVERY_DEFERRED, DELIVERY_SCOPE_LOGIN, DROP},
    {AT_MESSAGE, 538, 538, NULL, DELIVERY_DEFERRED, DELIVERY_SCOPE_LOGIN, DROP},
    {AT(MAIL), 500, 500, NULL, DELIVERY_DEFERRED, DELIVERY_SCOPE_RELAY, DROP},
    {AT(MAIL), 502, 503, NULL, DELIVERY_DEFERRED, DELIVERY_SCOPE_RELAY, DROP},
    {AT(RCPT) | AT(DATA), 500, 500, NULL,
	DELIVERY_DEFERRED, DELIVERY_SCOPE_MESSAGE, DROP},
    {AT(RCPT) | AT(DATA), 502, 503, NULL,
	DELIVERY_DEFERRED, DELIVERY_SCOPE_MESSAGE, DROP},
    {AT(RCPT), 552, 552, NULL, DELIVERY_DEFERRED, DELIVERY_SCOPE_MESSAGE, KEEP},
    {AT(DATA) | AT(DOT), 552, 552, "2.2",
	DELIVERY_DEFERRED, DELIVERY_SCOPE_MESSAGE, KEEP},
    {AT(MAIL), 552, 552, NULL, DELIVERY_FAILED, DELIVERY_SCOPE_MESSAGE, KEEP},
    {AT(MAIL), 500, 599, "3.4", DELIVERY_FAILED, DELIVERY_SCOPE_MESSAGE, KEEP},
    {AT(MAIL), 500, 599, "6.", DELIVERY_FAILED, DELIVERY_SCOPE_MESSAGE, KEEP},
    {AT(MAIL), 500, 599, NULL, DELIVERY_DEFERRED, DELIVERY_SCOPE_RELAY, DROP},
    {AT_MESSAGE, 500, 599, "7.", DELIVERY_DEFERRED, DELIVERY_SCOPE_MESSAGE, KEEP},
    {AT_MESSAGE, 500, 599, NULL, DELIVERY_FAILED, DELIVERY_SCOPE_MESSAGE, KEEP},
};
/* clang-format on */

/* "3.4" matches 5.3.4 but not 5.3.40; "3." matches all of 5.3.x. */
static bool
fits_enhanced(const struct row *row, const struct reply *reply)
{
	const char *rest = reply->enhanced;
	size_t n;

	if (!row->enhanced)
		return true;
	if (!*row->enhanced || !*rest)
		return !*row->enhanced && !*rest;
	n = strlen(row->enhanced);
	rest += 2;
	return strncmp(rest, row->enhanced, n) == 0 &&
	       (row->enhanced[n - 1] == '.' || rest[n] == '\0');
}

bool
classify_is_positive(enum smtp_stage stage, const struct reply *reply)
{
	if (stage == SMTP_STAGE_DATA)
		return reply->code == 354;
	return reply->code / 100 == 2;
}

struct reply_class
classify_reply(enum smtp_stage stage, const struct reply *reply)
{
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const struct row *row = &rows[i];

		if (!(row->stages & (1u << stage)) || reply->code < row->from ||
		    reply->code > row->to || !fits_enhanced(row, reply))
			continue;
		return (struct reply_class){
		    .outcome = row->outcome,
		    .scope = row->scope,
		    .is_policy = stage >= SMTP_STAGE_RCPT &&
		                 g_str_has_prefix(reply->enhanced, "5.7."),
		    .is_last = row->is_last,
		};
	}
	g_assert_not_reached();
}

struct reply_class
classify_timeout(enum smtp_stage stage)
{
	return (struct reply_class){
	    .outcome = stage == SMTP_STAGE_DOT ? DELIVERY_UNKNOWN : DELIVERY_DEFERRED,
	    .scope = DELIVERY_SCOPE_RELAY,
	    .is_last = true,
	};
}
