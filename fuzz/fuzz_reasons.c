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
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	digests_parse_reasons(text, reasons);
	g_assert(reasons->len == g_strv_length(lines));
	for (guint i = 0; i < reasons->len; i++) {
		const struct digest_reason *reason = reasons->pdata[i];
		const char *tab = strchr(lines[i], '\t');
		g_autoptr(GString) hits = g_string_new(NULL);
		g_autoptr(GPtrArray) again = NULL;

		g_assert(!strpbrk(reason->filter, "\t\n"));
		g_assert(tab || reason->hits->len == 0);
		hits_append(hits, reason->hits);
		again = hits_parse(hits->str);
		g_assert(again->len == reason->hits->len);
	}
	return 0;
}
