/*
 * test_confirm_match.c - replies to a confirmation: yes, no, automatic, or unclear.
 */
#include <glib.h>
#include <string.h>

#include "lib/conversation.h"
#include "lib/unit.h"
#include "service/inbound/confirm_match.h"

#define TOKEN   "abcdefghijklmnopqrstuvwx23"
#define ID      "letter.0123456789@example.org"
#define OURS    "Please confirm your request to paperboy@example.org"
#define OURS_DE "Bitte best\u00e4tigen: deine Anfrage an paperboy@example.org"

static const char *const subjects[] = {OURS, OURS_DE, NULL};
static const struct consent_question question = {TOKEN, ID, subjects};

static const char *const names[] = {
    [CONSENT_YES] = "yes",
    [CONSENT_NO] = "no",
    [CONSENT_AUTOMATIC] = "automatic",
    [CONSENT_UNCLEAR] = "unclear",
};

static enum consent
check_mail(const char *subject, const char *text, bool has_reference)
{
	pb_auto(inmail) mail = conversation_new_mail("eva@example.com", subject, text);

	if (has_reference)
		g_ptr_array_add(mail->references, g_strdup(ID));
	return confirm_match(mail, &question);
}

static unsigned
check(enum consent wanted, const char *subject, const char *text)
{
	enum consent found = check_mail(subject, text, true);

	if (found == wanted)
		return 0;
	g_test_message("subject '%s', text '%s': %s, expected %s", subject, text,
	    names[found], names[wanted]);
	return 1;
}

static void
check_texts(enum consent wanted, const char *const *texts, size_t count)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < count; i++)
		wrong += check(wanted, "Re: " OURS, texts[i]);
	g_test_message("%zu replies, %u wrong", count, wrong);
	g_assert_cmpuint(wrong, ==, 0);
}

TEST(consent_at_the_start_is_a_yes)
{
	static const char *const texts[] = {"Yes, I would like to receive these.",
	    "Yes please. Can I change topics later if I want?",
	    "Ja gerne. Was kostet das, wenn ich mehr Themen will?", "Yes I'd like that",
	    "yes thank you", "YES PLEASE", "Yes :)", "Sure!",
	    "sure, go ahead and start", "Ok - fine with me", "okay do it",
	    "OK, no problem.", "No problem at all!", "no problem, please start",
	    "not a problem, go ahead", "No objection from my side", "No worries!",
	    "yes.\n\nSent from my phone", "Hi!\nYes, this was me.",
	    "Good evening,\n\nYes, I confirm my subscription.\n\nBest,\nTom",
	    "Dear all,\n\nConfirmed.", "Hello paperboy, yes", "Hey - yes!",
	    "Yes, I confirm that I want to subscribe", "I hereby confirm",
	    "I do confirm", "Absolutely, thank you!", "yes yes yes", "Yeah sure",
	    "Yup.", "Ja, ich möchte das Abo", "Ja, das bin ich",
	    "Ja ich bestätige die Anmeldung", "jaja", "Gerne, danke!", "Sehr gerne",
	    "Klar doch", "Ok, mach das", "Passt so", "Geht in Ordnung",
	    "Ja, bitte starten", "Jo klar", "Aber sicher!", "Kein Problem!",
	    "Guten Morgen,\nja.", "Lieber Paperboy,\n\nja gerne!", "Oui, je veux bien",
	    "Oui bien sûr", "oui oui", "Je suis d'accord", "Ok, pas de souci",
	    "Oui c'est moi", "Bonsoir, oui", "Avec grand plaisir !", "Sí quiero",
	    "sí, adelante", "Sí, soy yo", "Si, confirmo", "Claro, adelante", "Correcto",
	    "Está bien", "Por supuesto, gracias", "Ningún problema",
	    "Buenas tardes,\nsí, gracias", "Sì, va bene", "Sì per favore",
	    "certo, grazie", "Assolutamente sì", "Ok va bene",
	    "Salve,\nsì confermo l'iscrizione", "Sim, pode enviar", "sim obrigado",
	    "Pode sim", "Claro, obrigado", "Sem problema", "Boa tarde,\nsim",
	    "Ja, graag!", "ja hoor", "Ja, dat klopt", "Prima, start maar",
	    "Akkoord, bedankt", "Goedemorgen,\nja, dat was ik", "Tak, potwierdzam",
	    "tak, to ja", "Tak, chcę", "Oczywiście, dziękuję",
	    "Witam,\ntak, potwierdzam subskrypcję", "はい、確認しました",
	    "はい。よろしくお願いします。", "はい、私です", "お願い致します。", "OK",
	    "はい！", "承知いたしました",
	    "了解いたしました。よろしくお願いいたします。", "同意いたします。",
	    "おはようございます。はい、お願いします。", "问题不大，好的",
	    "好的，请订阅", "好！", "是的，我要订阅", "确认订阅，谢谢", "可以的，谢谢",
	    "行，没问题", "是我申请的", "好的，没问题", "對，請開始", "您好！好的。",
	    "yes pls", "Yess!", "yes\n\n--\nTom", "ok thx", "sure thing!", "Y", "👍👍",
	    "+1", "Agree.", "I agree to this", "I accept the subscription", "Approved",
	    "Confirming", "Yes indeed", "That's right", "That is correct", "It's me",
	    "Yes that's me", "Please go ahead.", "Please subscribe me", "Why not!",
	    "By all means, yes", "I don't mind at all", "Ja danke",
	    "ja gern, vielen dank", "Ja!!!", "Bestätige", "Ich bestätige.",
	    "Bestätigt, danke", "einverstanden!", "Ja, warum nicht", "Ja, ich war's",
	    "ich bin einverstanden", "Gebongt", "Oui je confirme mon inscription",
	    "Confirmé", "Ok merci", "oui!!!", "Oui, avec plaisir", "Je confirme, merci",
	    "D'acc", "Entendu", "Confirmado", "¡Sí!", "¡Claro que sí!", "Sí señor",
	    "Sí, deseo suscribirme", "Vale, gracias", "OK, de acuerdo", "Confermato",
	    "Sì!", "si, confermo", "Certo che sì", "Volentieri, grazie",
	    "Confirmo, obrigado", "Sim!!", "Claro!", "sim, confirmo a inscrição",
	    "Tudo certo", "Ja, ik bevestig", "Jaaa", "Ja prima", "Zeker!", "Bevestigd",
	    "Tak, zgadzam się", "Potwierdzam.", "Jasne!", "No pewnie!", "tak tak",
	    "Ok, zgoda", "はーい", "はい、そうです", "はい、間違いありません",
	    "はい大丈夫です", "ＹＥＳ", "イエス", "了解", "確認済みです",
	    "登録をお願いします", "好", "好啊", "可以，谢谢", "ok，谢谢", "嗯，好的",
	    "当然可以", "同意订阅", "我确认订阅", "yes，谢谢", "OK 没问题", "好的！",
	    "確認訂閱",
	    /* English */
	    "yes", "Yes.", "YES!!!", "Yes, please", "yes please start it",
	    "Yes - go on", "*Yes*", "\"yes\"", "ok", "Ok.", "Okay, thanks", "okay!",
	    "Sure", "sure thing", "Sure, why not", "Sure, why not?", "Confirm",
	    "confirmed", "I confirm.", "I confirm my subscription", "I agree",
	    "Absolutely!", "Of course", "Of course, thank you", "Go ahead", "Yep",
	    "yeah, that was me", "yup", "Certainly, please proceed", "Please do!",
	    "That was me, thanks", "It was me", "Agreed", "Definitely", "By all means",
	    "y", "Alright", "👍", "👍🏽", "✅ yes", "Oh yes please!", "No problem",
	    "no problem!", "No worries, go ahead", "No objections", "Not a problem",
	    "Why not?", "why not", "I don't mind", "Yes, no problem",
	    "Ok no problem at all", "Hi, yes please", "Hello, ok", "Hi yes",
	    "Hi there,\nyes", "Hello paperboy team,\n\nYes, please.",
	    "Good morning,\n\nsure",
	    "Dear Sir or Madam,\n\nI confirm.\n\nKind regards\nEva", "\n\n\nyes",
	    "> quoted line\n\nYes", "Yes\n\nI never got the first mail, though.",
	    "Dear paperboy\n\nconfirm " TOKEN, "CONFIRM " TOKEN,
	    "I think this is right:\nconfirm " TOKEN, "Paperboy team,\n\nyes",
	    "Thanks for the mail, yes",
	    /* German */
	    "ja", "Ja!", "Ja, bitte", "Ja gerne", "Gerne!", "gern", "Klar", "Na klar!",
	    "Jawohl", "Natürlich", "natuerlich", "Selbstverständlich", "Einverstanden",
	    "Bestätigt.", "Ich bestätige das hiermit", "Hiermit bestaetige ich",
	    "In Ordnung", "Passt", "Kein Problem", "kein Problem, los geht's",
	    "Ja, kein Problem", "Warum nicht?", "Nichts dagegen", "Hallo,\nja bitte",
	    "Hallo, ja", "Guten Tag,\n\nja, das war ich.\n\nViele Grüße",
	    "Sehr geehrte Damen und Herren,\n\nja, ich bestätige.", "Moin, jo",
	    "Das war ich.", "Jep", "ok, danke",
	    /* French */
	    "oui", "Oui !", "Oui, merci", "Oui s'il vous plaît", "D'accord", "d’accord",
	    "Bien sûr", "Bien sur !", "Je confirme", "Volontiers", "Avec plaisir",
	    "OK pour moi", "Pas de problème", "pas de souci", "Aucun problème",
	    "Pourquoi pas ?", "Pourquoi pas", "Oui, pas de problème", "Bonjour,\noui",
	    "Bonjour, oui je confirme", "Madame, Monsieur,\n\nOui, je confirme.",
	    "Tout à fait", "C'est bon", "Ça marche", "J'accepte", "Ouais",
	    /* Spanish */
	    "sí", "Sí, por favor", "Si", "si, gracias", "SÍ", "Si por favor", "Claro",
	    "Claro que sí", "Por supuesto", "Vale", "De acuerdo", "Confirmo", "Acepto",
	    "No hay problema", "Sin problema", "¿Por qué no?", "Cómo no", "Hola, sí",
	    "Hola,\n\nsí, confirmo mi suscripción", "Buenos días:\n\nSí, confirmo.",
	    "Adelante", "Desde luego", "Sí, no hay problema",
	    /* Italian */
	    "sì", "Sì, grazie", "si grazie", "Certo", "Certamente!", "Va bene",
	    "Confermo", "D'accordo", "Volentieri", "Nessun problema",
	    "Non c'è problema", "Perché no?", "Buongiorno,\nsì", "Ciao, va bene",
	    "Sì, confermo", "Gentili signori,\n\nconfermo.",
	    /* Portuguese */
	    "sim", "Sim, por favor", "Sim, claro", "Claro que sim", "Com certeza",
	    "Pode ser", "Aceito", "Sem problemas", "Não há problema",
	    "Não tem problema", "Por que não?", "Olá, sim", "Bom dia,\n\nsim, confirmo",
	    "Sim, no meu e-mail", "Concordo", "Isso mesmo",
	    /* Dutch */
	    "Ja graag", "Jazeker", "Graag!", "Akkoord", "Prima", "Natuurlijk", "Oké",
	    "Ik bevestig", "Geen probleem", "Geen bezwaar", "Waarom niet?",
	    "Beste,\n\nja", "Hoi, ja hoor", "Zeker weten", "Is goed",
	    /* Polish */
	    "tak", "Tak, proszę", "Tak!", "Oczywiście", "Zgoda", "Zgadzam się",
	    "Potwierdzam", "Jasne", "Nie ma problemu", "Nie ma sprawy", "No jasne",
	    "Czemu nie?", "Dzień dobry,\n\ntak", "Cześć, tak", "Pewnie", "Chętnie",
	    "Dobrze",
	    /* Japanese */
	    "はい", "はい。", "はい、お願いします", "はい、お願いいたします。",
	    "お願いします", "了解しました", "了解です", "承知しました", "同意します",
	    "もちろんです", "ＯＫ", "OKです", "確認しました。", "問題ありません",
	    "問題ないです", "こんにちは。\nはい",
	    "お世話になっております。\n\nはい、お願いします。",
	    "お世話になっております。はい、登録します。",
	    "ご担当者様\n\nはい、確認しました。", "paperboy 様\nはい",
	    "ぜひお願いします", "かまいません",
	    /* Chinese */
	    "好的", "好的，谢谢", "好的谢谢", "好。", "是", "是的", "是的，请开始",
	    "可以", "可以。", "同意", "我同意", "确认", "確認", "确认订阅", "没问题",
	    "沒問題", "当然", "當然可以", "嗯", "行", "您好，\n是的", "你好，好的",
	    "您好，确认。", "没错", "对",
	    /* More */
	    "Да", "Да, пожалуйста", "Конечно", "Подтверждаю", "Нет проблем",
	    "Не возражаю", "Здравствуйте,\nда", "Ja tack", "Japp", "Ja, gjerne",
	    "Inga problem", "Kyllä", "Evet", "Tamam", "네", "네, 부탁드립니다",
	    "좋아요", "확인", "Igen", "Ναι"};

	check_texts(CONSENT_YES, texts, G_N_ELEMENTS(texts));
}

TEST(refusal_anywhere_is_a_no)
{
	static const char *const texts[] = {"No. If you write again, I will be angry.",
	    "No way", "No!! Stop this", "Please stop.", "Stop sending me mail",
	    "Do not subscribe me", "I don't want any emails",
	    "I do not wish to subscribe", "Not interested, thanks", "No, it was not me",
	    "I have never heard of you", "I haven't requested anything",
	    "I didn't request this subscription.",
	    "This was not me. Please delete my data.", "Please unsubscribe",
	    "unsubscribe please", "Get me off this list", "I want out",
	    "Cancel my subscription", "What? No!", "Who is this? I never signed up.",
	    "Someone is abusing my address", "Nein!!!", "Nein, das war ich nicht",
	    "Bitte nicht", "Auf keinen Fall", "Nein, bitte löschen",
	    "Ich habe mich nie angemeldet", "Bitte entfernen Sie mich aus der Liste",
	    "Nicht von mir", "Lasst mich in Ruhe!", "Hören Sie auf", "Kein Bedarf",
	    "Danke, nein", "Non!", "Non, ce n'était pas moi", "Surtout pas",
	    "Je ne suis pas intéressé", "Je n'ai pas demandé ça", "Stop",
	    "Merci de me désinscrire", "Jamais de la vie", "Fichez-moi la paix",
	    "No, yo no he sido", "Nunca pedí esto", "No estoy interesado",
	    "Por favor, eliminen mi correo", "Dar de baja", "¡Basta ya!",
	    "De ninguna manera", "No, grazie mille", "Non sono interessato",
	    "Non l'ho chiesto io", "Vi prego di cancellarmi", "Per favore rimuovetemi",
	    "Assolutamente no", "Não quero", "De jeito nenhum",
	    "Por favor, remova meu e-mail", "Não autorizo", "Não solicitei isso",
	    "Nee dank je", "Absoluut niet", "Ik wil dit niet", "Schrijf me uit",
	    "Ik heb hier nooit om gevraagd", "Nie dziękuję",
	    "Nie jestem zainteresowany", "W żadnym wypadku", "Proszę o usunięcie",
	    "Nigdy o to nie prosiłem", "いいえ、違います", "いいえ、登録しません",
	    "要らない", "いらないです", "興味ありません", "もう送らないでください",
	    "送らないで", "登録した覚えはありません", "私は申し込んでいません。",
	    "やめて下さい", "不要，谢谢", "不，谢谢", "我不要", "没兴趣",
	    "不是我申请的", "请停止", "别再发邮件了", "我从来没有申请过", "请取消订阅",
	    "不想订阅", "Forget it", "I'll pass", "Hard pass", "I'd rather not",
	    "Absolutely not", "Certainly not!", "Of course not", "I said no",
	    "Vergiss es", "Vergessen Sie es", "Hau ab", "Laisse tomber", "Oubliez",
	    "Ça ne m'intéresse pas", "Je passe", "Olvídalo", "Paso", "Que no",
	    "Ni de broma", "Lascia perdere", "Lasciate stare", "Esquece",
	    "Deixa pra lá", "Laat maar", "Zapomnij", "Daj spokój", "忘れて", "もういい",
	    "結構", "いえ、結構です", "算了吧", "免了", "没必要", "你们搞错了",
	    "Sorry, no.", "Thanks but no thanks", "Thank you, but no",
	    "Hi,\n\nno thank you\n\nBest", "Kindly remove my email address",
	    "take me off your mailing list", "This is unsolicited mail",
	    "I'm reporting this as spam", "not me!!!", "wasn't me", "Not mine",
	    "wrong email", "I do not consent", "I don't agree", "I object", "Einspruch",
	    "Ich bin damit nicht einverstanden", "Ich stimme nicht zu",
	    "Das habe ich nicht angefordert", "Ich kenne euch nicht, lasst das",
	    "Austragen bitte", "Bitte abbestellen", "Ich möchte mich abmelden",
	    "Je ne souhaite pas m'abonner", "Enlevez-moi de la liste",
	    "Ne m'écrivez plus", "Quítenme de esta lista", "No me escriban más",
	    "No autorizo", "Toglietemi dalla lista", "Non scrivetemi più",
	    "Não me escrevam mais", "Tirem meu nome", "Stuur me geen mail meer",
	    "Haal me van de lijst", "Nie piszcie do mnie", "Proszę mnie wypisać",
	    "二度と送らないでください", "配信を止めてください", "解約します",
	    "登録を取り消してください", "请把我移除", "请不要再给我发邮件", "我拒绝",
	    "请删掉我的邮箱",
	    /* English */
	    "no", "No.", "NO!!!", "No thanks", "no, thank you", "nope", "Never", "stop",
	    "STOP", "Stop it", "unsubscribe", "Unsubscribe me", "remove", "Remove me",
	    "Please remove me from your list", "spam", "Spam!", "This is spam",
	    "I never asked for this, leave me alone!", "I did not ask for this",
	    "I didn't sign up for this", "I didn’t ask", "Not me", "This wasn't me",
	    "It wasn't me!", "Not interested", "I'm not interested, thanks",
	    "I don't want this", "dont want it", "Please do not send me anything",
	    "Leave me alone", "Go away", "Take me off this list", "cancel",
	    "Cancel this, yes?", "Delete my address", "You have the wrong person",
	    "Wrong address", "This was a mistake", "By mistake, sorry",
	    "Somebody else did this", "Reject", "I refuse", "Decline", "I decline.",
	    "nah", "fuck off", "opt out", "Hello,\n\nthis was not me!", "Hi, no",
	    "Hi no thanks", "Dear spammers,\n\nyes", "No, go ahead without me",
	    "> quoted\n\nUnsubscribe", "Whoever you are: never write again", "👎",
	    "Junk", "Unwanted mail", "I will report you", "No\n\nconfirm " TOKEN,
	    "Quit it", "This is phishing", "None of this is mine", "No.\n\nYes.",
	    /* German */
	    "nein", "Nein danke", "NEIN!", "nee", "Nö", "Niemals", "Das war ich nicht",
	    "Ich war das nicht.", "Ich habe das nicht bestellt", "Kein Interesse",
	    "Kein Bedarf, danke", "Bitte löschen", "Bitte loeschen Sie meine Adresse",
	    "abmelden", "Abbestellen", "Lassen Sie mich in Ruhe", "Hört auf!", "Stopp",
	    "Ich möchte das nicht", "Ja nein", "Hallo,\nnein", "Falsche Adresse",
	    "Das ist Spam", "Ich widerspreche", "Werbung!", "Das war ein Versehen",
	    "Nicht ich", "Nie bestellt", "Ich will keine E-Mails",
	    /* French */
	    "non", "Non merci", "NON", "Jamais", "Je n'ai rien demandé",
	    "Je n'ai jamais demandé ça", "Ce n'est pas moi", "c'est pas moi",
	    "Pas intéressé", "Laissez-moi tranquille", "Désabonnez-moi",
	    "désinscription", "Arrêtez", "Supprimez mon adresse", "C'est une erreur",
	    "Bonjour,\nnon merci", "Je refuse", "Je ne veux plus recevoir vos mails",
	    "Retirez-moi de votre liste", "Indésirable",
	    /* Spanish */
	    "No, gracias", "No gracias", "Nunca", "Yo no pedí esto", "No fui yo",
	    "No me interesa", "Déjenme en paz", "Quiero darme de baja",
	    "Elimíneme de la lista", "Basta", "Bórrame", "Es un error", "No quiero",
	    "Claro que no", "Hola, no", "Cancelar", "Rechazo esto",
	    "Dejen de escribirme", "¡No!",
	    /* Italian */
	    "No grazie", "Non sono stato io", "Non ho chiesto nulla", "Mai!",
	    "Mai richiesto", "Cancellatemi", "Rimuovetemi dalla lista",
	    "Lasciatemi in pace", "Non mi interessa", "Rifiuto", "È un errore",
	    "Non voglio", "Buongiorno,\nno grazie", "Smettetela", "Annulla",
	    /* Portuguese */
	    "não", "Não, obrigado", "Nao", "nunca", "Não fui eu", "Não pedi isso",
	    "Não tenho interesse", "Deixem-me em paz", "Remova-me da lista",
	    "Parem com isso", "Foi engano", "Olá, não", "Descadastrar", "Recuso",
	    "Excluir meu e-mail", "Não quero receber",
	    /* Dutch */
	    "Nee, bedankt", "Neen", "Nooit", "Niet ik", "Ik heb dit niet aangevraagd",
	    "Geen interesse", "Uitschrijven", "Afmelden graag", "Verwijder mij",
	    "Laat me met rust", "Hou op", "Dit is een vergissing", "Beste,\nnee",
	    "Nee hoor",
	    /* Polish */
	    "nie", "Nie, dziękuję", "NIE!", "Nigdy", "To nie ja", "Nie prosiłem o to",
	    "Nie chcę", "Proszę mnie usunąć", "Wypiszcie mnie", "Rezygnuję",
	    "Dajcie mi spokój", "To pomyłka", "Przestańcie", "Dzień dobry,\nnie",
	    "Usuń mój adres", "Odmawiam",
	    /* Japanese */
	    "いいえ", "いいえ、結構です", "結構です", "不要", "不要です", "いりません",
	    "要りません", "必要ありません", "必要ないです", "登録していません",
	    "申し込んでいません", "やめてください", "配信停止してください",
	    "削除をお願いします", "迷惑です", "迷惑メール", "キャンセル",
	    "お断りします", "身に覚えがありません", "拒否します", "解除してください",
	    "同意しません", "こんにちは。\nいいえ", "間違いです", "私ではありません",
	    /* Chinese */
	    "不", "不用", "不用了，谢谢", "不需要", "不是我", "不同意", "我没有订阅",
	    "我没订阅过", "取消", "退订", "请删除我", "拒绝", "垃圾邮件", "別再發了",
	    "别发了", "停止发送", "不感兴趣", "你好，不要", "您好，\n我不需要",
	    "发错了", "滚", "勿扰", "不可以",
	    /* More */
	    "Нет", "Нет, спасибо", "Никогда", "Отпишите меня", "Я не просил",
	    "Удалите меня", "Nej tack", "Jag vill inte ha det", "Nej", "Aldri",
	    "Ei kiitos", "Hayır", "İstemiyorum", "아니요", "싫어요", "구독취소",
	    "원하지 않습니다", "Nem", "Ne, děkuji"};

	check_texts(CONSENT_NO, texts, G_N_ELEMENTS(texts));
}

/* A consent with a refusal in a later part is asked about. */
TEST(consent_with_a_refusal_is_unclear)
{
	static const char *const texts[] = {"Yes, but I did not ask for this",
	    "Yes, please stop", "Ok, but do not mail me", "sure, remove me",
	    "No problem, but remove me", "はい、不要です", "好的，不要",
	    "Yes please, I have no filters yet", "OK, it was in spam",
	    "Yes, if it is free", "Ja, wenn es nichts kostet",
	    "Ja, aber nur einmal im Monat", "I do not want it if it costs anything",
	    "No, unless it is free", "Nein, es sei denn, es ist kostenlos",
	    "Nicht, wenn es etwas kostet"};

	check_texts(CONSENT_UNCLEAR, texts, G_N_ELEMENTS(texts));
}

/* A correction is not a consent; a wish that is understood may follow one. */
TEST(consent_with_a_correction_is_unclear)
{
	static const char *const corrected[] = {"Yes, but filter 2 instead",
	    "Yes, but filter 2", "Ja, aber stattdessen Chirurgie",
	    "Ja, nicht Herzen sondern Lungen", "Yes, but until 5 December instead",
	    "OK but I do not want it every day"};
	static const char *const texts[] = {"Yes, but only on Fridays",
	    "Ja, aber bitte nur freitags", "Ja, nur zu!", "Aber sicher!"};

	check_texts(CONSENT_UNCLEAR, corrected, G_N_ELEMENTS(corrected));
	check_texts(CONSENT_YES, texts, G_N_ELEMENTS(texts));
}

TEST(other_text_is_unclear)
{
	static const char *const texts[] = {"Huh?", "Sorry, what?", "what's this",
	    "Who is writing?", "Why do I get this mail?", "Thanks for letting me know",
	    "I'll check later", "Hello, is this real?",
	    "Could you explain what this service does?", "Please send more information",
	    "Perhaps", "I guess", "Hmm, let me think about it",
	    "How often do you send mail?", "Is it free?", "Nice", "Cool",
	    "Great, thanks!", "Got it", "Noted", "Thank you very much",
	    "Can I get it weekly?", "Test", "Tom", "What does this mean?",
	    "I am confused", "Was soll das?", "Was wollen Sie?", "Danke schön",
	    "Mal sehen", "Ist das kostenlos?", "Wer hat mich angemeldet?", "Wie bitte?",
	    "Ich überlege es mir", "Was kostet das?", "Hä?", "Merci beaucoup",
	    "De quoi s'agit-il ?", "Pardon ?", "Est-ce gratuit ?", "Je vais réfléchir",
	    "Quel est ce service ?", "Comment avez-vous eu mon adresse ?",
	    "Muchas gracias", "¿De qué se trata?", "Lo pensaré", "¿Es gratis?",
	    "¿Cómo consiguieron mi correo?", "Tal vez", "Grazie mille",
	    "Di cosa si tratta?", "Ci penserò", "È gratis?", "Chi è?", "Muito obrigado",
	    "Do que se trata?", "Vou pensar", "É grátis?", "Quem é?",
	    "Waar gaat dit over?", "Is het gratis?", "Ik denk erover na",
	    "Hartelijk dank", "O co chodzi?", "Czy to jest darmowe?", "Zastanowię się",
	    "Dziękuję bardzo", "Skąd macie mój adres?", "何のメールですか？",
	    "どういうことですか", "無料ですか？", "検討します", "ありがとう",
	    "どちら様でしょうか", "詳しく教えてください",
	    "確認ですが、これは無料ですか？", "这是什么服务？", "什么意思",
	    "怎么有我的邮箱", "免费吗？", "收到", "我考虑一下", "请问你是谁？", "多谢",
	    "好奇一下，这是做什么的", "Yes or no?", "Should I say yes?", "Reply yes?",
	    "To whom?", "A question first", "Let me ask my colleague",
	    "My name is Ok Sun", "Jan", "Siobhan", "Tak for din mail",
	    "Danke für die Info", "Merci pour votre message", "Gracias por su mensaje",
	    "Grazie per la mail", "Obrigado pelo contato", "Bedankt voor uw bericht",
	    "Dziękuję za wiadomość", "メールありがとうございます", "谢谢你的邮件",
	    "Sicherheit ist mir wichtig, wer sind Sie?", "Klären Sie mich auf",
	    "Si je comprends bien, c'est gratuit ?", "Claro? O que é isso?", "Simone",
	    "Takeshi", "はいしん？", "是这样吗？", "好吗？", "對方是誰", "行政部门收",
	    "Okta login please", "Yesenia", "Surely you are joking?",
	    "Confirmation of what?", "Please call me", "Is this the right address?",
	    "What is paperboy", "Has this something to do with arXiv?", "Which papers?",
	    "I am Tom, who are you", "Ja was denn?", "Oui mais c'est quoi ?",
	    /* English */
	    "What is this??", "What is this", "Who are you?", "Thanks", "Thank you!",
	    "Thanks for your mail.", "Hello", "Hi,\n", "Hello?", "Maybe", "Maybe later",
	    "I will think about it", "How did you get my address?",
	    "How much does it cost?", "Can you tell me more?", "I am not sure",
	    "Not sure what this is", "I don't know what this is", "I don't understand",
	    "Don't remember signing up", "Yes?", "ok?", "Sure?", "Confirm what?",
	    "Ok what is this?", "Eva", "Please explain", "Please confirm what you want",
	    "Interesting service!", "Now!", "See attached", "Hmm", "?", "...",
	    "Best regards,\nEva", "I would like to know more, yes",
	    "Who asked for it? yes", "My name is Eva", "Is this about the conference?",
	    "Received", "It says I should reply here",
	    "Subscribe to our newsletter today", "Surely there is more to say",
	    "Yesterday I got your mail", "Okinawa is nice", "Thanks, I got it", "Great",
	    "Well, it depends", "Confirmation", "The word yes",
	    "I was told to reply yes", "Dear paperboy,\n\nWhat does it cost?",
	    "Tell me who wrote it", "confirm wrongtokenwrongtokenwrong",
	    "Jane Doe\nyes",
	    /* German */
	    "Was ist das?", "Wer sind Sie?", "Danke", "Vielen Dank für Ihre Mail",
	    "Hallo", "Vielleicht", "Ich weiß nicht",
	    "Ich verstehe nicht, worum es geht", "Worum geht es?",
	    "Wie kommen Sie an meine Adresse?", "Kostet das etwas?",
	    "Bitte um Erklärung", "Ja?", "Keine Ahnung, was das ist", "Sicher?",
	    "Stimmt das?", "Jakob Müller", "Klartext bitte", "Später",
	    /* French */
	    "C'est quoi ?", "Qu'est-ce que c'est ?", "Qui êtes-vous ?", "Merci",
	    "Bonjour", "Peut-être", "Je ne sais pas", "Je ne comprends pas",
	    "Combien ça coûte ?", "Oui ?", "Si vous voulez, expliquez",
	    "Plus d'informations svp",
	    /* Spanish */
	    "¿Qué es esto?", "¿Quién eres?", "Gracias", "Hola", "Quizás",
	    "No sé qué es esto", "No entiendo", "¿Cuánto cuesta?",
	    "Si me explica qué es", "¿Sí?", "Más información, por favor",
	    /* Italian */
	    "Che cos'è?", "Chi siete?", "Grazie", "Ciao", "Forse", "Non so cosa sia",
	    "Non capisco", "Quanto costa?", "Sì?", "Si tratta di cosa?",
	    "Mi può spiegare?",
	    /* Portuguese */
	    "O que é isso?", "Quem são vocês?", "Obrigado", "Olá", "Talvez",
	    "Não sei o que é isso", "Não entendi", "Quanto custa?", "Tudo bem?", "Sim?",
	    /* Dutch */
	    "Wat is dit?", "Wie bent u?", "Bedankt", "Misschien", "Ik weet het niet",
	    "Ik begrijp het niet", "Wat kost dat?", "Meer informatie graag",
	    /* Polish */
	    "Co to jest?", "Kim jesteście?", "Dziękuję", "Dzień dobry", "Może",
	    "Nie wiem, co to jest", "Nie rozumiem", "Ile to kosztuje?", "Tak?",
	    /* Japanese */
	    "これは何ですか", "これは何ですか？", "どなたですか",
	    "ありがとうございます", "こんにちは", "わかりません", "よく分かりません",
	    "すみませんが、これは何ですか？", "もう少し教えていただけませんか",
	    "はい？", "いくらですか", "大丈夫です", "考えておきます",
	    "ええと、これは何",
	    /* Chinese */
	    "这是什么？", "你是谁", "谢谢", "你好", "不知道这是什么", "不明白",
	    "对不起，这是什么？", "不好意思，请问您是哪位？", "多少钱？",
	    "好奇怪，这是什么", "可以告诉我这是什么吗？", "是什么", "可以吗？", "是谁",
	    "确认什么？", "也许", "再说吧", "有没有中文版",
	    /* More */
	    "Что это?", "Спасибо", "Не понимаю", "Vad är det här?",
	    "Tak for mailen. Hvad er det?", "Mikä tämä on?", "Bu ne?", "이게 뭔가요?",
	    "네?"};

	check_texts(CONSENT_UNCLEAR, texts, G_N_ELEMENTS(texts));
}

TEST(automatic_replies_are_recognised)
{
	static const char *const replies[] = {"Undeliverable: " OURS,
	    "Undeliverable:", "Undelivered Mail Returned to Sender",
	    "Delivery Status Notification (Failure)",
	    "Delivery Status Notification (Delay)",
	    "Mail delivery failed: returning message to sender",
	    "Returned mail: see transcript for details", "failure notice",
	    "Delivery has failed", "Mail System Error - Returned Mail",
	    "Warning: could not send message for past 4 hours", "Message blocked",
	    "[Ticket #123]", "[Ticket #123] " OURS, "[Ticket #123] Re: " OURS,
	    "Re: [Ticket #123] " OURS, "[#4711] " OURS, "[SUP-42] " OURS,
	    "(Case 00123456) " OURS, "Case 00123456: " OURS, "INC0012345 - " OURS,
	    "Ticket 4711: " OURS, "Re: " OURS " [Ticket#2026112010000012]",
	    "[## 1234 ##] " OURS, "[example.com #88] AutoReply: " OURS,
	    "Ticket received: " OURS, "[Ticket created] " OURS,
	    "Request received: " OURS, "Re: " OURS " (#77)", "SUP-42 " OURS,
	    "[JIRA] (DESK-7) " OURS, "[Anfrage 2026-1122] " OURS_DE,
	    "Ticket#2026: AW: " OURS_DE, "Re: [EXT] [Ticket: 99] " OURS,
	    "Automatic reply: " OURS, "Automatic Reply", "Auto: Out of Office: " OURS,
	    "Out of Office: " OURS, "Out of the office Re: " OURS, "OOO: " OURS,
	    "Auto-Reply: " OURS, "Autoreply: " OURS, "Re: Autoresponse: " OURS,
	    "On vacation", "Vacation reply", "Away from my mail",
	    "Abwesenheitsnotiz: " OURS, "Abwesend: " OURS_DE,
	    "Automatische Antwort: " OURS_DE, "Unzustellbar: " OURS_DE,
	    "Gelesen: " OURS_DE, "Eingangsbestätigung", "Urlaubsabwesenheit",
	    "Réponse automatique : " OURS, "Absence du bureau : " OURS,
	    "Non remis : " OURS, "Lu : " OURS, "Accusé de réception",
	    "Respuesta automática: " OURS, "Fuera de la oficina: " OURS,
	    "No se puede entregar: " OURS, "Leído: " OURS, "Risposta automatica: " OURS,
	    "Fuori sede: " OURS, "Impossibile recapitare: " OURS,
	    "R: Risposta automatica", "Resposta automática: " OURS, "Ausência: " OURS,
	    "Não é possível entregar: " OURS, "Automatisch antwoord: " OURS,
	    "Afwezig: " OURS, "Onbestelbaar: " OURS, "Odpowiedź automatyczna: " OURS,
	    "Nie można dostarczyć: " OURS, "Autoodpowiedź", "自動返信: " OURS,
	    "不在通知", "配信不能: " OURS, "自動応答", "自动回复: " OURS,
	    "自動回覆：" OURS, "系统退信", "邮件投递失败", "Автоответ: " OURS,
	    "Autosvar: " OURS, "Automatiskt svar: " OURS, "Otomatik yanıt: " OURS,
	    "자동 회신: " OURS, "Read: " OURS, "Not read: " OURS, "Read receipt",
	    "Thank you for contacting Example Ltd", "We have received your request",
	    "Verify your email to deliver your message"};
	static const char *const texts[] = {"OK, your message has been received.",
	    "Confirmed: your ticket has been created",
	    "Yes! Thank you for contacting Example support.",
	    "Sure, we have received your request", "This mailbox is not monitored.",
	    "Hello, I am currently on annual leave with limited access to email.",
	    "Vielen Dank für Ihre Anfrage. Wir haben Ihre Nachricht erhalten.",
	    "Merci de nous avoir contactés. Nous avons bien reçu votre demande.",
	    "Gracias por contactarnos. Hemos recibido su solicitud.",
	    "お問い合わせありがとうございます。受け付けました。",
	    "您好，您的来信已收到，我们会尽快回复。",
	    "I am out of the office until Monday.",
	    "Thank you for your email.\n\nI am currently out of office.",
	    "Hello,\nI am on vacation until 1 December.",
	    "This is an automated response. Yes.",
	    "Your request has been received and a ticket was created.",
	    "Thank you for contacting support. Yes, we will help.",
	    "Ich bin bis zum 1. Dezember nicht im Büro.", "Ich bin derzeit im Urlaub.",
	    "Vielen Dank für Ihre Nachricht.\n\nIch bin abwesend.",
	    "Je suis absent jusqu'au 1er décembre.", "Estoy fuera de la oficina.",
	    "Sono in ferie fino al primo dicembre.", "Estou de férias.",
	    "Ik ben op vakantie.", "Jestem na urlopie do poniedziałku.",
	    "ただいま休暇中です。", "不在にしております。",
	    "我正在休假，暂时无法回复邮件。", "Your message could not be delivered."};
	unsigned wrong = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(replies); i++) {
		wrong += check(CONSENT_AUTOMATIC, replies[i], "Yes, I am away.");
		wrong += check(CONSENT_AUTOMATIC, replies[i], "");
		wrong += check(CONSENT_AUTOMATIC, replies[i], "No.");
	}
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		wrong += check(CONSENT_AUTOMATIC, "Re: " OURS, texts[i]);
	g_assert_cmpuint(wrong, ==, 0);
}

TEST(reply_prefixes_and_tags_are_ignored)
{
	static const char *const replies[] = {OURS, OURS_DE, "Re: " OURS, "RE: " OURS,
	    "AW: " OURS_DE, "Antw: " OURS, "SV: " OURS, "R: " OURS, "Odp: " OURS,
	    "TR: " OURS, "RV: " OURS, "Re[2]: " OURS, "Re(3): " OURS, "Re: Re: " OURS,
	    "Fwd: " OURS, "回复: " OURS, "答复：" OURS, "返信: " OURS,
	    "[EXT] Re: " OURS, "[External] " OURS, "Re: [EXTERN] " OURS,
	    "[SPAM] Re: " OURS, "***SPAM*** Re: " OURS, "{Spam?} Re: " OURS,
	    "EXTERNAL: Re: " OURS, "Re: [list] " OURS, "re: " OURS " ",
	    "Re:  Please  confirm your request to paperboy@example.org"};
	unsigned wrong = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(replies); i++) {
		wrong += check(CONSENT_YES, replies[i], "");
		wrong +=
		    check(CONSENT_YES, replies[i], "> To start it, reply with yes.\n");
		wrong += check(CONSENT_YES, replies[i], "yes");
		wrong += check(CONSENT_NO, replies[i], "no");
		wrong += check(CONSENT_UNCLEAR, replies[i], "What is this?");
	}
	g_assert_cmpuint(wrong, ==, 0);
}

TEST(empty_reply_needs_our_subject_and_message_id)
{
	pb_auto(inmail) direct =
	    conversation_new_mail("eva@example.com", "Re: " OURS, " \n\n");
	unsigned wrong = 0;

	g_ptr_array_add(direct->in_reply_to, g_strdup(ID));
	g_assert_cmpint(confirm_match(direct, &question), ==, CONSENT_YES);
	g_assert_cmpint(check_mail("Re: " OURS, "", true), ==, CONSENT_YES);
	g_assert_cmpint(check_mail("Re: " OURS, "", false), ==, CONSENT_UNCLEAR);
	g_assert_cmpint(
	    check_mail("Re: " OURS, "> quoted", false), ==, CONSENT_UNCLEAR);
	wrong += check(CONSENT_UNCLEAR, "", "");
	wrong += check(CONSENT_UNCLEAR, "Re:", "");
	wrong += check(CONSENT_UNCLEAR, "(no subject)", "");
	wrong += check(CONSENT_UNCLEAR, "Re: your letter", "");
	wrong += check(CONSENT_UNCLEAR, "Invitation: meeting on Monday", "");
	g_assert_cmpuint(wrong, ==, 0);
}

TEST(changed_subject_counts_as_a_whole)
{
	static const struct {
		enum consent wanted;
		const char *subject, *text;
	} rows[] = {
	    {CONSENT_YES, "yes", ""},
	    {CONSENT_YES, "Re: ok", ""},
	    {CONSENT_YES, "Yes please!", ""},
	    {CONSENT_YES, "Ja, bitte", "Eva"},
	    {CONSENT_YES, "Oui, merci", ""},
	    {CONSENT_YES, "はい、お願いします", ""},
	    {CONSENT_YES, "好的，谢谢", ""},
	    {CONSENT_YES, "confirm " TOKEN, ""},
	    {CONSENT_YES, "Confirm", "yes"},
	    {CONSENT_YES, "Subscription", "yes"},
	    {CONSENT_YES, "(no subject)", "yes"},
	    {CONSENT_YES, "", "Yes"},
	    {CONSENT_NO, "no", ""},
	    {CONSENT_NO, "Re: No thanks", ""},
	    {CONSENT_NO, "unsubscribe", ""},
	    {CONSENT_NO, "remove me", "Yes, remove me"},
	    {CONSENT_NO, "STOP", "yes"},
	    {CONSENT_NO, "nein", ""},
	    {CONSENT_NO, "不要", ""},
	    {CONSENT_UNCLEAR, "Confirm your identity at Example Mail", ""},
	    {CONSENT_UNCLEAR, "Ok Computer tickets are here", ""},
	    {CONSENT_UNCLEAR, "yes?", ""},
	    {CONSENT_UNCLEAR, "Question", "Who are you?"},
	    {CONSENT_UNCLEAR, "your mail", ""},
	};
	unsigned wrong = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		wrong += check(rows[i].wanted, rows[i].subject, rows[i].text);
	g_assert_cmpuint(wrong, ==, 0);
}

/* The phrases of a block of a file, of which groups have one a "|". */
static GPtrArray *
read_phrases(const char *path, const char *block)
{
	g_autofree char *content = NULL;
	g_auto(GStrv) lines = NULL;
	GPtrArray *phrases = g_ptr_array_new_with_free_func(g_free);
	bool is_in = false;

	g_assert_true(g_file_get_contents(path, &content, NULL, NULL));
	lines = g_strsplit(content, "\n", -1);
	for (char **line = lines; *line; line++) {
		g_auto(GStrv) parts = NULL;

		if (**line != '\t')
			is_in = strcmp(*line, block) == 0 || (is_in && !**line);
		if (**line != '\t' || !is_in)
			continue;
		parts = g_strsplit_set(*line, "\t(|)", -1);
		for (char **part = parts; *part; part++) {
			g_strdelimit(*part, "=*$", ' ');
			if (*g_strstrip(*part))
				g_ptr_array_add(phrases, g_strdup(*part));
		}
	}
	return phrases;
}

static unsigned
check_phrases(const char *path, const char *block, enum consent wanted)
{
	g_autoptr(GPtrArray) phrases = read_phrases(path, block);
	unsigned wrong = 0;

	for (guint i = 0; i < phrases->len; i++)
		wrong += wanted == CONSENT_AUTOMATIC
		             ? check(wanted, phrases->pdata[i], "")
		             : check(wanted, "Re: " OURS, phrases->pdata[i]);
	return wrong;
}

TEST(every_phrase_matches_beside_all_others)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *directory =
	    g_build_filename(top ? top : "..", "etc/phrases", NULL);
	g_autoptr(GDir) files = g_dir_open(directory, 0, NULL);
	const char *name;
	unsigned wrong = 0;

	g_assert_nonnull(files);
	while ((name = g_dir_read_name(files))) {
		g_autofree char *path = g_build_filename(directory, name, NULL);

		wrong += check_phrases(path, "yes", CONSENT_YES);
		wrong += check_phrases(path, "yes-anyway", CONSENT_YES);
		wrong += check_phrases(path, "no", CONSENT_NO);
		wrong += check_phrases(path, "not-no", CONSENT_UNCLEAR);
		wrong += check_phrases(path, "automatic", CONSENT_AUTOMATIC);
	}
	g_assert_cmpuint(wrong, ==, 0);
}

/* A refusal, an automatic reply or a quoted consent, in any dress, is never a yes. */
TEST(what_is_not_consent_never_confirms)
{
	static const char *const dresses[][2] = {{"", ""}, {"Hi,\n", ""}, {"", "!!!"},
	    {"*", "*"}, {"", "\n> yes"}, {"> yes\n", ""}, {"  ", "  "}, {"\"", "\""},
	    {"Dear all,\n\n", "\n\nEva"}, {"", "\nOn Monday paperboy wrote:\n> yes"},
	    {"", ". Bye"}, {"", " :-)"}, {"", "\nyes"}, {"", "\nconfirm"}};
	static const char *const blocks[] = {"no", "automatic"};
	const char *top = g_getenv("top_srcdir");
	g_autofree char *directory =
	    g_build_filename(top ? top : "..", "etc/phrases", NULL);
	g_autoptr(GDir) files = g_dir_open(directory, 0, NULL);
	const char *name;
	unsigned count = 0, wrong = 0;

	while ((name = g_dir_read_name(files))) {
		g_autofree char *path = g_build_filename(directory, name, NULL);

		for (size_t b = 0; b < G_N_ELEMENTS(blocks); b++) {
			g_autoptr(GPtrArray) phrases = read_phrases(path, blocks[b]);

			for (guint i = 0; i < phrases->len; i++)
				for (size_t d = 0; d < G_N_ELEMENTS(dresses); d++) {
					g_autofree char *upper =
					    g_utf8_strup(phrases->pdata[i], -1);
					g_autofree char *text =
					    g_strconcat(dresses[d][0],
					        d % 2 ? upper : phrases->pdata[i],
					        dresses[d][1], NULL);

					count++;
					if (check_mail("Re: " OURS, text, true) !=
					    CONSENT_YES)
						continue;
					g_test_message("'%s' is a yes", text);
					wrong++;
				}
		}
	}
	g_assert_cmpuint(count, >, 10000);
	g_assert_cmpuint(wrong, ==, 0);
}

TEST(long_lines_are_matched_in_bounded_time)
{
	int size = g_getenv("PAPERBOY_LONG") ? 64 * 1024 : 8 * 1024;
	g_autofree char *words = g_strnfill((size_t)size, '?');
	g_autoptr(GString) many = g_string_new(NULL);

	for (int i = 0; i < size / 4; i++)
		g_string_append(many, "so ");
	g_string_append(many, "yes");
	g_assert_cmpint(check_mail("Re: " OURS, words, true), ==, CONSENT_UNCLEAR);
	g_assert_cmpint(check_mail("Re: " OURS, many->str, true), ==, CONSENT_UNCLEAR);
}

UNIT_MAIN
