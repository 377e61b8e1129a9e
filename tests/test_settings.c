/*
 * test_settings.c - paperboy.conf: valid and invalid settings, and error messages.
 */
#include "config/settings.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "lib/cases.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"

/* Required settings. */
#define MAIL "mail: { from = \"p@example.org\"; owner = \"o@example.org\"; };\n"

/* libconfig 1.5 leaks the string that it was parsing at the end of a file. */
const char *__lsan_default_suppressions(void);

__attribute__((visibility("default"))) const char *
__lsan_default_suppressions(void)
{
	return "leak:libconfig";
}

struct directory {
	char *path;
};

static void
directory_free(struct directory *directory)
{
	store_fixture_remove_directory(directory->path);
	g_free(directory->path);
	g_free(directory);
}

PB_DEFINE_AUTO(directory, directory_free);

static struct directory *
directory_new(void)
{
	struct directory *directory = g_new0(struct directory, 1);

	directory->path = g_dir_make_tmp("pb-settings-XXXXXX", NULL);
	return directory;
}

static char *
write_file(const struct directory *directory, const char *name, const char *text)
{
	char *path = g_build_filename(directory->path, name, NULL);

	NO_ERROR(g_file_set_contents(path, text, -1, &error));
	return path;
}

/* The problems of a configuration, a line each, without the directory; "" when valid.
 */
static char *
read_problems(
    const struct directory *directory, const char *text, struct settings **settings)
{
	g_autofree char *path = write_file(directory, "paperboy.conf", text);
	g_autofree char *prefix = g_strconcat(directory->path, "/", NULL);
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	pb_auto(settings) read = settings_load(path, problems, &error);
	GString *all = g_string_new(NULL);

	for (unsigned i = 0; i < problems->len; i++)
		g_string_append_printf(all, "%s\n", (char *)problems->pdata[i]);
	g_string_replace(all, prefix, "", 0);
	if (problems->len)
		g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	else
		g_assert_no_error(error);
	g_assert_true(!read == !!problems->len);
	if (settings)
		*settings = g_steal_pointer(&read);
	return g_string_free(all, FALSE);
}

static void
assert_source(const struct settings *settings, unsigned i, const char *wanted)
{
	g_autofree char *text = settings_format_source(settings->sources->pdata[i]);

	g_assert_cmpstr(text, ==, wanted);
}

#define SETTINGS_TEST(function) \
	TEST_WITH(function, directory, directory, directory_new())

SETTINGS_TEST(settings_not_in_the_file_have_defaults)
{
	pb_auto(settings) settings = NULL;
	g_autofree char *problems = read_problems(directory, MAIL, &settings);

	g_assert_cmpstr(problems, ==, "");
	g_assert_cmpstr(settings->mail_from, ==, "p@example.org");
	g_assert_cmpstr(settings->mail_from_name, ==, "paperboy");
	g_assert_cmpstr(settings->mail_envelope_from, ==, "");
	g_assert_cmpstr(settings->log_level, ==, "info");
	g_assert_cmpstr(settings->digest_zone, ==, "UTC");
	g_assert_cmpstr(settings->digest_at, ==, "07:30");
	g_assert_cmpint(settings->digest_max, ==, 20);
	g_assert_cmpint(settings->collect_interval_s, ==, 1800);
	g_assert_cmpuint(settings->sources->len, ==, 1);
	assert_source(settings, 0, "{ name = \"hf\"; kind = \"huggingface\"; }");
	g_assert_cmpint(settings->delivery, ==, SETTINGS_DELIVERY_SMTP);
	g_assert_cmpint(settings->expire_h, ==, 36);
	g_assert_cmpstr(settings->smtp_host, ==, "localhost");
	g_assert_cmpint(settings->smtp_port, ==, 25);
	g_assert_cmpint(settings->smtp_tls, ==, SETTINGS_TLS_AUTO);
	g_assert_cmpint(settings->smtp_connections, ==, 2);
}

SETTINGS_TEST(values_of_the_file_replace_defaults)
{
	pb_auto(settings) settings = NULL;
	g_autofree char *problems = read_problems(directory,
	    "// a comment 99999999999\n# another 99999999999\n/* and\n99999999999 */\n"
	    "state_dir = \"/srv/\" \"paperboy\";\n"
	    "mail: { from = \"p@example.org\"; owner = \"o@example.org\";\n"
	    "        from_name = \"Zo\xc3\xab \\\"the\\\" 99999999999 \\\\ boy\"; };\n"
	    "smtp = { port = 0x24B; // 99999999999\n"
	    "  tls = \"implicit\"; connections = 50L; };\n"
	    "delivery: { method = \"maildir\"; maildir = \"/srv/mail\"; }\n"
	    "sources = ( { enabled = FALSE; kind = \"feed\"; name = \"a-1\";\n"
	    "  url = \"https://x.example/\"; }, { name = \"b\"; kind = \"arxiv\";\n"
	    "  categories = [ \"cs.CL\", \"stat.ML\" ]; request_interval_s = 0; } );\n"
	    "digest: { max = 200; };\n",
	    &settings);

	g_assert_cmpstr(problems, ==, "");
	g_assert_cmpstr(settings->state_dir, ==, "/srv/paperboy");
	g_assert_cmpstr(
	    settings->mail_from_name, ==, "Zo\xc3\xab \"the\" 99999999999 \\ boy");
	g_assert_cmpint(settings->smtp_port, ==, 587);
	g_assert_cmpint(settings->smtp_tls, ==, SETTINGS_TLS_IMPLICIT);
	g_assert_cmpint(settings->smtp_connections, ==, 50);
	g_assert_cmpint(settings->delivery, ==, SETTINGS_DELIVERY_MAILDIR);
	g_assert_cmpuint(settings->sources->len, ==, 2);
	assert_source(settings, 0,
	    "{ name = \"a-1\"; kind = \"feed\"; url = \"https://x.example/\"; enabled "
	    "= "
	    "false; }");
	assert_source(settings, 1,
	    "{ name = \"b\"; kind = \"arxiv\"; categories = [ \"cs.CL\", \"stat.ML\" "
	    "]; "
	    "request_interval_s = 0; }");
	g_assert_cmpint(settings->digest_max, ==, 200);
}

TEST(each_error_is_reported_with_its_line)
{
	CASES_FOREACH(row, "settings_errors", *text, *problems) {
		pb_auto(directory) directory = directory_new();
		g_autofree char *text = g_strconcat(MAIL, row->text, "\n", NULL);
		g_autofree char *problems = read_problems(directory, text, NULL);

		if (strcmp(problems, row->problems) != 0)
			g_test_fail_printf("%s\n  got %s  wanted %s", row->text,
			    problems, row->problems);
	}
}

SETTINGS_TEST(all_errors_are_reported_in_one_run)
{
	g_autofree char *problems = read_problems(directory,
	    "state_dir = 1;\n"
	    "colour = \"red\";\n"
	    "mail: { from = \"\"; };\n"
	    "smtp: {\n"
	    "  port = 0;\n"
	    "  tls = \"maybe\";\n"
	    "  connections = 4294967298;\n"
	    "};\n",
	    NULL);

	g_assert_cmpstr(problems, ==,
	    "paperboy.conf:1: state_dir must be a quoted text, not a number\n"
	    "paperboy.conf:2: unknown setting \"colour\"\n"
	    "paperboy.conf:3: mail.from must not be empty\n"
	    "paperboy.conf:5: smtp.port must be from 1 to 65535\n"
	    "paperboy.conf:6: smtp.tls must be one of \"auto\", \"off\", \"starttls\","
	    " \"implicit\"\n"
	    "paperboy.conf:7: smtp.connections must be from 1 to 50\n"
	    "paperboy.conf: mail.owner is not set: address of the operator\n");
}

SETTINGS_TEST(included_files_are_found_beside_the_file)
{
	g_autofree char *inner = g_build_filename(directory->path, "parts", NULL);
	g_autofree char *problems = NULL, *wrong = NULL;
	g_autofree char *good_file = NULL, *bad_file = NULL;
	pb_auto(settings) settings = NULL;

	g_mkdir(inner, 0700);
	good_file = write_file(directory, "parts/mail.conf", MAIL);
	problems = read_problems(directory,
	    "@include \"parts/mail.conf\"\nlog_level = \"debug\";\n", &settings);
	g_assert_cmpstr(problems, ==, "");
	g_assert_cmpstr(settings->mail_owner, ==, "o@example.org");
	g_assert_cmpstr(settings->log_level, ==, "debug");

	bad_file = write_file(directory, "parts/smtp.conf",
	    "smtp: {\n  port = 0;\n  connections = 4294967297;\n};\n");
	wrong = read_problems(
	    directory, MAIL "@include \"parts/smtp.conf\"\nlog_level = 1;\n", NULL);
	g_assert_nonnull(strstr(wrong, "parts/smtp.conf:2: smtp.port must be from"));
	g_assert_nonnull(strstr(wrong, "parts/smtp.conf:3: smtp.connections must be"));
	g_assert_null(strstr(wrong, directory->path));
	g_assert_nonnull(
	    strstr(wrong, "paperboy.conf:3: log_level must be a quoted text"));
	g_clear_pointer(&wrong, g_free);
	wrong = read_problems(directory, MAIL "@include \"parts/none.conf\"\n", NULL);
	g_assert_true(g_str_has_prefix(
	    wrong, "paperboy.conf:2: cannot include 'parts/none.conf': No such"));
}

TEST(a_missing_file_is_reported)
{
	g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);

	FAILS(PB_ERROR_INPUT,
	    settings_load("/nonexistent/paperboy.conf", problems, &error));
	g_assert_cmpuint(problems->len, ==, 1);
	g_assert_cmpstr(problems->pdata[0], ==,
	    "/nonexistent/paperboy.conf: cannot read the file: No such file or "
	    "directory");
}

/* Configuration text as it grows, and the group that is open. */
struct writing {
	GString *text;
	char *group; /* or NULL */
};

static void
write_setting(const struct settings_row *row, void *data)
{
	struct writing *writing = data;
	const char *dot = strchr(row->name, '.');
	g_autofree char *group =
	    dot ? g_strndup(row->name, (gsize)(dot - row->name)) : NULL;

	if (g_strcmp0(group, writing->group) != 0) {
		g_string_append_printf(
		    writing->text, "%s%s: {\n", writing->group ? "};\n" : "", group);
		g_free(writing->group);
		writing->group = g_steal_pointer(&group);
	}
	g_string_append_printf(writing->text, "%s# %s\n%s%s = %s;\n", dot ? "\t" : "",
	    row->help, dot ? "\t" : "", dot ? dot + 1 : row->name, row->value);
}

static char *
format_all(const struct settings *settings)
{
	struct writing writing = {.text = g_string_new(NULL)};

	settings_foreach(settings, write_setting, &writing);
	if (writing.group)
		g_string_append(writing.text, "};\n");
	g_free(writing.group);
	return g_string_free(writing.text, FALSE);
}

SETTINGS_TEST(a_formatted_file_is_read_back_the_same)
{
	pb_auto(settings) settings = NULL;
	pb_auto(settings) again = NULL;
	g_autofree char *first = read_problems(directory,
	    "mail: { from = \"p@example.org\"; owner = \"o@example.org\";"
	    " from_name = \"Zo\xc3\xab \\\"x\\\" \\\\n \\x41\"; };"
	    "smtp: { port = 465; tls = \"implicit\"; };"
	    "sources = ( { name = \"a\"; kind = \"x\"; query = \"\\\"b\\\" \\\\ c\"; "
	    "categories = ( \"cell \\\"biology\\\"\", \"y\" ); } );",
	    &settings);
	g_autofree char *text = format_all(settings);
	g_autofree char *second = read_problems(directory, text, &again);
	g_autofree char *text_again = again ? format_all(again) : NULL;

	g_assert_cmpstr(first, ==, "");
	g_assert_cmpstr(second, ==, "");
	g_assert_cmpstr(again->mail_from_name, ==, "Zo\xc3\xab \"x\" \\n A");
	g_assert_cmpstr(text, ==, text_again);
}

/* ---- secrets --------------------------------------------------------------- */

SETTINGS_TEST(a_secret_must_be_private)
{
	static const struct {
		int mode;
		bool is_ok;            /* as a file */
		bool is_ok_credential; /* systemd's ACLs show as a group's rights */
	} rows[] = {
	    {0600, true, true},
	    {0400, true, true},
	    {0440, false, true},
	    {0640, false, true},
	    {0620, false, true},
	    {0604, false, false},
	    {0644, false, false},
	    {0601, false, false},
	};
	g_autofree char *path = write_file(directory, "relay", "s3cret \xc3\xa9 \r\n");

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *absolute = NULL, *credential = NULL;

		g_chmod(path, rows[i].mode);
		absolute = settings_load_secret(path, directory->path, &error);
		g_assert_cmpstr(
		    absolute, ==, rows[i].is_ok ? "s3cret \xc3\xa9 " : NULL);
		if (!rows[i].is_ok) {
			g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
			g_assert_nonnull(strstr(error->message, "chmod 600"));
			g_assert_null(strstr(error->message, "s3cret"));
		}
		g_clear_error(&error);
		credential = settings_load_secret("relay", directory->path, &error);
		g_assert_cmpstr(credential, ==,
		    rows[i].is_ok_credential ? "s3cret \xc3\xa9 " : NULL);
	}
}

SETTINGS_TEST(an_invalid_secret_is_reported)
{
	g_autofree char *empty = write_file(directory, "empty", "\n");
	const struct {
		const char *path, *credentials, *says;
	} rows[] = {
	    {"/nonexistent/relay", NULL, "No such file"},
	    {"relay", directory->path, "No such file"},
	    {"relay", NULL, "CREDENTIALS_DIRECTORY is not set"},
	    {empty, NULL, "is empty"},
	    {directory->path, NULL, "is a directory"},
	};

	g_chmod(empty, 0600);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;

		g_assert_null(
		    settings_load_secret(rows[i].path, rows[i].credentials, &error));
		g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
		if (!strcasestr(error->message, rows[i].says))
			g_test_fail_printf("%s", error->message);
	}
}

TEST(changed_settings_are_listed_by_name)
{
	pb_auto(settings) before = settings_new();
	pb_auto(settings) after = settings_new();
	g_autoptr(GPtrArray) none = settings_list_changes(before, after, false);
	g_autoptr(GPtrArray) all = NULL, fixed = NULL;

	g_assert_cmpuint(none->len, ==, 0);
	g_free(after->state_dir);
	after->state_dir = g_strdup("/elsewhere");
	after->smtp_port = 2525;
	g_ptr_array_set_size(after->sources, 0);
	after->smtp_tls = SETTINGS_TLS_IMPLICIT;
	all = settings_list_changes(before, after, false);
	g_assert_cmpuint(all->len, ==, 4);
	g_assert_cmpstr(all->pdata[0], ==, "state_dir");
	g_assert_cmpstr(all->pdata[1], ==, "sources");
	g_assert_cmpstr(all->pdata[2], ==, "smtp.port");
	g_assert_cmpstr(all->pdata[3], ==, "smtp.tls");
	fixed = settings_list_changes(before, after, true);
	g_assert_cmpuint(fixed->len, ==, 1);
	g_assert_cmpstr(fixed->pdata[0], ==, "state_dir");
}

UNIT_MAIN
