/*
 * category.c - the names of arXiv's categories.
 */
#include "query/category.h"

#include <glib.h>
#include <string.h>

/* An archive and its categories, a space between; "" is the archive itself. */
static const struct {
	const char *archive;
	const char *categories;
} archives[] = {
    {"astro-ph", " CO EP GA HE IM SR"},
    {"cond-mat",
        " dis-nn mes-hall mtrl-sci other quant-gas soft stat-mech str-el supr-con"},
    {"cs",
        "AI AR CC CE CG CL CR CV CY DB DC DL DM DS ET FL GL GR GT HC IR IT LG LO MA MM "
        "MS NA NE NI OH OS PF PL RO SC SD SE SI SY"},
    {"econ", "EM GN TH"},
    {"eess", "AS IV SP SY"},
    {"gr-qc", ""},
    {"hep-ex", ""},
    {"hep-lat", ""},
    {"hep-ph", ""},
    {"hep-th", ""},
    {"math",
        "AC AG AP AT CA CO CT CV DG DS FA GM GN GR GT HO IT KT LO MG MP NA NT OA OC PR "
        "QA RA RT SG SP ST"},
    {"math-ph", ""},
    {"nlin", "AO CD CG PS SI"},
    {"nucl-ex", ""},
    {"nucl-th", ""},
    {"physics",
        "acc-ph ao-ph app-ph atm-clus atom-ph bio-ph chem-ph class-ph comp-ph data-an "
        "ed-ph flu-dyn gen-ph geo-ph hist-ph ins-det med-ph optics plasm-ph pop-ph "
        "soc-ph space-ph"},
    {"q-bio", "BM CB GN MN NC OT PE QM SC TO"},
    {"q-fin", "CP EC GN MF PM PR RM ST TR"},
    {"quant-ph", ""},
    {"stat", "AP CO ME ML OT TH"},
};

static bool
is_among(const char *names, const char *name, size_t len)
{
	for (;;) {
		size_t name_len = strcspn(names, " ");

		if (name_len == len && g_ascii_strncasecmp(names, name, len) == 0)
			return true;
		if (!names[name_len])
			return false;
		names += name_len + 1;
	}
}

bool
category_is_name(const char *word, size_t len)
{
	const char *dot = memchr(word, '.', len);
	size_t archive_len = dot ? (size_t)(dot - word) : len;
	const char *rest = dot ? dot + 1 : word + len;
	size_t rest_len = len - (size_t)(rest - word);

	if (dot && rest_len == 0)
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(archives); i++)
		if (strlen(archives[i].archive) == archive_len &&
		    g_ascii_strncasecmp(archives[i].archive, word, archive_len) == 0)
			return is_among(archives[i].categories, rest, rest_len);
	return false;
}
