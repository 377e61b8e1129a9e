/*
 * bounce_report.c - read a bounce, complaint or other automatic report.
 */
#include "service/bounce/bounce_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "message/sanitize.h"

/* Lines and paragraphs of a text that are read, and bytes of each paragraph. */
#define LINES_MAX       1000
#define PARAGRAPHS_MAX  200
#define PARAGRAPH_BYTES 4096

static bool
matches(const char *text, const char *pattern)
{
	return g_regex_match_simple(pattern, text, G_REGEX_CASELESS, 0);
}

/* ---- reporting agents ---- */

static const struct {
	const char *name;
	const char *pattern; /* in From, the fields of the report, or the text */
} agents[] = {
    {"google", "@googlemail\\.com|@google\\.com|Google tried to deliver"},
    {"amazon-ses", "amazonses\\.com|sns\\.amazonaws\\.com"},
    {"postfix", "X-Postfix-|This is the (mail system|Postfix program) at host"},
    {"exim", "created automatically by mail delivery software|X-Failed-Recipients"},
    {"qmail", "qmail-send program|Hi\\. This is the"},
    {"exchange",
        "Generating server|X-MS-Exchange|Microsoft Exchange|Remote Server returned"
        "|did not reach the following recipient"},
    {"domino", "X-Notes|^DELIVERY FAILURE:|Domino"},
    {"courier", "running the Courier mail server"},
    {"opensmtpd", "OpenSMTPD|This is the MAILER-DAEMON, please DO NOT REPLY"},
    {"sendmail",
        "Transcript of session follows|addresses had (permanent fatal|delivery)"},
    {"mail.ru", "@corp\\.mail\\.ru"},
    {"yahoo", "@yahoo|yahoodns"},
    {"microsoft", "staff@hotmail\\.com|X-HmXmr"},
};

static const char *
get_from(const struct inmail *mail)
{
	return mail->from->len > 0
	           ? ((const struct inmail_address *)mail->from->pdata[0])->address
	           : "";
}

static void
append_fields(GString *text, const GPtrArray *fields)
{
	for (guint i = 0; fields && i < fields->len; i++) {
		const struct inmail_field *field = fields->pdata[i];

		g_string_append_printf(text, "%s: %s\n", field->name, field->value);
	}
}

static char *
find_agent(const struct inmail *mail)
{
	g_autoptr(GString) text = g_string_new(NULL);
	const char *host = NULL;

	g_string_append_printf(text, "%s\n%s\n", mail->subject, get_from(mail));
	for (guint i = 0; i < mail->groups->len; i++)
		append_fields(text, mail->groups->pdata[i]);
	append_fields(text, mail->marks);
	if (mail->body)
		g_string_append_len(
		    text, mail->body, (gssize)strnlen(mail->body, PARAGRAPH_BYTES));
	for (size_t i = 0; i < G_N_ELEMENTS(agents); i++)
		if (matches(text->str, agents[i].pattern))
			return g_strdup(agents[i].name);
	if (mail->groups->len > 0)
		host = inmail_find_field(mail->groups->pdata[0], "Reporting-MTA");
	if (host && strchr(host, ';'))
		host = strchr(host, ';') + 1;
	if (!host)
		host = strchr(get_from(mail), '@') ? strchr(get_from(mail), '@') + 1
		                                   : NULL;
	return host ? sanitize_line(host, BOUNDS_ADDRESS_BYTES) : NULL;
}

/* ---- refusals in a text ---- */

#define SENT "(in reply to|response to|after|sent:|SMTP:|>>>|-->|\\bC:) *"

/* The stage that a report names; the first match decides. */
static const struct {
	enum smtp_stage stage;
	const char *pattern;
} stages[] = {
    {SMTP_STAGE_CONNECT, "initial connection|refused to talk to me|greeting|while "
                         "performing the \\w+ handshake"},
    {SMTP_STAGE_EHLO, SENT "(EHLO|HELO|LHLO)|my name was rejected"},
    {SMTP_STAGE_MAIL, SENT "MAIL (FROM|host)|sender was rejected|does not like sender"},
    {SMTP_STAGE_DOT, SENT "(DATA|BDAT|\\.)|end[ -]of[ -](the )?(DATA|message|mail)"
                          "|after I sent the message|for TEXT command|DATA SEND"},
    {SMTP_STAGE_RCPT, SENT "RCPT|for RCPT|does not like recipient"
                           "|RCPT TO(:<[^>]*>)? *response|^RCPT"},
};

static enum smtp_stage
find_stage(const char *text)
{
	for (size_t i = 0; i < G_N_ELEMENTS(stages); i++)
		if (matches(text, stages[i].pattern))
			return stages[i].stage;
	return SMTP_STAGE_NONE;
}

/* The codes that a text quotes. */
struct codes {
	int reply;
	char *status; /* "" if none */
};

static void
clear_codes(struct codes *codes)
{
	g_clear_pointer(&codes->status, g_free);
}

#define CODE   "(?<![\\w.:=@/+-])([245][0-5]\\d)(?![\\w.:/@])"
#define STATUS "(?<![\\d.])([245]\\.\\d{1,3}\\.\\d{1,3})(?![\\d.])"

/* The code and the enhanced code that a text quotes, preferably next to each other. */
static void
find_codes(const char *text, struct codes *codes)
{
	static const char *const patterns[] = {
	    (CODE "[ -]*[\"'#(<]*" STATUS), (CODE "()"), ("()" STATUS)};

	codes->reply = 0;
	codes->status = NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(patterns); i++) {
		g_autoptr(GRegex) regex = g_regex_new(patterns[i], 0, 0, NULL);
		g_autoptr(GMatchInfo) match = NULL;
		g_autofree char *code = NULL;
		g_autofree char *status = NULL;

		if (!g_regex_match(regex, text, 0, &match))
			continue;
		code = g_match_info_fetch(match, 1);
		status = g_match_info_fetch(match, 2);
		if (codes->reply == 0 && *code)
			codes->reply = atoi(code);
		if (!codes->status && *status)
			codes->status = g_steal_pointer(&status);
		if (codes->reply && codes->status)
			break;
	}
	if (!codes->status)
		codes->status = g_strdup("");
}

/*
 * The enhanced code of a reply, or else of the report.  For a reply without one, the
 * report's code is a guess from the reply code: sendmail makes 5.1.1 of any 550.
 */
static const char *
choose_status(const struct codes *found, const char *status)
{
	bool is_vague = !*found->status || g_str_has_suffix(found->status, ".0.0");
	bool is_bare = found->reply != 0 && !*found->status;

	return is_vague && !is_bare && *status ? status : found->status;
}

/* Where the returned message begins. */
static bool
is_returned(const char *line)
{
	return matches(line, "^[-=_*# |>]{2}.*\\b(copy|original|returned|below this "
	                     "line|message text|"
	                     "header|unsent|bounced)\\b") ||
	       matches(
	           line, "^(Return-Path|Received|DKIM-Signature|MIME-Version): ?") ||
	       matches(line,
	           "^(bounced E-?mail|the original message (is|follows)|original "
	           "message|message headers?( follow)?|"
	           "(the )?header of the (original )?message)\\b.*:?$");
}

/* Lines of a quoted SMTP session. */
#define COMMAND_LINE  "^(.*\\s)?(>>>|-->|C:) *[A-Z]{4}\\b"
#define ACCEPTED_LINE "^(.*\\s)?(<<<|<--|S:) *[23]\\d\\d\\b"

/* A line between the parts of a report: "----- Transcript of session follows -----" */
static bool
is_heading(const char *line)
{
	return g_str_has_prefix(line, "---") && g_str_has_suffix(line, "---") &&
	       matches(line, "[a-z]");
}

static void
end_paragraph(GPtrArray *paragraphs, GString *current)
{
	if (current->len > 0)
		g_ptr_array_add(paragraphs, g_strdup(current->str));
	g_string_truncate(current, 0);
}

/* Whether a line begins a reply with another code than that of the lines before it. */
static bool
is_other_reply(const GString *current, const char *line)
{
	return matches(line, "^[45]\\d\\d[ -]") &&
	       matches(current->str, "^[45]\\d\\d[ -]") &&
	       strncmp(current->str, line, 3) != 0;
}

static void
add_line(GPtrArray *paragraphs, GString *current, const char *line)
{
	bool is_between = is_heading(line);

	if (matches(line, ACCEPTED_LINE)) {
		g_string_truncate(current, 0);
		return;
	}
	if (is_between || matches(line, COMMAND_LINE) || is_other_reply(current, line))
		end_paragraph(paragraphs, current);
	if (current->len + strlen(line) < PARAGRAPH_BYTES)
		g_string_append_printf(
		    current, "%s%s", current->len > 0 ? " " : "", line);
	if (is_between)
		end_paragraph(paragraphs, current);
}

/*
 * Join the lines of each paragraph before the returned message.  Of an SMTP session,
 * a paragraph has one command and the replies to it. @return char *
 */
static GPtrArray *
split_paragraphs(const char *body)
{
	g_auto(GStrv) lines = g_strsplit(body, "\n", LINES_MAX);
	GPtrArray *paragraphs = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GString) current = g_string_new(NULL);
	bool is_started = false;

	for (size_t i = 0; lines[i] && paragraphs->len < PARAGRAPHS_MAX; i++) {
		char *line = g_strstrip(lines[i]);

		if (is_started && is_returned(line))
			break;
		if (*line)
			add_line(paragraphs, current, line);
		else
			end_paragraph(paragraphs, current);
		is_started |= *line != '\0';
	}
	end_paragraph(paragraphs, current);
	return paragraphs;
}

/* ---- choosing the decisive refusal ---- */

enum reply_type {
	REPLY_PERMANENT, /* quotes 5yz or 5.X.X */
	REPLY_OTHER,
	REPLY_NONE,
};

static enum reply_type
find_reply_type(const char *text)
{
	struct codes found;
	enum reply_type type = REPLY_OTHER;

	find_codes(text, &found);
	if (found.reply / 100 == 5 || *found.status == '5')
		type = REPLY_PERMANENT;
	else if (!found.reply && !*found.status)
		type = REPLY_NONE;
	clear_codes(&found);
	return type;
}

struct reader {
	struct bounce_report *report;
	enum smtp_stage stage; /* named anywhere in the text */
	const char *status;    /* of the report's field, or "" */
};

/* Classify one text. @return whether it decides */
static bool
try_text(struct reader *reader, const char *text, enum smtp_stage stage)
{
	struct bounce_report *report = reader->report;
	struct codes found;
	struct bounce_refusal refusal;
	struct bounce_verdict verdict;

	find_codes(text, &found);
	refusal = (struct bounce_refusal){
	    .stage = stage,
	    .code = found.reply,
	    .status = choose_status(&found, reader->status),
	    .text = text,
	};
	verdict = bounce_classify(&refusal);
	if (verdict.class != BOUNCE_UNKNOWN || !report->line) {
		report->verdict = verdict;
		report->code = found.reply;
		g_free(report->status);
		report->status = *refusal.status ? g_strdup(refusal.status) : NULL;
		g_free(report->line);
		report->line = sanitize_line(text, BOUNDS_REPLY_TEXT_BYTES);
	}
	clear_codes(&found);
	return verdict.class != BOUNCE_UNKNOWN;
}

/* "<eva@example.org>: host mx.example.org said ..." @return a new string, or NULL */
static char *
find_paragraph_recipient(const char *text)
{
	const char *end = *text == '<' ? strstr(text, ">:") : NULL;

	return end ? g_strndup(text, (gsize)(end - text)) : NULL;
}

/* Remove the paragraphs of all recipients but the first. */
static void
keep_first_recipient(GPtrArray *paragraphs)
{
	g_autofree char *first = NULL;

	for (guint i = 0; i < paragraphs->len;) {
		g_autofree char *recipient =
		    find_paragraph_recipient(paragraphs->pdata[i]);

		if (recipient && first && strcmp(recipient, first) != 0) {
			g_ptr_array_remove_index(paragraphs, i);
			continue;
		}
		if (!first)
			first = g_steal_pointer(&recipient);
		i++;
	}
}

/*
 * A permanent refusal comes first, then other replies; other text may be advice.
 *
 * @param first, last  the types to try
 */
static bool
try_paragraphs(struct reader *reader, const GPtrArray *paragraphs,
    enum reply_type first, enum reply_type last)
{
	for (enum reply_type type = first; type <= last; type++)
		for (guint i = 0; i < paragraphs->len; i++) {
			const char *text = paragraphs->pdata[i];
			enum smtp_stage stage;

			if (find_reply_type(text) != type)
				continue;
			stage = find_stage(text);
			if (try_text(reader, text, stage ? stage : reader->stage))
				return true;
		}
	return false;
}

/* ---- delivery reports (RFC 3464) ---- */

/* The value behind the type: "rfc822; eva@example.org", "smtp; 550 ...". */
static char *
get_value(const GPtrArray *group, const char *name)
{
	const char *value = inmail_find_field(group, name);
	const char *semicolon = value ? strchr(value, ';') : NULL;

	if (!value)
		return NULL;
	if (semicolon && strcspn(value, " \t") >= (size_t)(semicolon - value))
		value = semicolon + 1;
	return g_strstrip(g_strdup(value));
}

/* @param actions  regular expression @return the first group with such an Action */
static const GPtrArray *
find_group(const struct inmail *mail, const char *actions)
{
	for (guint i = 0; i < mail->groups->len; i++) {
		const char *action =
		    inmail_find_field(mail->groups->pdata[i], "Action");

		if (action && matches(action, actions))
			return mail->groups->pdata[i];
	}
	return NULL;
}

/* @param address  as written; NULL and "" are not added */
static void
add_recipient(struct bounce_report *report, const char *address)
{
	if (address && *address)
		g_ptr_array_add(
		    report->recipients, sanitize_line(address, BOUNDS_ADDRESS_BYTES));
}

static void
add_recipients(struct bounce_report *report, const struct inmail *mail)
{
	for (guint i = 0; i < mail->groups->len; i++) {
		g_autofree char *final =
		    get_value(mail->groups->pdata[i], "Final-Recipient");
		g_autofree char *original =
		    get_value(mail->groups->pdata[i], "Original-Recipient");

		add_recipient(report, original && *original ? original : final);
	}
}

/* If the text says that the mailbox is full, fields that call it dead are in doubt. */
static void
check_full(struct reader *reader, const GPtrArray *paragraphs)
{
	for (guint i = 0; i < paragraphs->len; i++) {
		const struct bounce_refusal refusal = {.text = paragraphs->pdata[i]};
		struct bounce_verdict verdict = bounce_classify(&refusal);

		if (verdict.class == BOUNCE_FULL &&
		    !matches(refusal.text, "\\b(may|might|could|possibl[ey]|if|or)\\b"))
			reader->report->verdict = verdict;
	}
}

static bool
is_of_address(const char *status)
{
	return matches(status, "^5\\.[12]\\.[1-9]");
}

static void
read_group(struct reader *reader, const GPtrArray *group, const GPtrArray *paragraphs)
{
	struct bounce_report *report = reader->report;
	g_autofree char *status = get_value(group, "Status");
	g_autofree char *diagnostic = get_value(group, "Diagnostic-Code");
	struct codes codes;
	bool is_decided;

	find_codes(status ? status : "", &codes);
	reader->status = codes.status;
	is_decided = diagnostic && try_text(reader, diagnostic, reader->stage);
	if (report->code != 0)
		reader->status = ""; /* see choose_status() */
	is_decided = is_decided ||
	             try_paragraphs(reader, paragraphs, REPLY_PERMANENT, REPLY_OTHER);
	/* A code about the address or the mailbox says more than words without one. */
	if (is_of_address(codes.status) && report->code == 0)
		is_decided = is_decided || try_text(reader, status, reader->stage);
	is_decided =
	    is_decided || try_paragraphs(reader, paragraphs, REPLY_NONE, REPLY_NONE);
	if (!is_decided && status && report->code == 0)
		try_text(reader, status, reader->stage);
	if (report->verdict.class == BOUNCE_DEAD)
		check_full(reader, paragraphs);
	reader->status = "";
	clear_codes(&codes);
}

/* OpenSMTPD reports a message that has expired as delayed. @return the text, or NULL */
static const char *
find_expired(const GPtrArray *paragraphs)
{
	for (guint i = 0; i < paragraphs->len; i++)
		if (matches(paragraphs->pdata[i], "@[^@\\s]+: envelope expired$"))
			return paragraphs->pdata[i];
	return NULL;
}

static void
read_delivery(
    struct reader *reader, const struct inmail *mail, const GPtrArray *paragraphs)
{
	struct bounce_report *report = reader->report;
	const GPtrArray *failed = find_group(mail, "^fail");
	const GPtrArray *delayed = find_group(mail, "^delay");
	const GPtrArray *delivered = find_group(mail, "^(deliver|relay|expand)");
	const char *expired = find_expired(paragraphs);

	add_recipients(report, mail);
	report->kind = BOUNCE_KIND_BOUNCE;
	if (failed || (!delayed && !delivered)) {
		read_group(reader,
		    failed ? failed : mail->groups->pdata[mail->groups->len - 1],
		    paragraphs);
	} else if (delayed) {
		read_group(reader, delayed, paragraphs);
		report->kind = expired ? BOUNCE_KIND_BOUNCE : BOUNCE_KIND_DELAYED;
		if (expired) {
			g_free(report->line);
			report->line = sanitize_line(expired, BOUNDS_REPLY_TEXT_BYTES);
		}
	} else {
		report->kind = BOUNCE_KIND_DELIVERED;
		report->verdict =
		    (struct bounce_verdict){BOUNCE_DELIVERED, 0, "action"};
	}
}

/* ---- other formats ---- */

static bool
is_from_daemon(const struct inmail *mail)
{
	const struct inmail_address *from =
	    mail->from->len > 0 ? mail->from->pdata[0] : NULL;

	return inmail_find_field(mail->marks, "X-Failed-Recipients") ||
	       (from &&
	           (matches(from->address, "^(mailer-?daemon|mail-?daemon|postmaster|"
	                                   "maildelivery|bounces?)@") ||
	               (from->name &&
	                   matches(from->name, "mail delivery|mailer.?daemon|"
	                                       "postmaster|mail system"))));
}

/* An answer of a person's program, unlike RFC 3834 section 2 not a report of a server.
 */
static bool
is_auto_reply(const struct inmail *mail, bool has_codes)
{
	const char *submitted = inmail_find_field(mail->marks, "Auto-Submitted");
	const char *from = get_from(mail);

	if (matches(from, "^mailer-?daemon@") ||
	    inmail_find_field(mail->marks, "X-Failed-Recipients"))
		return false;
	return (submitted && matches(submitted, "^auto-(replied|notified)") &&
	           !has_codes) ||
	       inmail_find_field(mail->marks, "X-Autoreply") ||
	       inmail_find_field(mail->marks, "X-Autorespond") ||
	       inmail_find_field(mail->marks, "X-Auto-Reply") ||
	       matches(mail->subject,
	           "^\\W*(auto(matic)?[- ]?(reply|response|respond)|out of (the )?"
	           "office|away (from|until)|vacation|abwesen|automatische "
	           "antwort|reponse automatique|respuesta autom)");
}

static const char complaint_pattern[] =
    "complaint about message from|Apple Mail sent this email to unsubscribe"
    "|notificationType\\W+Complaint|this is an? (\\S+ )?(email )?abuse "
    "(report|complaint)";

static const char delay_pattern[] =
    "warning (message )?only|not yet been delivered|(has been|is|was) delayed|still "
    "being "
    "retried|will be retried|attempts will continue|(mail|message) \\S* ?delayed"
    "|notification about a delay|continue trying";

static const char failure_pattern[] =
    "undeliver|could not be delivered|cannot be delivered|not (be )?deliver|wasn'?t "
    "(able to "
    "deliver|delivered)|(unable|failed) to "
    "deliver|(error|problem|failure)\\b.{0,40}\\bdeliver|(delivery|mail|message|"
    "delivering)\\b.{0,40}"
    "\\b(fail|return|reject|refus|problem)|returned mail|did not reach|delivery "
    "(to|failure)"
    "|rejected|notificationType\\W+Bounce|delivery problems|unrecoverable|failed "
    "addresses"
    "|Не доставлен|не может быть доставлено|Недоставлен|unzustellbar|nicht zugestellt"
    "|no se (pudo|ha podido) entregar|no entregado|n'a (pas pu|pu être)|non remis"
    "|non (è|e') stato (consegnato|recapitato)|mancat[ao] (consegna|recapito)"
    "|não (foi|pode|pôde)( ser)? entregue|niet (worden )?(afgeleverd|bezorgd)"
    "|nie została dostarczona|niedostarczon"
    "|配信できま|配信不能|送信できま|退信|投递失败";

/* Fields of RFC 3464 in plain text. @return whether there were any */
static bool
read_inline_fields(
    struct reader *reader, const struct inmail *mail, const GPtrArray *paragraphs)
{
	g_autoptr(GRegex) regex =
	    g_regex_new("^(Final-Recipient|Action|Status|Diagnostic-Code): *(.*)$",
	        G_REGEX_MULTILINE | G_REGEX_CASELESS, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;
	pb_auto(inmail) copy = inmail_new();
	GPtrArray *group = inmail_add_group(copy);

	for (g_regex_match(regex, mail->body, 0, &match);
	     g_match_info_matches(match) && group->len < BOUNDS_REPORT_FIELDS;
	     g_match_info_next(match, NULL)) {
		g_autofree char *name = g_match_info_fetch(match, 1);
		g_autofree char *value = g_match_info_fetch(match, 2);

		if (inmail_find_field(group, name)) /* the next recipient */
			break;
		g_ptr_array_add(group, inmail_field_new(name, value));
	}
	if (!inmail_find_field(group, "Action"))
		return false;
	read_delivery(reader, copy, paragraphs);
	return true;
}

/* Notifications of Amazon SES are JSON, also quoted in JSON: keep the server's reply.
 */
static void
use_json_reason(GPtrArray *paragraphs)
{
	g_autoptr(GRegex) regex =
	    g_regex_new("diagnosticCode[\\\\\"]+:[\\\\\" ]*([^\"\\\\]+)", 0, 0, NULL);

	for (guint i = 0; i < paragraphs->len; i++) {
		g_autoptr(GMatchInfo) match = NULL;

		if (g_regex_match(regex, paragraphs->pdata[i], 0, &match)) {
			char *reason = g_match_info_fetch(match, 1);

			g_free(paragraphs->pdata[i]); /* searched by the match */
			paragraphs->pdata[i] = reason;
		}
	}
}

static void
add_quoted_recipients(struct bounce_report *report, const GPtrArray *paragraphs)
{
	g_autoptr(GRegex) regex = g_regex_new(
	    "(?:^|[<\\s:\"])([\\w.+=%/!#$*-]+@[\\w-]+(?:\\.[\\w-]+)+)", 0, 0, NULL);

	for (guint i = 0; i < paragraphs->len && report->recipients->len == 0; i++) {
		g_autoptr(GMatchInfo) match = NULL;

		if (g_regex_match(regex, paragraphs->pdata[i], 0, &match)) {
			g_autofree char *address = g_match_info_fetch(match, 1);

			add_recipient(report, address);
		}
	}
}

/* Microsoft's feedback loop (JMRP) sends the message as an attachment. */
static const char *
find_jmrp_recipient(const struct inmail *mail)
{
	return inmail_find_field(mail->returned, "X-HmXmrOriginalRecipient");
}

static bool
is_failure(const struct inmail *mail, const char *text, bool has_codes)
{
	/* Without the envelope, "From: <>" says the same. */
	bool has_null_sender =
	    mail->return_path ? !*mail->return_path : mail->from->len == 0;

	if (is_from_daemon(mail))
		return matches(text, failure_pattern) || matches(text, delay_pattern) ||
		       (has_codes && (has_null_sender || !mail->return_path));
	return (has_null_sender || matches(get_from(mail), "^no-?reply@")) &&
	       matches(text, failure_pattern);
}

static void
read_failure(struct reader *reader, const struct inmail *mail, GPtrArray *paragraphs)
{
	use_json_reason(paragraphs);
	reader->report->kind = BOUNCE_KIND_BOUNCE;
	if (read_inline_fields(reader, mail, paragraphs))
		return;
	add_quoted_recipients(reader->report, paragraphs);
	try_paragraphs(reader, paragraphs, REPLY_PERMANENT, REPLY_NONE);
}

static void
read_text(struct reader *reader, const struct inmail *mail, GPtrArray *paragraphs)
{
	struct bounce_report *report = reader->report;
	g_autoptr(GString) text = g_string_new(mail->subject);
	bool has_codes;

	for (guint i = 0; i < paragraphs->len; i++)
		g_string_append_printf(text, "\n%s", (char *)paragraphs->pdata[i]);
	has_codes = matches(text->str, CODE "|" STATUS);
	if (matches(text->str, complaint_pattern) || find_jmrp_recipient(mail)) {
		report->kind = BOUNCE_KIND_COMPLAINT;
		report->verdict =
		    (struct bounce_verdict){BOUNCE_COMPLAINT, 0, "complaint-text"};
		add_recipient(report, find_jmrp_recipient(mail));
	} else if (matches(text->str, "notificationType\\W+Delivery")) {
		report->kind = BOUNCE_KIND_DELIVERED;
		report->verdict =
		    (struct bounce_verdict){BOUNCE_DELIVERED, 0, "action"};
	} else if (is_auto_reply(mail, has_codes)) {
		report->kind = BOUNCE_KIND_AUTO;
		report->verdict = (struct bounce_verdict){BOUNCE_AUTO, 0, "auto-reply"};
	} else if (is_failure(mail, text->str, has_codes)) {
		read_failure(reader, mail, paragraphs);
		if (matches(text->str, delay_pattern))
			report->kind = BOUNCE_KIND_DELAYED;
	}
}

/* ---- feedback reports (RFC 5965) ---- */

static void
read_feedback(struct bounce_report *report, const struct inmail *mail)
{
	const char *type = NULL;
	g_autofree char *line = NULL;

	for (guint i = 0; i < mail->groups->len && !type; i++)
		type = inmail_find_field(mail->groups->pdata[i], "Feedback-Type");
	for (guint i = 0; i < mail->groups->len; i++)
		add_recipient(report,
		    inmail_find_field(mail->groups->pdata[i], "Original-Rcpt-To"));
	report->kind = BOUNCE_KIND_COMPLAINT;
	line = g_strconcat("Feedback-Type: ", type, NULL);
	report->line = sanitize_line(line, BOUNDS_REPLY_TEXT_BYTES);
	if (type && matches(type, "^(auth-failure|dmarc)")) /* RFC 6591 */
		report->verdict = (struct bounce_verdict){
		    BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, "auth-failure-report"};
	else if (type && matches(type, "^not-spam"))
		report->kind = BOUNCE_KIND_NONE;
	else
		report->verdict =
		    (struct bounce_verdict){BOUNCE_COMPLAINT, 0, "feedback-report"};
}

struct bounce_report *
bounce_report_read(const struct inmail *mail)
{
	struct bounce_report *report = g_new0(struct bounce_report, 1);
	g_autoptr(GPtrArray) paragraphs =
	    split_paragraphs(mail->body ? mail->body : "");
	g_autofree char *text = NULL;
	struct reader reader = {.report = report, .status = ""};

	report->recipients = g_ptr_array_new_with_free_func(g_free);
	report->verdict.rule = "none";
	report->agent = find_agent(mail);
	keep_first_recipient(paragraphs);
	g_ptr_array_add(paragraphs, NULL);
	text = g_strjoinv("\n", (char **)paragraphs->pdata);
	g_ptr_array_set_size(paragraphs, (int)paragraphs->len - 1);
	reader.stage = find_stage(text);
	if (mail->report == INMAIL_REPORT_FEEDBACK) {
		read_feedback(report, mail);
	} else if (mail->report == INMAIL_REPORT_DISPOSITION) {
		report->kind = BOUNCE_KIND_AUTO;
		report->verdict =
		    (struct bounce_verdict){BOUNCE_AUTO, 0, "disposition"};
	} else if (mail->report == INMAIL_REPORT_DELIVERY && mail->groups->len > 0) {
		read_delivery(&reader, mail, paragraphs);
	} else {
		read_text(&reader, mail, paragraphs);
	}
	return report;
}

struct bounce_report *
bounce_report_new_from_reply(const struct bounce_refusal *reply)
{
	struct bounce_report *report = g_new0(struct bounce_report, 1);
	const char *text = reply->text ? reply->text : "";
	struct bounce_refusal refusal = *reply;
	struct codes codes;

	find_codes(text, &codes);
	refusal.status = codes.status;
	report->recipients = g_ptr_array_new_with_free_func(g_free);
	report->kind = BOUNCE_KIND_BOUNCE;
	report->verdict = bounce_classify(&refusal);
	report->code = reply->code;
	report->status = *codes.status ? g_strdup(codes.status) : NULL;
	report->agent = g_strdup("smtp");
	report->line = sanitize_line(text, BOUNDS_REPLY_TEXT_BYTES);
	clear_codes(&codes);
	return report;
}

void
bounce_report_free(struct bounce_report *report)
{
	if (!report)
		return;
	g_free(report->status);
	g_ptr_array_unref(report->recipients);
	g_free(report->agent);
	g_free(report->line);
	g_free(report);
}

const char *
bounce_kind_get_name(enum bounce_kind kind)
{
	static const char *const names[] = {
	    [BOUNCE_KIND_NONE] = "none",
	    [BOUNCE_KIND_BOUNCE] = "bounce",
	    [BOUNCE_KIND_COMPLAINT] = "complaint",
	    [BOUNCE_KIND_AUTO] = "auto",
	    [BOUNCE_KIND_DELAYED] = "delayed",
	    [BOUNCE_KIND_DELIVERED] = "delivered",
	};

	return names[kind];
}
