/*
 * fuzz_bounce.c - read and classify any report that the parser can pass.
 *
 * Input: a byte for the kind of report, then texts that end in NUL: the address and the
 * name of From, subject, body; then "M" and a mark, "G" for a new group, or "F" and a
 * field of it.
 */
#include <string.h>

#include "base/bounds.h"
#include "fuzz.h"
#include "message/sanitize.h"
#include "service/bounce/bounce_report.h"

static char *
take_valid(struct fuzz_input *input)
{
	g_autofree char *text = fuzz_take_text(input);

	return g_utf8_make_valid(text, -1);
}

static void
add_field(struct inmail *mail, const char *text)
{
	g_autofree char *line = sanitize_line(*text ? text + 1 : "", 0);
	char *colon = strchr(line, ':');
	GPtrArray *fields = mail->marks;

	if (*text == 'G') {
		inmail_add_group(mail);
		return;
	}
	if (!colon)
		return;
	if (*text == 'F' && mail->groups->len > 0)
		fields = mail->groups->pdata[mail->groups->len - 1];
	*colon = '\0';
	g_ptr_array_add(fields, inmail_field_new(line, g_strchug(colon + 1)));
}

static struct inmail *
take_mail(struct fuzz_input *input)
{
	struct inmail *mail = inmail_new();
	unsigned kind = fuzz_take_byte(input);
	g_autofree char *address = take_valid(input);
	g_autofree char *name = take_valid(input);

	mail->report = kind % (INMAIL_REPORT_OTHER + 1);
	if (kind & 0x80)
		mail->return_path = g_strdup("");
	if (*address)
		g_ptr_array_add(mail->from, inmail_address_new(address, name));
	g_free(mail->subject);
	mail->subject = take_valid(input);
	g_free(mail->body);
	mail->body = take_valid(input);
	while (input->left > 0) {
		g_autofree char *field = take_valid(input);

		add_field(mail, field);
	}
	return mail;
}

/* Lengths are limited in characters. */
static void
check_report(const struct bounce_report *report)
{
	bool is_of_no_class = report->verdict.class == BOUNCE_UNKNOWN;

	g_assert(bounce_kind_get_name(report->kind));
	g_assert(bounce_class_get_name(report->verdict.class));
	g_assert(is_of_no_class == !strcmp(report->verdict.rule, "none"));
	g_assert((report->verdict.class == BOUNCE_SENDER) ==
	         (report->verdict.fault != BOUNCE_FAULT_NONE));
	g_assert(report->kind != BOUNCE_KIND_NONE || is_of_no_class);
	g_assert(report->code == 0 || (report->code >= 200 && report->code < 600));
	if (report->line)
		fuzz_check_line(report->line, 4 * BOUNDS_REPLY_TEXT_BYTES);
	if (report->agent)
		fuzz_check_line(report->agent, 4 * BOUNDS_ADDRESS_BYTES);
	for (guint i = 0; i < report->recipients->len; i++)
		fuzz_check_line(report->recipients->pdata[i], 4 * BOUNDS_ADDRESS_BYTES);
}

/* The same text as a reply at each stage. */
static void
check_replies(const char *text)
{
	for (enum smtp_stage stage = SMTP_STAGE_NONE; stage <= SMTP_STAGE_DOT;
	     stage++) {
		const struct bounce_refusal refusal = {stage, 550, "5.1.1", text};
		struct bounce_verdict verdict = bounce_classify(&refusal);

		/* Nothing is known of the recipient before RCPT. */
		g_assert(verdict.class != BOUNCE_DEAD || stage == SMTP_STAGE_NONE ||
		         stage >= SMTP_STAGE_RCPT);
		if (stage > SMTP_STAGE_NONE && stage < SMTP_STAGE_RCPT)
			g_assert(verdict.class != BOUNCE_UNKNOWN);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	pb_auto(inmail) mail = take_mail(&input);
	pb_auto(bounce_report) report = NULL;

	report = bounce_report_read(mail);
	check_report(report);
	check_replies(report->line ? report->line : "");
	return 0;
}
