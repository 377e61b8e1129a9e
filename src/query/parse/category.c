/*
 * category.c - names of arXiv categories and archives.
 */
#include "query/parse/category.h"

#include <glib.h>
#include <string.h>

#include "base/edit_distance.h"

/* The archive is the part before the dot; a name without a dot is both. */
static const char *const categories[] = {
    "astro-ph.CO",
    "astro-ph.EP",
    "astro-ph.GA",
    "astro-ph.HE",
    "astro-ph.IM",
    "astro-ph.SR",
    "cond-mat.dis-nn",
    "cond-mat.mes-hall",
    "cond-mat.mtrl-sci",
    "cond-mat.other",
    "cond-mat.quant-gas",
    "cond-mat.soft",
    "cond-mat.stat-mech",
    "cond-mat.str-el",
    "cond-mat.supr-con",
    "cs.AI",
    "cs.AR",
    "cs.CC",
    "cs.CE",
    "cs.CG",
    "cs.CL",
    "cs.CR",
    "cs.CV",
    "cs.CY",
    "cs.DB",
    "cs.DC",
    "cs.DL",
    "cs.DM",
    "cs.DS",
    "cs.ET",
    "cs.FL",
    "cs.GL",
    "cs.GR",
    "cs.GT",
    "cs.HC",
    "cs.IR",
    "cs.IT",
    "cs.LG",
    "cs.LO",
    "cs.MA",
    "cs.MM",
    "cs.MS",
    "cs.NA",
    "cs.NE",
    "cs.NI",
    "cs.OH",
    "cs.OS",
    "cs.PF",
    "cs.PL",
    "cs.RO",
    "cs.SC",
    "cs.SD",
    "cs.SE",
    "cs.SI",
    "cs.SY",
    "econ.EM",
    "econ.GN",
    "econ.TH",
    "eess.AS",
    "eess.IV",
    "eess.SP",
    "eess.SY",
    "gr-qc",
    "hep-ex",
    "hep-lat",
    "hep-ph",
    "hep-th",
    "math.AC",
    "math.AG",
    "math.AP",
    "math.AT",
    "math.CA",
    "math.CO",
    "math.CT",
    "math.CV",
    "math.DG",
    "math.DS",
    "math.FA",
    "math.GM",
    "math.GN",
    "math.GR",
    "math.GT",
    "math.HO",
    "math.IT",
    "math.KT",
    "math.LO",
    "math.MG",
    "math.MP",
    "math.NA",
    "math.NT",
    "math.OA",
    "math.OC",
    "math.PR",
    "math.QA",
    "math.RA",
    "math.RT",
    "math.SG",
    "math.SP",
    "math.ST",
    "math-ph",
    "nlin.AO",
    "nlin.CD",
    "nlin.CG",
    "nlin.PS",
    "nlin.SI",
    "nucl-ex",
    "nucl-th",
    "physics.acc-ph",
    "physics.ao-ph",
    "physics.app-ph",
    "physics.atm-clus",
    "physics.atom-ph",
    "physics.bio-ph",
    "physics.chem-ph",
    "physics.class-ph",
    "physics.comp-ph",
    "physics.data-an",
    "physics.ed-ph",
    "physics.flu-dyn",
    "physics.gen-ph",
    "physics.geo-ph",
    "physics.hist-ph",
    "physics.ins-det",
    "physics.med-ph",
    "physics.optics",
    "physics.plasm-ph",
    "physics.pop-ph",
    "physics.soc-ph",
    "physics.space-ph",
    "q-bio.BM",
    "q-bio.CB",
    "q-bio.GN",
    "q-bio.MN",
    "q-bio.NC",
    "q-bio.OT",
    "q-bio.PE",
    "q-bio.QM",
    "q-bio.SC",
    "q-bio.TO",
    "q-fin.CP",
    "q-fin.EC",
    "q-fin.GN",
    "q-fin.MF",
    "q-fin.PM",
    "q-fin.PR",
    "q-fin.RM",
    "q-fin.ST",
    "q-fin.TR",
    "quant-ph",
    "stat.AP",
    "stat.CO",
    "stat.ME",
    "stat.ML",
    "stat.OT",
    "stat.TH",
};

const char *
category_find(const char *word, size_t len)
{
	/* A category has a dot or a hyphen; few words have. */
	if (!memchr(word, '.', len) && !memchr(word, '-', len))
		return NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(categories); i++)
		if (strlen(categories[i]) == len &&
		    g_ascii_strncasecmp(categories[i], word, len) == 0)
			return categories[i];
	return NULL;
}

char *
category_find_archive(const char *word, size_t len)
{
	for (size_t i = 0; i < G_N_ELEMENTS(categories); i++)
		if (len > 0 && strcspn(categories[i], ".") == len &&
		    g_ascii_strncasecmp(categories[i], word, len) == 0)
			return g_strndup(categories[i], len);
	return NULL;
}

static void
compare_name(const char *typed, char *name, unsigned *least, char **nearest)
{
	g_autofree char *known = g_ascii_strdown(name, -1);
	unsigned distance = edit_distance_measure(typed, known);

	if (distance < *least) {
		*least = distance;
		g_free(*nearest);
		*nearest = name;
	} else {
		g_free(name);
	}
}

char *
category_find_nearest(const char *word, size_t len)
{
	g_autofree char *typed = g_ascii_strdown(word, (gssize)len);
	unsigned least = G_MAXUINT;
	char *nearest = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(categories); i++) {
		size_t archive_len = strcspn(categories[i], ".");

		compare_name(typed, g_strdup(categories[i]), &least, &nearest);
		compare_name(
		    typed, g_strndup(categories[i], archive_len), &least, &nearest);
	}
	return nearest;
}

const char *
category_get(size_t i)
{
	return i < G_N_ELEMENTS(categories) ? categories[i] : NULL;
}
