/*
 * quote_patterns.c - attribution lines and other markers of quotes, by language.
 */
#include "parser/quote_patterns.h"

#include <glib.h>
#include <string.h>

static const char *const verbs[] = {"wrote", "writes:", "schrieb", "a écrit",
    "écrivait", "escribió", "ha scritto", "scrive:", "scriveva", "escreveu", "schreef",
    "geschreven:", "skrev", "kirjoitti", "napisał", "pisze:", "napsal", "napísal",
    "írta", "yazdı", "a scris", "έγραψε", "пишет", "написал", "пише", "написав",
    "のメール:", "さんは書きました", "写道", "寫道", "님이 작성", "작성:", "đã viết",
    "menulis", "כתב", "كتب"};

static const char *const openings[] = {"on ", "am ", "le ", "el ", "il ", "em ", "op ",
    "a(z) ", "den ", "dnia ", "dne ", "în ", "la ", "στις ", "вт", "пн", "ср", "чт",
    "пт", "сб", "вс", "в ", "на ", "在 ", "于 ", "於 ", "pe ", "vào ", "pada ",
    "de: ", "mon,", "tue,", "wed,", "thu,", "fri,", "sat,", "sun,"};

static const char *const dividers[] = {"begin forwarded message:",
    "anfang der weitergeleiteten nachricht:", "début du message réexpédié",
    "inicio del mensaje reenviado:", "inizio messaggio inoltrato:",
    "início da mensagem encaminhada:", "begin doorgestuurd bericht:",
    "начало переадресованного сообщения:", "転送されたメッセージ:",
    "下面是被转发的邮件:", "下面是被轉寄的郵件:"};

/* Beginning of the line, and text that must occur in it. */
static const struct {
	const char *beginning, *contains;
} advertisements[] = {
    {"sent from my ", ""},
    {"sent from mail for ", ""},
    {"sent from yahoo mail", ""},
    {"sent from outlook", ""},
    {"sent from proton mail", ""},
    {"sent with proton", ""},
    {"sent from the ", ""},
    {"get outlook for ", ""},
    {"get bluemail for ", ""},
    {"von meine", "gesendet"},
    {"gesendet von ", ""},
    {"gesendet mit der ", ""},
    {"holen sie sich outlook für ", ""},
    {"diese nachricht wurde von meinem ", "gesendet"},
    {"envoyé de mon ", ""},
    {"envoyé depuis ", ""},
    {"envoyé à partir de ", ""},
    {"télécharger outlook pour ", ""},
    {"obtenez outlook pour ", ""},
    {"enviado desde ", ""},
    {"obtener outlook para ", ""},
    {"inviato da ", ""},
    {"inviato dal mio ", ""},
    {"scarica outlook per ", ""},
    {"enviado do meu ", ""},
    {"enviado a partir do ", ""},
    {"obter o outlook para ", ""},
    {"verstuurd vanaf ", ""},
    {"verzonden vanuit ", ""},
    {"verzonden vanaf ", ""},
    {"outlook voor ", "downloaden"},
    {"skickat från min ", ""},
    {"sendt fra min ", ""},
    {"wysłane z ", ""},
    {"lähetetty ", "iphone"},
    {"отправлено с ", ""},
    {"отправлено из ", ""},
    {"iphoneから送信", ""},
    {"ipadから送信", ""},
    {"androidから送信", ""},
    {"发自我的", ""},
    {"發自我的", ""},
    {"從我的", "傳送"},
    {"나의 ", "보냄"},
};

static const char *const froms[] = {"from", "von", "de", "da", "van", "от", "od",
    "från", "fra", "差出人", "送信者", "发件人", "寄件者", "寄件人", "發件人",
    "보낸 사람"};

static const char *const headers[] = {"sent", "date", "to", "cc", "subject", "reply-to",
    "gesendet", "datum", "an", "betreff", "envoyé", "à", "objet", "enviado",
    "enviado el", "fecha", "para", "asunto", "inviato", "data", "a", "oggetto",
    "enviada em", "enviado em", "assunto", "verzonden", "aan", "onderwerp",
    "отправлено", "дата", "кому", "тема", "wysłano", "do", "temat", "skickat", "till",
    "ämne", "送信日時", "日時", "宛先", "件名", "发送时间", "日期", "收件人", "抄送",
    "主题", "傳送時間", "寄件日期", "收件者", "主旨", "主題", "보낸 날짜", "받는 사람",
    "제목"};

static bool
has_any(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

static bool
begins_with_any(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (g_str_has_prefix(text, words[i]))
			return true;
	return false;
}

/* "From:", "*From:*", "From :", "差出人：" */
static bool
is_any_header(const char *line, const char *const *words, size_t count)
{
	line += strspn(line, "* ");
	for (size_t i = 0; i < count; i++) {
		const char *at = line + strlen(words[i]);

		if (!g_str_has_prefix(line, words[i]))
			continue;
		at += strspn(at, "* ");
		if (g_str_has_prefix(at, "\xc2\xa0"))
			at += 2;
		if (*at == ':' || g_str_has_prefix(at, "："))
			return true;
	}
	return false;
}

bool
quote_patterns_has_verb(const char *folded)
{
	return has_any(folded, verbs, G_N_ELEMENTS(verbs));
}

bool
quote_patterns_has_opening(const char *folded)
{
	return begins_with_any(folded, openings, G_N_ELEMENTS(openings));
}

bool
quote_patterns_is_divider(const char *folded)
{
	return begins_with_any(folded, dividers, G_N_ELEMENTS(dividers));
}

bool
quote_patterns_is_advertisement(const char *folded)
{
	for (size_t i = 0; i < G_N_ELEMENTS(advertisements); i++)
		if (g_str_has_prefix(folded, advertisements[i].beginning) &&
		    strstr(folded, advertisements[i].contains))
			return true;
	return false;
}

bool
quote_patterns_is_from(const char *folded)
{
	return is_any_header(folded, froms, G_N_ELEMENTS(froms));
}

bool
quote_patterns_is_header(const char *folded)
{
	return is_any_header(folded, headers, G_N_ELEMENTS(headers));
}
