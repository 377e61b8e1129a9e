/*
 * test_request.c - requests to subscribe or unsubscribe in ordinary words.
 */
#include "service/command/request_match.h"

#include <glib.h>

#include "lib/unit.h"

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
    "这是什么", "stop gradient", "join order optimization", "subscribe Ada Lovelace",
    "federated unlearning", "I am subscribed already", "nie rozumiem"};

static void
check(const char *const *lines, size_t count, enum request_kind wanted)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < count; i++) {
		enum request_kind found = request_match(lines[i]);

		if (found == wanted)
			continue;
		g_test_message("'%s' is %d", lines[i], found);
		wrong++;
	}
	g_assert_cmpuint(wrong, ==, 0);
}

TEST(unsubscribe_requests_are_recognised)
{
	check(leaving, G_N_ELEMENTS(leaving), REQUEST_UNSUBSCRIBE);
}

TEST(subscribe_requests_are_recognised)
{
	check(coming, G_N_ELEMENTS(coming), REQUEST_SUBSCRIBE);
}

TEST(closings_are_recognised)
{
	static const char *const closings[] = {"Mit freundlichen Gr\303\274\303\237en",
	    "Viele Gr\303\274\303\237e", "MfG", "LG", "Best,", "Best wishes",
	    "Kind regards", "Un cordial saludo", "Distinti saluti", "Cumprimentos",
	    "Cordialement"};

	for (size_t i = 0; i < G_N_ELEMENTS(closings); i++)
		if (!request_is_closing(closings[i]))
			g_error("%s", closings[i]);
	g_assert_false(request_is_closing("best arm identification"));
}

TEST(other_lines_are_not_requests)
{
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
		if (request_match(others[i]) >= REQUEST_SUBSCRIBE)
			g_error("%s", others[i]);
	g_assert_cmpint(request_match("stop sending papers about agents"), ==,
	    REQUEST_LEAVE_UNCLEAR);
}

TEST(language_is_guessed)
{
	static const char *const rows[][2] = {
	    {"Guten Tag, ich möchte mich bitte anmelden", "de"},
	    {"Hello, please sign me up", "en"},
	    {"Bonjour, je voudrais m'abonner", "fr"},
	    {"Anmeldung", "de"},
	    {"購読したいです", "ja"},
	    {"diffusion", NULL},
	    {"", NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		g_assert_cmpstr(request_guess_language(rows[i][0]), ==, rows[i][1]);
}

UNIT_MAIN
