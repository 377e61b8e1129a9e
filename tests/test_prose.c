/*
 * test_prose.c - what mails in ordinary words ask for.
 */
#include "message/prose.h"

#include <string.h>

#include "lib/cases.h"
#include "lib/unit.h"

static bool
is_command(const char *line)
{
	return g_str_has_prefix(line, "add ");
}

static struct prose *
read_mail(const char *subject, const char *text)
{
	static const char *const names[] = {"Ada Reader", "reader", NULL};
	const struct prose_mail mail = {
	    .subject = subject, .text = text, .names = names, .is_command = is_command};

	return prose_read(&mail);
}

/* Topics as they were split. */
static void
add_values(GString *text, const struct phrases_match *wish)
{
	char sign = '=';

	for (guint i = 0; wish->values && i < wish->values->len; i++) {
		const struct phrases_value *value =
		    &g_array_index(wish->values, struct phrases_value, i);

		if (strcmp(value->name, "topics") == 0)
			continue;
		g_string_append_printf(text, "%c%s", sign, value->text);
		sign = '|';
	}
}

/* "subscribe; add=robots; -name; ?what" */
static char *
summarize(const struct prose *prose)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];

		if (text->len)
			g_string_append(text, "; ");
		switch (item->kind) {
		case PROSE_COMMAND:
			g_string_append_printf(text, "!%s", item->line);
			break;
		case PROSE_WISH:
			g_string_append(text, item->wish.intent);
			add_values(text, &item->wish);
			break;
		case PROSE_CUT:
			g_string_append_printf(text, "-%s", item->reason);
			break;
		case PROSE_DOUBT:
			g_string_append(text, "??");
			break;
		case PROSE_UNREAD:
			g_string_append_printf(text, "?%s", item->line);
			break;
		}
	}
	return g_string_free(text, FALSE);
}

/* The order of what is cut before and after is of no interest. */
TEST(mails_are_understood)
{
	unsigned wrong = 0;

	CASES_FOREACH(row, "prose_mails", *subject, *text, *expected) {
		pb_auto(prose) prose = read_mail(row->subject, row->text);
		g_autofree char *found = summarize(prose);
		g_auto(GStrv) one = g_strsplit(found, "; ", -1);
		g_auto(GStrv) two = g_strsplit(row->expected, "; ", -1);
		bool is_same = g_strv_length(one) == g_strv_length(two);

		for (char **part = two; *part; part++)
			is_same =
			    is_same && g_strv_contains((const char *const *)one, *part);
		if (is_same)
			continue;
		g_test_message("'%s': %s, not %s", row->text, found, row->expected);
		wrong++;
	}
	g_assert_cmpuint(wrong, ==, 0);
}

/* Whole lines that ask to leave or to subscribe, in all languages. */
static const char *const leaving[] = {"stop", "STOP!", "Stop.", "please unsubscribe me",
    "Please remove me from your mailing list.", "take me off this list",
    "Kindly take me off your list, thanks", "I want to unsubscribe",
    "I would like to be removed from this list",
    "Remove my address from the list please", "please cancel my subscription",
    "stop sending me emails", "Stop emailing me!",
    "Please stop sending me these digests", "no more emails please",
    "Don't send me any more mails", "I no longer wish to receive these emails",
    "opt out", "Unsubscribe me immediately",
    "could you please delete me from the list?", "I'd like to leave this mailing list",
    "please unsubscribe my address from your list", "abbestellen", "Abmelden",
    "Abmeldung", "Bitte abmelden!", "bitte austragen", "Ich möchte mich abmelden",
    "Bitte nehmt mich von der Liste", "Bitte nehmen Sie mich von Ihrem Verteiler",
    "Bitte melden Sie mich ab", "Bitte keine Mails mehr",
    "Ich möchte den Newsletter abbestellen", "Hiermit kündige ich mein Abo",
    "Bitte tragen Sie mich aus der Liste aus", "Ich will keine E-Mails mehr bekommen",
    "Bitte löschen Sie mich aus dem Verteiler", "désabonner", "Me désabonner",
    "Je veux me désabonner", "desabonnement", "Veuillez me désinscrire de la liste",
    "Merci de me retirer de votre liste", "Je ne souhaite plus recevoir vos mails",
    "désinscription svp", "Ne m'envoyez plus de messages",
    "Supprimez-moi de la liste, merci", "darse de baja", "darme de baja",
    "Quiero darme de baja", "Por favor, denme de baja de la lista",
    "cancelar suscripción", "No quiero recibir más correos",
    "Por favor elimínenme de esta lista", "Baja", "dejen de enviarme mensajes",
    "cancellami", "Cancellatemi dalla lista, grazie", "Vorrei cancellarmi",
    "Disiscrizione", "Non voglio più ricevere email",
    "Per favore rimuovetemi dalla mailing list", "annulla iscrizione",
    "cancelar assinatura", "Quero cancelar a minha inscrição",
    "Por favor removam-me da lista", "Não quero mais receber e-mails", "Descadastrar",
    "remover meu email da lista", "afmelden", "Graag afmelden",
    "Ik wil me uitschrijven", "Schrijf mij uit aub", "Verwijder mij van deze lijst",
    "Ik wil geen mails meer ontvangen", "uitschrijven a.u.b.", "wypisz mnie",
    "Proszę mnie wypisać z listy", "Chcę się wypisać", "rezygnuję",
    "Proszę usunąć mój adres z listy", "Rezygnuję z subskrypcji",
    "Nie chcę więcej wiadomości", "配信停止", "配信を停止してください",
    "メールの配信停止をお願いします。", "退会したいです", "登録を解除してください",
    "購読解除を希望します", "もうメールを送らないでください", "退订", "请退订",
    "取消订阅", "我想取消订阅", "請取消訂閱", "请把我从邮件列表中删除",
    "不要再发邮件给我", "请停止发送邮件", "我不想再收到这些邮件"};

static const char *const coming[] = {"please subscribe me", "Subscribe me please",
    "I would like to subscribe", "Please sign me up!", "sign me up for the digest",
    "Please add me to your mailing list", "I'd like to join this list",
    "Could you add me to the list please?", "Hello, I want to subscribe to your digest",
    "Put me on the list", "Anmeldung", "Anmelden bitte", "Ich möchte mich anmelden",
    "Bitte tragen Sie mich ein", "Ich würde gerne den Newsletter abonnieren",
    "Bitte nehmt mich in den Verteiler auf", "Hiermit melde ich mich an",
    "je veux m'abonner", "Je souhaite m'inscrire à la liste", "inscription",
    "Je voudrais recevoir votre newsletter", "Abonnez-moi s'il vous plaît",
    "Quiero suscribirme", "suscribirme", "Por favor, suscríbanme a la lista",
    "darme de alta", "Me gustaría suscribirme", "Vorrei iscrivermi", "Iscrizione",
    "Iscrivetemi per favore", "Desidero abbonarmi", "Quero me inscrever",
    "Gostaria de assinar", "Inscrever-me", "quero subscrever a newsletter", "aanmelden",
    "Ik wil me graag aanmelden", "Ik wil me inschrijven", "Meld mij aan aub",
    "Chcę się zapisać", "Proszę mnie zapisać", "Zapisz mnie na listę", "subskrypcja",
    "購読したいです", "購読を希望します", "登録をお願いします", "订阅", "我想订阅",
    "请帮我订阅", "我要訂閱", "请把我加入邮件列表"};

static const char *const others[] = {"stop sending papers about agents",
    "How do I unsubscribe?", "please do not unsubscribe me", "remove filter 3",
    "unsubscribe from agents", "I read of you in the news", "What is this",
    "add diffusion", "diffusion models", "transformer", "reinforcement learning",
    "Ich habe eine Frage zur Abmeldung", "Kann ich Filter ändern",
    "Wie melde ich mich ab", "comment me désabonner", "no entiendo la lista",
    "como puedo darme de baja", "why do I get this", "pause 2 weeks",
    "diffusion stop tokens", "early stopping", "非常に面白い論文です", "怎么退订",
    "这是什么", "stop gradient", "join order optimization", "federated unlearning",
    "I am subscribed already", "nie rozumiem"};

static unsigned
check_lines(const char *const *lines, size_t count, const char *intent)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < count; i++) {
		pb_auto(prose_item) item = prose_read_line(lines[i]);
		bool is_it = item && strcmp(item->wish.intent, intent) == 0 &&
		             !phrases_get_value(&item->wish, "topic", 0);

		if (is_it)
			continue;
		g_test_message(
		    "'%s' is %s", lines[i], item ? item->wish.intent : "none");
		wrong++;
	}
	return wrong;
}

TEST(leaving_and_subscribing_are_recognised)
{
	unsigned wrong = check_lines(leaving, G_N_ELEMENTS(leaving), "leave") +
	                 check_lines(coming, G_N_ELEMENTS(coming), "subscribe");

	for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
		const char *const one[] = {others[i]};

		if (check_lines(one, 1, "leave") && check_lines(one, 1, "subscribe"))
			continue;
		g_test_message("'%s' is a request", others[i]);
		wrong++;
	}
	g_assert_cmpuint(wrong, ==, 0);
}

TEST(automatic_replies_are_known_by_their_subjects)
{
	static const struct {
		const char *subject;
		bool is_automatic;
	} subjects[] = {{"Ferienabwesenheit Re: 5 new papers", true},
	    {"Out of office: 5 new papers", true},
	    {"Abwesend AW: 5 neue Artikel", true}, {"Away until Monday", false},
	    {"Subscribe: robots", false}};

	for (size_t i = 0; i < G_N_ELEMENTS(subjects); i++) {
		pb_auto(prose) prose =
		    read_mail(subjects[i].subject, "Please add robots to my list.");

		g_test_message("%s", subjects[i].subject);
		g_assert_cmpint(prose->is_automatic, ==, subjects[i].is_automatic);
	}
}

/* The letters and digits of a text. */
static char *
get_letters(const char *text)
{
	GString *letters = g_string_new(NULL);

	for (; *text; text = g_utf8_next_char(text))
		if (g_unichar_isalnum(g_utf8_get_char(text)))
			g_string_append_unichar(letters, g_utf8_get_char(text));
	return g_string_free(letters, FALSE);
}

/* Every word of a mail is in an item: done, proposed, cut or not read. */
TEST(each_word_is_accounted_for)
{
	static const char *const parts[] = {"Hello,", "please subscribe me to",
	    "add robots", "robots and", "\n", "\n\n", "Best\nAda", "-- \nAda", "until",
	    "by 7. May?", "> quoted", "unless (maybe)", "(((", "me@example.org",
	    "+49 30 123 4567", "ja, bitte", "不要再发", "x 1. y", "____",
	    "pause 2 weeks; stop", "!!! ...", "end", "filter 2 should be about tax law",
	    "no papers by Ada Lovelace", "halb acht abends", "Why 3?", "désabonner",
	    "- (GNNs)", "trees: oak; elm", "what about arXiv", "请订阅机器人",
	    "add x, y", "Sent from my phone", "c++ & c#", "=?utf-8?q?x?=", "\\"};
	unsigned rounds = g_getenv("PAPERBOY_LONG") ? 3000 : 100;
	g_autoptr(GRand) random = g_rand_new_with_seed(7);

	for (unsigned round = 0; round < rounds; round++) {
		g_autoptr(GString) text = g_string_new(NULL);
		g_autoptr(GString) read = g_string_new(NULL);
		pb_auto(prose) prose = NULL;
		g_autofree char *all = NULL, *found = NULL;

		for (unsigned i = 0; i < 12; i++)
			g_string_append_printf(text, "%s%c",
			    parts[g_rand_int_range(random, 0, G_N_ELEMENTS(parts))],
			    g_rand_boolean(random) ? ' ' : '\n');
		prose = read_mail("", text->str);
		for (guint i = 0; i < prose->items->len; i++) {
			const struct prose_item *item = prose->items->pdata[i];

			g_assert_true(item->kind != PROSE_CUT || item->reason);
			g_string_append(read, item->line);
		}
		all = get_letters(text->str);
		found = get_letters(read->str);
		if (strlen(all) != strlen(found))
			g_error("%s\n---\n%s", text->str, read->str);
	}
}

TEST(topics_become_filters)
{
	static const char *const topics[][3] = {
	    {"robots", "robots", NULL},
	    {"graph theory", "\"graph theory\"", NULL},
	    {"graph neural networks (GNNs)", "\"graph neural networks\" OR GNNs", NULL},
	    {"transformers (the network)", "transformers", "the network"},
	    {"\"quoted\" words", "\"quoted  words\"", NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(topics); i++) {
		g_autofree char *unused = NULL;
		g_autofree char *query = prose_format_topic(topics[i][0], &unused);

		g_assert_cmpstr(query, ==, topics[i][1]);
		g_assert_cmpstr(unused, ==, topics[i][2]);
	}
}

UNIT_MAIN
