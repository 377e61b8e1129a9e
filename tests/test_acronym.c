/*
 * test_acronym.c - acronyms that a text defines.
 */
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "base/bounds.h"
#include "lib/unit.h"
#include "query/text/acronym.h"

static char *
find(const char *text)
{
	g_autoptr(GPtrArray) forms = acronym_find(text);
	GString *found = g_string_new(NULL);

	for (unsigned i = 0; i < forms->len; i++) {
		const struct acronym *form = forms->pdata[i];

		g_string_append_printf(
		    found, "%s%s=%s", i ? "; " : "", form->short_text, form->long_text);
	}
	return g_string_free(found, FALSE);
}

TEST(acronyms_are_found_as_papers_define_them)
{
	static const struct {
		const char *text;
		const char *found;
	} rows[] = {
	    {"We use low-rank adaptation (LoRA) here.", "LoRA=low-rank adaptation"},
	    {"LoRA (low-rank adaptation) is used", "LoRA=low-rank adaptation"},
	    {"Large Language Models (LLMs) are", "LLM=Large Language Models"},
	    {"of multi-modal large language models (MLLMs)",
	        "MLLM=multi-modal large language models"},
	    {"reinforcement learning from human feedback (RLHF)",
	        "RLHF=reinforcement learning from human feedback"},
	    {"with Chain-of-Thought (CoT) and Mixture-of-Experts (MoE)",
	        "CoT=Chain-of-Thought; MoE=Mixture-of-Experts"},
	    {"text-to-image (T2I) and image-to-video (I2V)",
	        "T2I=text-to-image; I2V=image-to-video"},
	    {"the text-to-speech (TTS) task", "TTS=text-to-speech"},
	    {"3D Gaussian Splatting (3DGS)", "3DGS=3D Gaussian Splatting"},
	    {"DEtection TRansformer (DETR)", "DETR=DEtection TRansformer"},
	    {"a Diffusion Transformer (DiT; Peebles et al.)",
	        "DiT=Diffusion Transformer"},
	    {"generative pre-trained transformers (GPTs)",
	        "GPT=generative pre-trained transformers"},
	    {"vision-language-action (VLA) models", "VLA=vision-language-action"},
	    {"for in-context learning (ICL)", "ICL=in-context learning"},
	    {"Sparse MonoEncoders (SMEs)", "SME=Sparse MonoEncoders"},
	    {"sparse autoencoders (SAEs)", "SAE=sparse autoencoders"},
	    /* Not a pair: another meaning or order, a character too many or too few. */
	    {"a model (LLM) that", ""},
	    {"large models of language (LLM)", ""},
	    {"large fast language model (LLM)", ""},
	    {"language model (LLM)", ""},
	    {"learning. Large language model (LL)", ""},
	    {"large, language model (LLM)", ""},
	    {"Eq. (1) and Figure (A) and (see B)", ""},
	    {"one word (OW", ""},
	    {"one word ()", ""},
	    {"(LLM) large language model", ""},
	    {"photos (Ph)", ""},
	    {"a big house (aBH)", ""},
	    {"in context learning (ICL)", ""},
	    {"sparse monoencoders (SMEs)", ""},
	    {"LoRA (low-rank adaptation of models)", ""},
	    {"", ""},
	    {"(", ""},
	    {"((LLM))", ""},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *found = find(rows[i].text);

		g_assert_cmpstr(found, ==, rows[i].found);
	}
}

TEST(acronym_has_a_maximum_length)
{
	for (int more = 0; more < 2; more++) {
		g_autoptr(GString) text = g_string_new(NULL);
		g_autoptr(GPtrArray) forms = NULL;
		int messages = BOUNDS_ACRONYM_CHARS + more;

		for (int i = 0; i < messages; i++)
			g_string_append_printf(text, "%c%c ", 'a' + i, 'a' + i);
		g_string_append_c(text, '(');
		for (int i = 0; i < messages; i++)
			g_string_append_c(text, (char)('A' + i));
		g_string_append_c(text, ')');
		forms = acronym_find(text->str);
		g_assert_cmpuint(forms->len, ==, more ? 0 : 1);
	}
}

TEST(time_is_bounded_for_any_text)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GPtrArray) forms = NULL;

	/* Words that match everywhere, and a last character that never does. */
	for (int i = 0; i < 2000; i++)
		g_string_append(
		    text, "aaaaaaaaaaaaaaaa-aaaaaaaaaaa of aaaaaaaa b (AAaaaaaaac) ");
	forms = acronym_find(text->str);
	g_assert_cmpuint(forms->len, ==, 0);
}

TEST(acronyms_are_compared_with_phrases)
{
	static const struct {
		const char *short_text;
		const char *phrase;
		bool matches;
	} rows[] = {
	    {"LLM", "large language model", true},
	    {"LORA", "low rank adaptation", true},
	    {"COT", "chain of thought", true},
	    {"T2I", "text to image", true},
	    {"sft", "supervised finetuning", true},
	    {"SFT", "supervised finetuning", false},
	    {"LM", "large language model", false},
	    {"LLMX", "large language model", false},
	    {"L", "large language", false},
	    {"", "large language", false},
	    {"LLM", "", false},
	    {"LLM", "large", false},
	    {"LL", ", large language", false},
	};
	g_autofree char *longest = g_strnfill(BOUNDS_ACRONYM_CHARS, 'a');
	g_autofree char *longer = g_strnfill(BOUNDS_ACRONYM_CHARS + 1, 'a');
	const char *phrase = "aaa aaaaa aaaaaaaaaaa";

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (acronym_matches(rows[i].short_text, rows[i].phrase) !=
		    rows[i].matches)
			g_error("%s: %s", rows[i].short_text, rows[i].phrase);
	g_assert_true(acronym_matches(longest, phrase));
	g_assert_false(acronym_matches(longer, phrase));
}

UNIT_MAIN
