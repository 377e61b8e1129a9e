/*
 * ctl_bounce.c - the commands bounce ...
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/file.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "service/bounce/bounce_report.h"
#include "service/inbound/parser_process.h"

/* ---- explain ---- */

static GString *
read_file(FILE *file, const char *path, GError **error)
{
	g_autoptr(GString) mail = g_string_new(NULL);
	char buffer[16 * 1024];
	size_t got;

	/* The parser rejects a message one byte above the limit. */
	while (mail->len <= BOUNDS_MAIL_BYTES &&
	       (got = fread(buffer, 1, sizeof(buffer), file)) > 0)
		g_string_append_len(mail, buffer, (gssize)got);
	if (!ferror(file))
		return g_steal_pointer(&mail);
	file_set_error("cannot read", path, PB_ERROR_INPUT, error);
	return NULL;
}

/* @param path  "-": standard input */
static GString *
read_message(const char *path, GError **error)
{
	FILE *file = strcmp(path, "-") != 0 ? fopen(path, "rbe") : stdin;
	GString *mail;

	if (!file) {
		file_set_error("cannot open", path, PB_ERROR_INPUT, error);
		return NULL;
	}
	mail = read_file(file, path, error);
	if (file != stdin)
		fclose(file);
	return mail;
}

/* In a build directory the parser is beside paperboyctl. @return NULL if installed */
static char *
find_built_parser(void)
{
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	g_autofree char *directory = self ? g_path_get_dirname(self) : NULL;
	g_autofree char *program =
	    directory ? g_build_filename(directory, "paperboy-parser", NULL) : NULL;

	return program && g_file_test(program, G_FILE_TEST_IS_EXECUTABLE)
	           ? g_steal_pointer(&program)
	           : NULL;
}

static json_t *
make_recipients(const GPtrArray *recipients)
{
	json_t *array = json_array();

	for (guint i = 0; i < recipients->len; i++)
		json_array_append_new(array, json_string(recipients->pdata[i]));
	return array;
}

/* File names need not be UTF-8. */
static json_t *
make_name(const char *path)
{
	g_autofree char *valid = g_utf8_make_valid(path, -1);

	return json_string(valid);
}

static json_t *
make_report(const char *path, const struct bounce_report *report)
{
	return json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:o}", "file",
	    make_name(path), "kind", bounce_kind_get_name(report->kind), "class",
	    bounce_class_get_name(report->verdict.class), "status",
	    print_json_text(report->status), "code",
	    print_json_number(report->code ? report->code : -1), "recipients",
	    make_recipients(report->recipients), "agent",
	    print_json_text(report->agent), "rule", report->verdict.rule, "line",
	    print_json_text(report->line));
}

static json_t *
make_failure(const char *path, const char *message)
{
	return json_pack("{s:o, s:s, s:s, s:n, s:n, s:[], s:n, s:s, s:n, s:s}", "file",
	    make_name(path), "kind", bounce_kind_get_name(BOUNCE_KIND_NONE), "class",
	    bounce_class_get_name(BOUNCE_UNKNOWN), "status", "code", "recipients",
	    "agent", "rule", "none", "line", "error", message);
}

static bool
explain(const struct bounce_rules *rules, const char *program, const char *path,
    GError **error)
{
	const struct parser_process_options options = {.program = program};
	pb_auto(inmail) mail = NULL;
	pb_auto(bounce_report) report = NULL;
	g_autoptr(GString) raw = read_message(path, error);

	if (!raw || !parser_process_run(raw->str, raw->len, &options, &mail, error))
		return false;
	report = bounce_report_read(rules, mail);
	print_json_line(make_report(path, report));
	return true;
}

bool
ctl_run_bounce_explain(struct ctl *ctl, int argc, char **argv, GError **error)
{
	static char *const standard_input[] = {(char *)"-", NULL};
	g_autofree char *program = find_built_parser();
	pb_auto(bounce_rules) rules = bounce_rules_new();
	g_autoptr(GError) first = NULL;

	(void)ctl;
	if (!ctl_parse_some(NULL, 0, -1, &argc, &argv, error))
		return false;
	for (char *const *path = argc > 1 ? argv + 1 : standard_input; *path; path++) {
		g_autoptr(GError) failure = NULL;

		if (explain(rules, program, *path, &failure))
			continue;
		print_json_line(make_failure(*path, failure->message));
		if (!first)
			first = g_steal_pointer(&failure);
	}
	if (!first)
		return true;
	g_propagate_error(error, g_steal_pointer(&first));
	return false;
}
