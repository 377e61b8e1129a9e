/*
 * request_match.c - whether a line asks to subscribe or to leave in ordinary words.
 *
 * Lines and phrases are compared without case, accents and punctuation.
 */
#include "service/command/request_match.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

/* Phrases are separated by "|".  A phrase precedes those that it contains. */
static const struct language {
	const char *code;
	bool has_no_spaces; /* words are not separated */
	const char *unsubscribe;
	const char *subscribe;
	const char *fillers; /* words allowed beside a phrase */
} languages[] = {
    {"en", false,
        "be removed|be deleted|be unsubscribed|get "
        "removed|removal|unsubscribe|unsubscription|unsubscribing|un "
        "subscribe|unsub|opt me out|opt "
        "out|"
        "optout|sign me off|sign off|signoff|take me off|take my name off|"
        "take my address off|take my email off|get me off|leave me off|remove me|"
        "remove my name|remove my email|remove my address|remove this address|"
        "remove this email|delete me|drop me|cancel my subscription|"
        "cancel the subscription|cancel this subscription|cancel subscription|"
        "end my subscription|stop my subscription|terminate my subscription|"
        "subscription cancellation|discontinue|stop emailing|stop mailing|stop e "
        "mailing|"
        "stop sending|stop the mails|stop the emails|stop these mails|stop these "
        "emails|"
        "stop all mails|stop all emails|stop it|stop this|stop|no more mails|"
        "no more emails|no more mail|no more email|no more digests|no more messages|"
        "do not send|don t send|dont send|do not email|don t email|dont email|"
        "do not mail|don t mail|dont mail|do not want to receive|don t want to receive|"
        "do not wish to receive|no longer want|no longer wish|no longer interested|"
        "not interested anymore|not interested any more|leave the list|leave this list|"
        "leave the mailing list|leave this mailing list|off the list|off this list|"
        "off your list|off the mailing list|quit the list|quit this list",
        "resubscribe|subscribe|subscription|sign me up|sign up|signup|add me|join|"
        "register me|register|enroll me|enrol me|enroll|put me on|include me|"
        "count me in|start sending|send me your digest|send me the digest|"
        "receive your digest|receive the digest|get the digest|get your digest",
        "best|wishes|kind|warm|sincerely|yours|truly|faithfully|please|pls|plz|kindly|"
        "thanks|"
        "thank|thx|cheers|regards|hi|hello|hey|dear|all|"
        "team|"
        "everybody|everyone|sir|madam|sirs|list|lists|mailing|mailinglist|newsletter|"
        "newsletters|digest|digests|mail|mails|email|emails|e|message|messages|"
        "notification|notifications|papers|paper|paperboy|service|daily|weekly|alerts|"
        "updates|subscription|i|i "
        "d|d|m|am|me|my|myself|name|address|we|us|our|you|your|"
        "the|this|that|these|those|it|them|a|an|any|anymore|more|further|from|of|off|"
        "on|to|in|for|at|with|and|up|out|via|would|could|can|may|will|should|must|like|"
        "want|wish|need|love|ask|request|to be|be|being|get|getting|receive|receiving|"
        "have|do|done|so|much|very|just|now|immediately|asap|today|at once|right|away|"
        "again|again|as|soon|possible|good|morning|afternoon|evening|day|anything|"
        "permanently|completely|forever|sending|hereby|if|only|here|s|let"},
    {"de", false,
        "abbestellen|abbestellung|bestelle "
        "ab|abmelden|abmeldung|melde mich ab|"
        "meldet mich ab|melden sie mich ab|melde ab|austragen|austragung|trage mich "
        "aus|"
        "tragen sie mich aus|tragt mich aus|trag mich "
        "aus|deabonnieren|kundigen|kundigung|"
        "kundige|kein interesse mehr|nicht mehr interessiert|keine mails mehr|"
        "keine e mails mehr|keine emails mehr|keine post mehr|keine sendungen mehr|"
        "keine nachrichten mehr|keine newsletter mehr|keinen newsletter mehr|"
        "nicht mehr erhalten|nicht mehr bekommen|nichts mehr schicken|nichts mehr "
        "senden|"
        "nichts mehr zusenden|nicht mehr zusenden|nicht langer "
        "erhalten|entfernen|entferne|"
        "entfernt|loschen sie mich|losche mich|loscht mich|losch mich|"
        "streichen sie mich|streiche mich|streich mich|streicht mich|"
        "nehmen sie mich von|nimm mich von|nehmt mich von|nehmen sie mich aus|"
        "nimm mich aus|nehmt mich aus|von der liste nehmen|aus der liste nehmen|"
        "von der liste streichen|aus dem verteiler nehmen|aus dem verteiler|"
        "runter von der liste|abo beenden|abonnement "
        "beenden|beenden|stoppen|stopp|stoppt|"
        "aufhoren|hort auf|hor auf|mich ab|mich hiermit ab|"
        "mich bitte ab|newsletter ab|liste ab|verteiler ab|abo ab|mich aus|liste aus|"
        "verteiler aus",
        "anmelden|anmeldung|melde mich an|meldet mich an|melden sie mich "
        "an|eintragen|"
        "eintragung|trage mich ein|trag mich ein|tragt mich ein|tragen sie mich ein|"
        "abonnieren|abonniere|abonnement|abo|bestellen|bestelle|aufnehmen|nimm mich "
        "auf|"
        "nehmt mich auf|nehmen sie mich auf|registrieren|hinzufugen|fugen sie mich|"
        "fuge mich hinzu|mitlesen|beziehen|teilnehmen|setzen sie mich auf|setz mich "
        "auf|"
        "setzt mich auf|mich an|mich hiermit an|mich bitte an|mich ein|"
        "mich bitte ein|mich auf|verteiler auf|liste auf|liste ein|verteiler ein",
        "bitte|danke|vielen|viele|besten|beste|dank|hallo|guten|tag|morgen|abend|moin|"
        "servus|gruss|gruß|grusse|grussen|freundliche|freundlichen|freundlicher|"
        "herzliche|herzlichen|herzlicher|schone|schonen|schoner|mfg|lg|vg|"
        "liebe|lieben|lieber|liebes|sehr|geehrte|damen|herren|und|team|ich|mich|"
        "mir|"
        "mein|meine|meinen|meiner|wir|uns|sie|ihr|ihre|ihren|ihrem|ihnen|du|dich|dein|"
        "deine|deinen|deinem|deiner|euer|eure|euren|eurem|eurer|der|die|das|den|dem|"
        "des|"
        "diese|dieser|diesen|diesem|dieses|ein|eine|einen|einem|von|vom|aus|fur|fuer|"
        "zu|"
        "zum|zur|auf|in|im|an|bei|mit|per|weiter|weitere|weiteren|mehr|liste|verteiler|"
        "mailingliste|newsletter|newsletters|mail|mails|e|email|emails|post|sendung|"
        "sendungen|dienst|abo|abonnement|adresse|mailadresse|emailadresse|nachrichten|"
        "mochte|moechte|wurde|wuerde|will|wollen|hatte|gern|gerne|hiermit|kann|konnen|"
        "konnten|konnt|nun|jetzt|sofort|wieder|erhalten|bekommen|empfangen|werden|"
        "haben|lassen|hier|es|ab|aus|an|"
        "ein|"
        "hinzu|einfach|mal|doch|schicken|senden|zusenden|paperboy|artikel|ist|so bald "
        "wie moglich|umgehend|melde|melden|meldet|trage|tragen|"
        "tragt|trag|nehmen|nehmt|nimm|bestelle|losche|loschen|loscht"},
    {"fr", false,
        "ne souhaite plus|ne veux plus|ne desire plus|ne voudrais "
        "plus|desabonner|desabonnez|desabonne|desabonnement|desinscrire|desinscrivez|"
        "desinscription|desinscris|me "
        "retirer|retirer|retirez|retire|supprimer|supprimez|"
        "supprime|enlever|enlevez|enleve|resilier|resiliez|resiliation|annuler|annulez|"
        "annulation|ne plus recevoir|ne plus m envoyer|ne m envoyez plus|n envoyez "
        "plus|"
        "ne plus envoyer|cessez|cesser|arretez|arreter|arrete|stop|"
        "plus interesse|plus interessee|plus de mails|plus d emails|plus de courriels|"
        "plus de messages|quitter|sortir",
        "m abonner|abonner|abonnez|abonne|abonnement|m inscrire|inscrire|inscrivez|"
        "inscription|inscris|ajouter|ajoutez|ajoute|adherer|recevoir|m enregistrer|"
        "souscrire|souscription",
        "bonjour|bonsoir|salut|madame|monsieur|cher|chere|chers|merci|beaucoup|d "
        "avance|d|"
        "avance|svp|s|il|vous|te|tu|plait|cordialement|je|j|moi|me|m|mon|ma|mes|nous|"
        "notre|votre|vos|ton|ta|tes|le|la|les|l|un|une|des|du|de|cette|ce|ces|cet|a|au|"
        "aux|en|sur|pour|par|et|ne|n|pas|plus|veux|voudrais|souhaite|souhaiterais|"
        "desire|"
        "desirerais|aimerais|demande|veuillez|pouvez|pourriez|peux|etre|suis|serait|"
        "que|"
        "qu|liste de diffusion|listes de "
        "diffusion|liste|listes|newsletter|lettre|information|infolettre|mail|mails|"
        "email|emails|e|courriel|courriels|message|messages|envois|envoi|adresse|nom|"
        "abonnement|service|immediatement|maintenant|tout|suite|possible|rapidement|"
        "paperboy|articles|quotidien|recevoir|bien|mails|envoyer"},
    {"es", false,
        "darme de baja|darse de baja|dar de baja|dame de baja|denme de baja|deme de "
        "baja|"
        "dadme de baja|de "
        "baja|baja|desuscribirme|desuscribir|desuscribanme|desuscribeme|"
        "desuscripcion|cancelar|cancele|cancelen|cancela|cancelacion|anular|anulen|"
        "eliminarme|eliminar|eliminenme|elimineme|eliminame|elimine|elimina|borrarme|"
        "borrenme|borreme|borrame|borrar|quitarme|quitenme|quiteme|quitame|quitar|"
        "sacarme|saquenme|saqueme|sacame|sacar|retirarme|retirenme|no quiero recibir|"
        "no deseo recibir|no quiero mas|no mas correos|no mas mensajes|no mas emails|"
        "dejar de recibir|dejen de enviar|dejen de enviarme|deje de enviar|"
        "deje de enviarme|deja de enviar|deja de enviarme|no me envien|no me envie|"
        "no me mandes|no me manden|ya no me interesa|stop|salir",
        "suscribirme|suscribir|suscribirse|suscribanme|suscribame|suscribeme|"
        "suscripcion|"
        "suscribo|inscribirme|inscribir|inscribanme|inscribeme|inscripcion|"
        "darme de alta|dar de alta|dame de alta|denme de alta|deme de alta|de "
        "alta|alta|"
        "apuntarme|apuntame|apuntenme|anadirme|anadanme|anademe|agregarme|agreguenme|"
        "agregame|unirme|registrarme|registrenme|recibir",
        "hola|buenos|buenas|dias|tardes|noches|estimado|estimada|estimados|senores|por|"
        "favor|gracias|muchas|saludos|saludo|cordial|cordiales|"
        "atentamente|de|del|la|el|los|las|lo|un|una|en|a|al|para|con|"
        "y|"
        "mi|mis|me|yo|su|sus|tu|tus|vuestra|vuestro|esta|este|estos|estas|ese|esa|"
        "quiero|quisiera|deseo|desearia|queria|quiera|gustaria|solicito|pido|ruego|"
        "necesito|puede|pueden|podria|podrian|puedes|lista|listas|correo|correos|"
        "distribucion|boletin|boletines|newsletter|mail|mails|email|emails|e|mensaje|"
        "mensajes|suscripcion|direccion|nombre|servicio|mas|ya|no|que|se|ser|ahora|"
        "inmediatamente|inmediato|diario|paperboy|articulos|recibir|enviar|les|os|le"},
    {"it", false,
        "cancellarmi|cancellatemi|cancellami|cancellare|cancellate|cancella|"
        "cancellazione|"
        "disiscrivermi|disiscrivetemi|disiscrivimi|disiscrivere|disiscrizione|"
        "disiscriviti|disabbonarmi|disdire|disdetta|annullare|annullate|annulla|"
        "rimuovermi|rimuovetemi|rimuovimi|rimuovere|rimuovete|rimozione|eliminarmi|"
        "eliminatemi|eliminami|eliminare|togliermi|toglietemi|toglimi|togliere|"
        "non voglio piu|non desidero piu|non vorrei piu|non inviatemi|non mandatemi|"
        "non mi inviate|non mi mandate|smettetela|smettete|smetti|basta|stop|"
        "non sono piu interessato|non sono piu interessata|uscire",
        "iscrivermi|iscrivetemi|iscrivimi|iscrivere|iscrizione|iscrivo|abbonarmi|"
        "abbonatemi|abbonare|abbonamento|sottoscrivere|sottoscrizione|registrarmi|"
        "registratemi|aggiungetemi|aggiungermi|aggiungimi|aderire|ricevere",
        "buongiorno|buonasera|buon|giorno|ciao|salve|gentile|gentili|egregi|per|favore|"
        "cortesia|piacere|prego|grazie|mille|cordiali|distinti|saluti|vorrei|voglio|"
        "desidero|"
        "desidererei|chiedo|gradirei|potete|potreste|puoi|puo|di|dalla|dal|dalle|dai|"
        "dall|della|del|delle|dei|dell|alla|al|alle|ai|all|la|il|lo|le|i|gli|l|un|una|"
        "da|a|in|con|e|questa|questo|queste|questi|vostra|vostro|vostre|tua|tuo|mia|"
        "mio|"
        "mi|me|io|lista|liste|mailing|list|newsletter|posta|mail|email|e|messaggi|"
        "messaggio|iscrizione|indirizzo|nome|servizio|piu|non|essere|subito|ora|"
        "immediatamente|paperboy|articoli|ricevere|inviare|che"},
    {"pt", false,
        "cancelar|cancele|cancelem|cancela|cancelamento|descadastrar|descadastre|"
        "descadastrem|descadastramento|desinscrever|desinscrevam|desinscricao|"
        "anular|anulem|remover|removam|remova|remove|remocao|retirar|retirem|retire|"
        "tirar|tirem|tire|excluir|excluam|exclua|eliminar|eliminem|apagar|apaguem|"
        "nao quero mais|nao quero receber|nao desejo mais|nao desejo receber|"
        "nao me enviem|nao me envie|nao me mandem|nao "
        "enviem|parem|pare|parar|stop|sair|"
        "deixar de receber|sem interesse",
        "inscrever|inscrevam|inscreva|inscrevo|inscricao|assinar|assinatura|subscrever|"
        "subscrevam|subscricao|cadastrar|cadastrem|cadastre|cadastro|adicionar|"
        "adicionem|adicione|aderir|registar|registrar|receber|quero participar",
        "ola|oi|bom|boa|dia|tarde|noite|caro|cara|caros|prezado|prezados|prezada|por|"
        "favor|"
        "gentileza|obrigado|obrigada|cumprimentos|abraco|agradeco|quero|queria|"
        "gostaria|"
        "desejo|desejaria|solicito|peco|podem|pode|poderiam|me|mim|eu|meu|minha|meus|"
        "minhas|o|a|os|as|um|uma|de|do|da|dos|das|no|na|nos|nas|em|ao|para|com|e|desta|"
        "deste|destas|destes|nesta|neste|esta|este|sua|seu|vossa|vosso|lista|listas|"
        "distribuicao|discussao|boletim|newsletter|mail|mails|email|emails|correio|"
        "eletronico|mensagem|mensagens|assinatura|inscricao|endereco|nome|servico|mais|"
        "nao|que|ser|agora|imediatamente|imediato|diario|paperboy|artigos|receber|"
        "enviar|"
        "se"},
    {"nl", false,
        "afmelden|afmelding|meld mij af|meld me af|meldt u mij af|uitschrijven|"
        "uitschrijving|schrijf mij uit|schrijf me uit|schrijft u mij uit|opzeggen|"
        "opzegging|zeg op|zeg mijn abonnement op|verwijderen|verwijder|verwijdert|"
        "haal mij|haal me|haalt u mij|stoppen|stop|niet meer ontvangen|"
        "geen mails meer|geen mail meer|geen e mails meer|geen emails meer|"
        "geen berichten meer|geen interesse meer|niet langer ontvangen|annuleren|"
        "annuleer|beeindigen|schrap mij|schrap me",
        "aanmelden|aanmelding|meld mij aan|meld me aan|inschrijven|inschrijving|"
        "schrijf mij in|schrijf me in|abonneren|abonneer|abonnement|toevoegen|"
        "voeg mij toe|voeg me toe|registreren|ontvangen|zet mij op|zet me op",
        "hallo|hoi|goedemorgen|goedemiddag|goedenavond|goedendag|beste|geachte|heer|"
        "mevrouw|alstublieft|aub|a|u|b|svp|graag|bedankt|dank|hartelijk|vriendelijk|"
        "met|"
        "vriendelijke|groet|groeten|ik|mij|me|mijn|wij|ons|onze|je|jij|jullie|uw|de|"
        "het|"
        "een|deze|dit|die|dat|van|voor|op|uit|af|aan|in|toe|te|er|om|en|wil|wilt|"
        "willen|"
        "zou|kunt|kun|kan|wens|wenst|verzoek|verzoeke|hierbij|willen|worden|lijst|"
        "maillijst|mailinglijst|mailinglist|verzendlijst|nieuwsbrief|nieuwsbrieven|"
        "mail|"
        "mails|e|email|emails|bericht|berichten|abonnement|adres|emailadres|mailadres|"
        "naam|dienst|meer|niet|geen|nu|meteen|direct|onmiddellijk|weer|paperboy|"
        "artikelen|"
        "zo|snel|mogelijk|ontvangen|sturen"},
    {"pl", false,
        "wypisac|wypisz|wypiszcie|wypisanie|wypisuje|wypis|rezygnuje|rezygnacja|"
        "rezygnacje|zrezygnowac|usunac|usun|usuncie|usuniecie|wyrejestrowac|"
        "wyrejestruj|"
        "odsubskrybowac|odsubskrybuj|anulowac|anuluj|anulujcie|anulowanie|"
        "nie chce wiecej|nie chce juz|nie wysylac|nie wysylajcie|nie wysylaj|"
        "nie przysylac|nie przysylajcie|nie przysylaj|prosze nie wysylac|"
        "przestancie|przestan|przestac|koniec|stop|skreslic|skresl|zakonczyc",
        "zapisac|zapisz|zapiszcie|zapisanie|zapisuje|zapis|subskrybowac|subskrybuj|"
        "subskrypcja|subskrypcje|zasubskrybowac|zarejestrowac|zarejestruj|dodac|dodaj|"
        "dodajcie|dopisac|dopisz|otrzymywac|zamowic|zamawiam|prenumerata|prenumerowac",
        "czesc|dzien|dobry|wieczor|witam|witaj|szanowni|panstwo|szanowny|panie|pani|"
        "prosze|"
        "uprzejmie|bardzo|dziekuje|dzieki|z|gory|pozdrawiam|pozdrowienia|chce|"
        "chcialbym|"
        "chcialabym|pragne|wnosze|mnie|mi|moj|moje|moja|mojego|sie|siebie|ja|o|na|do|"
        "od|"
        "w|i|ten|ta|to|tej|tego|tych|te|liste|listy|lista|listach|mailingowa|"
        "mailingowej|"
        "mailingowe|newsletter|newslettera|newsletterow|biuletyn|biuletynu|mail|maile|"
        "maili|email|emaile|emaili|e|poczty|wiadomosci|wiadomosc|adres|adresu|nazwisko|"
        "subskrypcje|subskrypcji|subskrypcja|prenumerate|waszej|wasza|waszego|wiecej|"
        "juz|"
        "nie|natychmiast|teraz|zaraz|paperboy|artykulow|otrzymywac|dalszych|moge|"
        "mozecie|"
        "za|usluge|uslugi"},
    {"ja", true,
        "配信停止|配信を停止|配信解除|配信中止|配信を中止|購読解除|購読を解除|購読中止|"
        "購読を中止|"
        "購読停止|購読を停止|購読をやめ|購読を止め|登録解除|登録を解除|登録削除|"
        "登録を削除|登録取消|"
        "登録を取り消|退会|脱退|解約|解除|削除|停止|中止|送らないで|送信しないで|"
        "送信をやめ|"
        "送るのをやめ|送付しないで|配信しないで|配信不要|メール不要|不要|外して|"
        "抜けたい|やめたい|"
        "止めて|やめて|キャンセル",
        "購読したい|購読を希望|購読申込|購読申し込み|購読の申し込み|購読開始|"
        "購読を開始|購読登録|"
        "購読希望|購読|登録したい|登録を希望|登録希望|登録|申し込み|申込み|申込|入会|"
        "参加したい|参加|"
        "配信希望|配信を希望|配信して|加えて|追加して|追加",
        "お世話になっております|お世話になります|こんにちは|こんばんは|はじめまして|"
        "すみません|"
        "恐れ入りますが|お手数ですが|お手数をおかけしますが|よろしくお願いいたします|"
        "よろしくお願いします|宜しくお願いいたします|宜しくお願いします|"
        "お願いいたします|お願いします|"
        "お願い致します|お願い|願います|ください|下さい|いただけますか|頂けますか|"
        "いただきたい|"
        "頂きたい|いただけませんか|ありがとうございます|ありがとう|どうか|もう|今後|"
        "今すぐ|すぐに|"
        "これ以上|以上|このメール|メーリングリスト|メールマガジン|メルマガ|"
        "ニュースレター|メール|"
        "アドレス|リスト|サービス|手続き|論文|毎日|配信|購読|登録|会員|こちら|私|"
        "わたし|この|その|"
        "希望|したい|致します|いたします|します|して|しました|する|さい|です|ます|"
        "ました|たい|と思い|"
        "ので|から|まで|への|との|へ|を|の|に|は|が|も|で|と|て|か|ご|お|御|り|し|い"},
    {"zh", true,
        "取消订阅|取消訂閱|退订|退訂|停止订阅|停止訂閱|不再订阅|不再訂閱|不想订阅|"
        "不想訂閱|"
        "解除订阅|解除訂閱|取消我的订阅|取消我的訂閱|取消邮件|取消郵件|取消|停止发送|"
        "停止發送|"
        "停止发|停止寄|停止推送|停止|不要再发|不要再發|不要再寄|不要再给我发|"
        "不要再給我發|"
        "不要给我发|不要給我發|别再发|別再發|别再给我发|別再給我發|别给我发|请勿再发|"
        "請勿再發|"
        "请勿发送|請勿發送|不想再收到|不想收到|不要收到|不再接收|不想再接收|不再收|"
        "拒收|移除|"
        "删除|刪除|除名|退出|离开|離開|移出|去掉",
        "我要订阅|我想订阅|订阅|訂閱|订购|訂購|加入|报名|報名|注册|註冊|登记|登記|"
        "添加我|添加|"
        "希望收到|想收到|开始发送|接收|申请|申請",
        "你好|您好|大家好|尊敬的|谢谢您|谢谢你|謝謝您|謝謝你|谢谢|謝謝|多谢|多謝|感谢|"
        "感謝|麻烦|"
        "麻煩|拜托|烦请|煩請|请帮我|請幫我|请|請|帮我|幫我|帮忙|幫忙|把我|将我|將我|"
        "我的|我们|"
        "我們|我|你们|你們|您|你|想要|想|要|希望|需要|从|從|自|把|将|將|给|給|邮件列表|"
        "郵件列表|"
        "郵寄名單|邮寄名单|郵遞論壇|邮件组|电子邮件|電子郵件|电子报|電子報|通讯|通訊|"
        "邮件|郵件|"
        "邮箱|郵箱|信件|列表|名单|名單|订阅|訂閱|地址|服务|服務|论文|論文|每日|推送|"
        "发送|發送|"
        "这个|這個|这些|這些|该|該|此|本|这|這|了|的|吧|啊|中|里|裡|裏|出|到|去|来|來|"
        "再|任何|"
        "立即|马上|馬上|立刻|现在|現在|以后|以後|不再|一下|信|发|發|们|們|和|与|及|在|"
        "是|就|也|掉"},
};

/* Letters and digits, folded, without marks; all else is one blank between words. */
static char *
fold(const char *text)
{
	g_autofree char *lower = g_utf8_casefold(text, -1);
	g_autofree char *whole = g_utf8_normalize(lower, -1, G_NORMALIZE_NFKD);
	GString *out = g_string_new(" ");

	for (const char *at = whole ? whole : ""; *at; at = g_utf8_next_char(at)) {
		gunichar c = g_utf8_get_char(at);

		if (g_unichar_ismark(c))
			continue;
		/* Polish l with stroke has no decomposition. */
		if (c == 0x142)
			c = 'l';
		if (g_unichar_isalnum(c))
			g_string_append_unichar(out, c);
		else if (out->str[out->len - 1] != ' ')
			g_string_append_c(out, ' ');
	}
	if (out->str[out->len - 1] != ' ')
		g_string_append_c(out, ' ');
	return g_string_free(out, FALSE);
}

/*
 * Remove the phrases from a folded line.
 *
 * @return their number
 */
static unsigned
take_out(GString *line, const char *phrases, bool has_no_spaces)
{
	g_auto(GStrv) list = g_strsplit(phrases, "|", -1);
	unsigned count = 0;

	for (char **phrase = list; *phrase; phrase++) {
		g_autofree char *folded = fold(*phrase);
		const char *found;

		if (has_no_spaces)
			g_strstrip(folded);
		while ((found = strstr(line->str, folded))) {
			gssize at = found - line->str;

			g_string_erase(line, at, (gssize)strlen(folded));
			g_string_insert_c(line, at, ' ');
			count++;
		}
	}
	return count;
}

static bool
is_blank(const char *text)
{
	return text[strspn(text, " ")] == '\0';
}

static enum request_kind
match_language(const struct language *language, const char *folded)
{
	g_autoptr(GString) line = g_string_new(folded);
	bool leaves =
	    take_out(line, language->unsubscribe, language->has_no_spaces) > 0;
	bool comes = take_out(line, language->subscribe, language->has_no_spaces) > 0;

	take_out(line, language->fillers, language->has_no_spaces);
	if (!is_blank(line->str))
		return leaves ? REQUEST_LEAVE_UNCLEAR : REQUEST_NONE;
	if (leaves)
		return REQUEST_UNSUBSCRIBE;
	return comes ? REQUEST_SUBSCRIBE : REQUEST_FILLER;
}

enum request_kind
request_match(const char *line)
{
	g_autofree char *folded = fold(line);
	enum request_kind best = REQUEST_NONE;

	if (is_blank(folded))
		return REQUEST_FILLER;
	for (size_t i = 0; i < G_N_ELEMENTS(languages); i++)
		best = MAX(best, match_language(&languages[i], folded));
	return best;
}

bool
request_is_closing(const char *line)
{
	static const char closings[] =
	    "thanks|thank|thx|cheers|regards|best|wishes|sincerely|yours|danke|dank|"
	    "gruss|grusse|grussen|mfg|lg|vg|"
	    "merci|cordialement|gracias|saludos|saludo|atentamente|"
	    "cumprimentos|grazie|saluti|obrigado|obrigada|"
	    "bedankt|"
	    "groet|groeten|dziekuje|pozdrawiam";
	static const char unspaced[] = "よろしく|宜しく|ありがとう|谢谢|謝謝";
	g_autofree char *folded = fold(line);
	g_autoptr(GString) rest = g_string_new(folded);

	return request_match(line) == REQUEST_FILLER &&
	       take_out(rest, closings, false) + take_out(rest, unspaced, true) > 0;
}

const char *
request_guess_language(const char *text)
{
	g_autofree char *folded = fold(text);
	const char *found = NULL;
	unsigned most = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(languages); i++) {
		const struct language *language = &languages[i];
		g_autoptr(GString) line = g_string_new(folded);
		unsigned count =
		    take_out(line, language->unsubscribe, language->has_no_spaces) +
		    take_out(line, language->subscribe, language->has_no_spaces) +
		    take_out(line, language->fillers, language->has_no_spaces);

		if (count == most)
			found = NULL;
		if (count <= most)
			continue;
		most = count;
		found = language->code;
	}
	return found;
}
