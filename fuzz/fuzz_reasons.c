/*
 * fuzz_reasons.c - parse any text as the stored reasons of a digest.
 */
#include <string.h>

#include "fuzz.h"
#include "store/mail/digests.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	g_autofree char *text = fuzz_take_text(&input);
	g_autoptr(GPtrArray) reasons =
	    g_ptr_array_new_with_free_func((GDestroyNotify)digest_reason_free);
	g_autoptr(GString) reported = g_string_new(NULL);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	digests_parse_reasons(text, reasons);
	g_assert(reasons->len == g_strv_length(lines));
	for (guint i = 0; i < reasons->len; i++) {
		const struct digest_reason *reason = reasons->pdata[i];
		bool has_tab = strchr(lines[i], '\t') != NULL;

		g_assert(!strpbrk(reason->filter, "\t\n"));
		g_assert(has_tab || !*reason->words);
		g_string_append_printf(reported, "%s%s%s%s", i ? "\n" : "",
		    reason->filter, has_tab ? "\t" : "", reason->words);
	}
	g_assert_cmpstr(reported->str, ==, text);
	return 0;
}
