/*
 * acronym.h - finds acronyms that a text defines: "low-rank adaptation (LoRA)", "LoRA
 * (low-rank adaptation)".
 *
 * After A. Schwartz and M. Hearst (2003), but stricter, since the results are suggested
 * to users. Each character of the short form stands for a word, in order:
 *   - the first one for the first word of the long form, which ends at the
 *     parenthesis, has at least two words and no punctuation but - and /, and does not
 *     begin with a function word, except before a hyphen (in-context learning);
 *   - a capital is the first character of a word, a capital in it, follows a prefix
 *     (autoencoder), or continues the one before it (DETR: DEtection TRansformer);
 *     others may be anywhere in the word (LoRA);
 *   - "2" also stands for "to";
 *   - only function words (of, the, with) and words after a hyphen may be skipped.
 * The short form has at least two capitals and at most BOUNDS_ACRONYM_CHARS letters and
 * digits, without a plural s.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

struct acronym {
	char *short_text; /* as written, singular: "LoRA" */
	char *long_text;  /* as written: "low-rank adaptation" */
};

/**
 * Whether a short form may stand for a phrase, by the rules for its characters above,
 * of which those for the long form's words and the number of capitals do not apply.
 */
bool acronym_matches(const char *short_text, const char *phrase);

/** Find all in a normalised text. @return of struct acronym *, in text order */
GPtrArray *acronym_find(const char *text);
