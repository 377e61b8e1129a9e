/*
 * bigram.c - scripts without spaces between words, which are searched by pairs.
 */
#include "base/bigram.h"

/* Inclusive ranges (Unicode's Scripts.txt); marks and signs that are read as part of a
 * word belong to them. */
static const struct {
	gunichar first, last;
} ranges[] = {
    {0x0e01, 0x0e3a}, {0x0e40, 0x0e4e}, /* Thai with vowels and tone marks */
    {0x3005, 0x3007},                   /* 々 〆 〇 */
    {0x3041, 0x309f},                   /* hiragana, voicing marks */
    {0x30a1, 0x30fa}, {0x30fc, 0x30ff}, /* katakana, ー; not the middle dot */
    {0x31f0, 0x31ff},                   /* small katakana */
    {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, /* Han */
    {0xf900, 0xfaff},                   /* compatibility ideographs */
    {0xff66, 0xff9f},                   /* halfwidth katakana */
    {0x1aff0, 0x1b16f},                 /* historic and small kana */
    {0x20000, 0x3fffd},                 /* extensions of Han */
};

bool
bigram_is_char(gunichar c)
{
	for (size_t i = 0; i < G_N_ELEMENTS(ranges); i++)
		if (c <= ranges[i].last)
			return c >= ranges[i].first;
	return false;
}

const char *
bigram_find_last(const char *token, size_t token_len, const char *behind)
{
	const char *last;

	if (!bigram_is_at(token, (gssize)token_len) || bigram_is_at(behind, -1))
		return NULL;
	last = g_utf8_next_char(token);
	return last < token + token_len ? last : NULL;
}
