/*
 * bounce_class.c - the meaning of a refusal for the recipient's address.
 */
#include "transport/bounce_class.h"

#include <fnmatch.h>
#include <glib.h>
#include <string.h>

/* Bytes of a text that are classified. */
#define TEXT_BYTES 4096

/* When a row applies; all of the bits have to hold. */
enum when {
	ALWAYS = 0,
	RECIPIENT = 1 << 0, /* the refusal is of the recipient, see is_of_recipient() */
	LOCAL = 1 << 1,     /* the same, or a text without an SMTP reply */
	PLAIN = 1 << 2,     /* the same, or a text without any code */
	LASTING = 1 << 3,   /* the reply code is not 4yz */
	NO_POLICY = 1 << 4, /* the enhanced code is not X.7.X, security or policy */
	REPLY = 1 << 5,     /* there is a code, so this is not other text of a report */
	EARLY = 1 << 6,     /* a reply before RCPT */
	LATE = 1 << 7,      /* not that */
};

struct row {
	const char *name;
	enum bounce_class class;
	enum bounce_fault fault;
	unsigned when;
	const char *status; /* glob of the enhanced code, or NULL */
	int from, to;       /* range of reply codes, or 0 */
	const char *words;  /* regular expression on normalized text, or NULL */
};

/*
 * Normalized text is in lower case, without accents, quotation marks and URLs; "addr",
 * "host" and "ip" stand for mail addresses, host names and IP addresses.
 *
 * Repetitions in patterns are bounded, so that the time is linear in the text.
 */

/* clang-format off */
/* The recipient, in English. */
#define WHO                                                                    \
	"(?:user ?names?|user ?ids?|users?|recipients?|addressees?|addr"       \
	"|(?:e-?)?mail addresse?s?|addresse?s?|mail ?boxe?s?|inbox"            \
	"|e-?mail accounts?|accounts?|persons?|customers?|alias|login"         \
	"|local ?part|destinations?|(?:user )?part of addr)"
#define TARGET                                                                 \
	"(?:(?:local|virtual|mail|e-?mail|recipient|target|destination"        \
	"|envelope|rcpt|user|smtp|to) ){0,4}"
#define WHICH                                                                  \
	"(?: (?:name|id|with|that|you|tried|trying|to|reach|are|contact"       \
	"|specified|given|for|in|your|this|the|<?addr>?:?|\\(?addr\\)?:?)){0,8}"
#define NOT "(?:no|not|nt|cannot|cant|never)"
#define IS                                                                     \
	"(?:(?:is|are|was|were|has|have|had|does|do|did|could|can|be|been"     \
	"|an?) ){0,5}"

/* The same in de, fr, es, it, pt, nl, pl, ru, and what is said of it. */
#define WHO_FOREIGN                                                            \
	"(?:benutzer\\w*|empfanger\\w*|anwender\\w*|konto|postfach|adresse"    \
	"|utilisateurs?|usager|destinataires?|compte|boite|usuarios?"          \
	"|destinatarios?|cuentas?|direccion(?:es)?|buzon|utente|casella"       \
	"|indirizzo|contas?|enderecos?|caixa|gebruiker\\w*|ontvanger|adres\\w*" \
	"|account|postvak|uzytkowni\\w+|odbiorc\\w+|kont[aoe]|skrzynk\\w+"     \
	"|пользовател\\w*|получател\\w*|адрес\\w*|ящик\\w*"                    \
	"|учетн\\w+ запис\\w+|аккаунт\\w*)"
#define GONE_FOREIGN                                                           \
	"(?:unbekannt\\w*|nicht (?:gefunden|bekannt|vorhanden|vergeben)"       \
	"|existiert nicht|ungultig\\w*|geloscht|deaktiviert"                   \
	"|inconnue?s?|inexistante?s?|introuvables?|invalides?"                 \
	"|nexiste (?:pas|plus)|desactivee?|supprimee?|ferme"                   \
	"|desconocid[oa]s?|no existen?|no valid[oa]|inexistentes?"             \
	"|no (?:se |ha sido |fue )?encontr\\w+|no se ha encontrado"            \
	"|deshabilitad[oa]|desactivad[oa]|cancelad[oa]"                        \
	"|sconosciut[oa]|inesistente|non (?:esiste|trovat[oa]|valid[oa])"      \
	"|non e stat[oa] trovat[oa]|disabilitat[oa]|disattivat[oa]"            \
	"|desconhecid[oa]|nao (?:existe|encontrad[oa]|foi encontrad[oa])"      \
	"|desativad[oa]|inativ[oa]|invalid[oa]|onbekende?|bestaat niet"        \
	"|niet (?:gevonden|bekend)|ongeldig|nieznan\\w+|nie istnieje"          \
	"|nie (?:znaleziono|odnaleziono)|nie ma taki\\w+|nieprawidlow\\w+"     \
	"|не (?:существует|наиден\\w*|известен)|неизвест\\w+|нет такого"       \
	"|отключен\\w*|удален\\w*|недействител\\w+)"
#define SENDER_FOREIGN                                                         \
	"(?:absender\\w*|expediteur|remitente|remetente|mittente|afzender"     \
	"|nadawc\\w+|отправител\\w*)"

/* Mailboxes, and full, in other languages. */
#define BOX_FOREIGN                                                            \
	"(?:postfach|speicherplatz|boite|buzon|casella|caixa|mailbox|postvak"  \
	"|postbus|skrzynk\\w+|ящик\\w*|quota|cuota|kontingent)"
#define FULL_FOREIGN                                                           \
	"(?:voll|uberfullt|uberschritten|erschopft|pleine?|depassee?"          \
	"|saturee?|llen[oa]|superad[oa]|excedid[oa]|pien[oa]|superat[oa]"      \
	"|chei[oa]|vol|overschreden|pelna|przepelnion\\w+|przekroczon\\w+"     \
	"|переполнен\\w*|заполнен\\w*|превышен\\w*)"

static const struct row rows[] = {
    /* The mailbox works later, whatever the code is. */
    {"greylisting", BOUNCE_TEMPORARY, 0, ALWAYS, NULL, 0, 0, "gr[ea]y[ -]?list"},
    {"recipient-rate", BOUNCE_TEMPORARY, 0, ALWAYS, NULL, 0, 0,
        "receiving (?:e?-?mail|messages) (?:at a rate|too)"},
    {"delivery-program", BOUNCE_TEMPORARY, 0, ALWAYS, NULL, 0, 0,
        "(?:could ?nt|could not|cant|can ?not|unable to|failed to|error while"
        "|failure to) (?:create|open|write|writing|read|lock|save|append)"
        "|lock failure"},
    {"loop", BOUNCE_TEMPORARY, 0, ALWAYS, NULL, 0, 0,
        "(?:mail|routing|forwarding) loop|too many hops|hop count|loops back"
        "|forwarded more than|loop ?detected"},

    /* Limits on what we send come before the mailbox's own. */
    {"rate", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, ALWAYS, NULL, 0, 0,
        "(?:daily|hourly|sending|sender|relay|outgoing|outbound|message) "
        "(?:\\w+ )?(?:quota|rate)|rate limit|throttl"
        "|too (?:many|much) (?:connections|sessions|messages|mail|recipients"
        "|concurrent|errors|invalid|unknown|bad|nonexistent)"
        "|unexpected volume|exceeded the (?:maximum )?number of"
        "|connection (?:rate|frequency)"},
    {"system-storage", BOUNCE_TEMPORARY, 0, ALWAYS, NULL, 400, 499,
        "insufficient (?:disk|system) (?:space|storage)|system storage"},
    {"mailbox-full", BOUNCE_FULL, 0, ALWAYS, NULL, 0, 0,
        "(?:mail ?box|inbox|mail ?drop|mail ?folder|accounts?|users?|recipients?"
        "|addr)\\b(?:(?!unknown|not found|exist)[^.]){0,40}?\\b"
        "(?:full\\b|over (?:the |its |their |his |her )?(?:quota|limit|allowed)"
        "|out of (?:space|storage|quota)"
        "|exceed\\w* (?:\\w+ ){0,3}(?:size|limit|quota|storage|space))"
        "|over ?-?quota|quota (?:(?:is|was|has|been|limit|of|the|recipient|user) "
        "){0,5}(?:exceed|full|reach|violat|over)"
        "|(?:exceed\\w*|exhaust\\w*|overdrawn|reach\\w*|over|out of) "
        "(?:(?:the|its|his|her|their|your|allowed|disk|diskspace|storage|mailbox|mail|user"
        "|users|maximum|size|allocated|assigned|space) ){0,6}"
        "(?:quota|storage|space|mailbox)|(?:disk|storage|drive) (?:is )?full"
        "|(?:not enough|insufficient|no more|no) "
        "(?:(?:disk|free|system|mailbox|storage|available) ){0,4}"
        "(?:space|storage|room)|storage (?:quota|exceed)|quota ?exceeded"
        "|exceeded the (?:local )?limit|full mailbox|mailbox size"
        "|" BOX_FOREIGN "\\b[^.]{0,40}\\b" FULL_FOREIGN "\\b"
        "|(?:メールボックス|邮箱|郵箱|信箱|邮件).{0,20}(?:いっぱい|満|满|滿|容量)"
        "|容量.{0,10}(?:オーバー|超|不足|いっぱい)|已满|满了"},

    /* About us: never a score for the address. */
    /* Before the words of reputation: the code says that it is about this message. */
    {"content", BOUNCE_SENDER, BOUNCE_FAULT_MESSAGE, ALWAYS, "5.6.*", 0, 0,
        "\\bspam|\\bjunk\\b|polic|unsolicited|phish|suspicious"},
    {"authentication", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, ALWAYS, NULL, 0, 0,
        "\\b(?:spf|dkim|dmarc|domainkeys|sender ?-?id|arc)\\b|unauthenticated"
        "|purported responsible|authenticat(?:ion|ed) (?:is )?(?:required|failed"
        "|failure|results|checks?|credentials|users? may)|not authenticated"
        "|fails? authentication|must (?:be )?authenticate|starttls"},
    {"reputation", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, ALWAYS, NULL, 0, 0,
        "\\bspam|\\bjunk\\b|unsolicited|\\b(?:ube|uce)\\b|bulk (?:e-?)?mail"
        "|black[ -]?list|block[ -]?list|deny ?list|\\b\\w{0,20}rbls?\\b|\\bdnsbl"
        "|reputation|suspicious|\\babus|complaints?\\b|\\bbanned\\b|phish"
        "|unwanted|not wanted|poor trust|spoof|senderscore"
        "|(?:ip|host|domain|client|server|address) (?:\\w+ ){0,3}"
        "(?:is|are|was|been) (?:currently |temporarily )?listed"
        "|спам|垃圾|迷惑メール|スパム"},
    {"inactive", BOUNCE_DEAD, 0, LOCAL | LASTING, NULL, 0, 0,
        "(?:due to|for|because of) (?:\\w+ ){0,3}(?:inactivity|non-?use)"},
    {"blocked", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, ALWAYS, NULL, 0, 0,
        "client (?:host|address|ip)"
        "|(?:your|sending|sender|source|connecting|remote (?:ip|address)) "
        "(?:\\w+ ){0,3}"
        "(?:block|reject|refus|denied|den[iy]|not (?:allowed|permitted"
        "|authori[sz]ed|accepted|welcome))"
        "|(?:ip|messages? from (?:ip|host|addr|your)) (?:\\S+ ){0,4}"
        "(?:block|reject|refus|denied|not accepted|werent sent)"
        "|blocked (?:by|using|for|due|because|from|senders?|- see|-)"
        "|(?:connection|access|session)s? (?:from \\S+ )?"
        "(?:forbidden|blocked|not allowed|not accepted)|smtp server of your isp"
        "|\\bfirewall|not accepting mail from"
        "|refus\\w+ (?:mail|messages|connections?) from|adresse ip"
        "|(?:only|not|nt) accept\\w* (?:\\w+ ){0,3}from\\b"},
    {"reverse-dns", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, ALWAYS, NULL, 0, 0,
        "\\bptr\\b|reverse[ -](?:dns|lookup|host|address|name|mapping)|\\brdns\\b"
        "|no reverse|unverifiable sending|\\b(?:helo|ehlo)\\b"
        "|\\byour (?:\\w+ ){0,2}(?:domain|host|hostname|ip)\\b"},
    {"sender-address", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, ALWAYS, NULL, 0, 0,
        "senders? (?:address|domain|mail ?box|account|verif|denied|reject|is|was"
        "|not|invalid|unknown|refused)"
        "|senders? (?:\\S+ )?(?:reject|not allowed|denied)"
        "|(?:invalid|unknown|bad|bogus|illegal|unroutable|unverified|unresolvable"
        "|undeliverable|forged) (?:return |envelope )?"
        "(?:senders?|return address|from)"
        "|(?:from|return|envelope) (?:address|path|domain|header)|mail ?from\\b"
        "|(?:domain|address|mailbox) of (?:the )?(?:envelope )?(?:sender|from)"
        "|valid (?:from|sender)\\b|badmailfrom|reply address"
        "|email address is not verified|callout"
        "|" SENDER_FOREIGN "\\b[^.]{0,40}\\b" GONE_FOREIGN},
    {"status-sender", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, ALWAYS, "?.1.[78]", 0, 0,
        NULL},

    /* Plain words about the address weigh more than a relaying or policy text. */
    {"no-such-user", BOUNCE_DEAD, 0, RECIPIENT | LASTING, NULL, 0, 0,
        "\\b(?:unknown|no such|unrecogni[sz]ed) (?:(?:local|mail|e-?mail) )?"
        "(?:users?\\b(?! allow)|recipients?|mail ?box|account\\b)(?! (?:quota|pattern))"
        "|\\busers? (?:name )?(?:\\S+ ){0,2}?(?:is )?unknown\\b"},
    {"relaying", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, ALWAYS, NULL, 0, 0,
        "relay(?:ing)?(?: \\S+){0,2} (?:denied|not|prohibited|refused|reject"
        "|disabled|forbidden)"
        "|(?:not|nt|unable|cannot|cant|wont|refuse|deny|no|without)"
        "(?: \\w+){0,3} (?:relay(?:ing)?|open relay)\\b|rcpthosts|not a gateway"
        "|relayed mail"},
    {"policy", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, ALWAYS, NULL, 0, 0,
        "\\bpolic(?:y|ies)\\b|administrative(?:ly)? (?:block|den|reject|refus)|prohibit"
        "|protocol (?:error|violation)|violat"
        "|security (?:reason|restriction|setting)"
        "|not (?:permitted|allowed|authori[sz]ed) to (?:send|submit|deliver|post"
        "|contact)|restricted|member-only|moderat|challenge|whitelist|permission"
        "|members? (?:\\w+ ){0,4}(?:may|can) (?:post|send)|not a (?:\\w+ )?member"
        "|\\b(?:richtlinie|politique|politica|polityk|политик)"},
    {"size", BOUNCE_SENDER, BOUNCE_FAULT_MESSAGE, ALWAYS, NULL, 0, 0,
        "(?:message|mail|e-?mail|size|data)\\b[^.]{0,40}(?:too (?:big|large)|exceed)"
        "|too (?:big|large)\\b|(?:line|header|message) (?:is )?too long"
        "|(?:message|size|line|length|header) (?:size |length )?limit"
        "|exceed\\w* (?:\\w+ ){0,3}size"},
    {"content", BOUNCE_SENDER, BOUNCE_FAULT_MESSAGE, ALWAYS, NULL, 0, 0,
        "virus|malware|infected|trojan|\\bworm\\b"
        "|content (?:reject|filter|not|error|den)|duplicate header|bare [cl][rf]"
        "|(?:invalid|missing|bad|malformed|illegal) (?:\\w+:? ){0,3}header"},
    {"content", BOUNCE_SENDER, BOUNCE_FAULT_MESSAGE, REPLY, NULL, 0, 0,
        "(?:message|mail) (?:content|headers?|body|text|format)|attachment"
        "|header (?:error|syntax|field|line)|(?:in|of) (?:the )?(?:to|from|cc):? header"
        "|rfc ?-?(?:2?822|5322)|charset|character set|mime\\b"},

    /* The address, unless the host says that this is for now. */
    {"no-such-domain", BOUNCE_DEAD, 0, LOCAL | LASTING, NULL, 0, 0,
        "(?:no such|unknown|invalid|illegal|non-?existent|bad|unresolvable) "
        "(?:host(?:name)?|domain|destination host|mail ?host|mail domain"
        "|host/domain)\\b"
        "|\\b(?:host|domain)s?(?: ?names?)?(?: \\(?host\\)?)?"
        "(?: or domain(?: name)?)?(?:/\\w+(?: name)?)? " IS
        "(?:not (?:be )?(?:found|exist|known|resolv)\\w*(?!,? try)|unknown"
        "|doesnt exist|couldnt be found|nonexistent|unresolvable"
        "|lookup failed permanently)(?!.*\\btry again)"
        "|nxdomain|couldnt find (?:any host named|an? (?:mail exchanger|mx))"
        "|null ?mx|no (?:mx|smtp service|mail exchangers?)\\b"
        "|unrout(?:e)?able (?:mail )?(?:addr|domain)"
        "|(?:does not|doesnt|do not|not) (?:accept|receive|handle) "
        "(?:any )?(?:e-?)?mail\\b(?! from)|had no relevant answers"
        "|domaine? (?:inconnu|inexistant)|domain unbekannt"
        "|domain(?:s)? (?:is )?(?:expired|suspended|disabled)"},
    {"temporary", BOUNCE_TEMPORARY, 0, ALWAYS, NULL, 0, 0,
        "temporar(?:y|ily)|\\btempfail|verification (?:in progress|failed)"
        "|name ?-?server|host not found,? try again"
        "|lookup (?:fail|error|time)|servfail|resolution"
        "|dns (?:error|failure|timeout|problem)(?!.*(?:nxdomain|noerror))"
        "|momentanement|vorubergehend"},
    {"moved", BOUNCE_DEAD, 0, RECIPIENT, NULL, 0, 0,
        "(?:has|have|is) (?:moved|left|relocated)"
        "|no longer (?:on|at|with|works?|employed|here|part of|associated)"
        "|changed (?:\\w+ )?(?:e-?mail )?address|user not local"
        "|new (?:e-?mail )?address|please (?:try|use) addr"},
    /* Whole sentences about the recipient: no filter says so, after DATA either. */
    {"no-such-account", BOUNCE_DEAD, 0, LATE | LASTING, NULL, 0, 0,
        "\\bthis (?:user|recipient|person|customer) (?:does ?nt|does not) have an? "
        "(?:\\S+ ){0,3}(?:account|mail ?box|address)\\b"
        "|\\bthis (?:e-?mail )?(?:account|mail ?box|address) (?:has been|was|is) "
        "(?:permanently )?(?:disabled|discontinued|de-?activated|closed|deleted"
        "|terminated)\\b(?! (?:from|for) )"
        "|\\b(?:disabled|de-?activated) recipient\\b"},
    /* It may be opened again. */
    {"locked", BOUNCE_TEMPORARY, 0, LOCAL | LASTING, NULL, 0, 0,
        WHO "\\b[^.]{0,40}?\\b(?:locked"
        "|blocked(?! (?:you|mail|messages|senders?|from|by)\\b))"
        "|blocked (?:\\w+ )?" WHO "\\b"
        "|\\b(?:l|d)?" WHO_FOREIGN "\\b[^.]{0,60}?\\b(?:gesperrt|bloquee?"
        "|bloquead[oa]|bloccat[oa]|geblokkeerd|zablokowan\\w*|заблокирован\\w*)"},
    {"disabled", BOUNCE_DEAD, 0, LOCAL | LASTING, NULL, 0, 0,
        WHO "\\b[^.]{0,40}?\\b(?:disabled|de-?activated|suspended|inactive"
        "|discontinued|closed|frozen|terminated|cancel+ed|retired"
        "|deleted|removed|not (?:been )?activ|no longer|unused|abandoned|dormant)"
        "|(?:disabled|de-?activated|suspended|inactive|closed|expired"
        "|frozen) (?:\\w+ )?" WHO "\\b|account (?:has )?expired|activation pending"},
    {"no-such-address", BOUNCE_DEAD, 0, LOCAL, NULL, 0, 0,
        "\\b(?:unknown|no such|unrecogni[sz]ed) (?:or (?:illegal|invalid) )?"
        "(?:(?:local|virtual|mail|e-?mail|recipient|target|destination|internet) )?"
        "(?:users?\\b|recipients?|mail ?box|address(?!.{0,9} error)|alias|person"
        "|account|local.?part)"
        "|\\b(?:users?|recipients?|mail ?box|address(?:es)?|alias|account"
        "|local.?part)(?: \\(?<?addr>?\\)?)?:? " IS
        "(?:unknown|not found|not known|not listed|not registered|unrecognized)"
        "|no mail ?box here|(?:user|recipient|mail ?box|account) \\S+ "
        "\\S{0,40} ?(?:not found|not listed|unknown)"
        "|listed in (?:public |the |domino ){0,3}(?:name|directory|address book)"
        "|no match\\w* (?:\\w+ ){0,2}in (?:\\w+ ){0,2}(?:name|directory|address)"
        "|no longer exists?|no (?:mail)?user by that name"},
    {"no-such-address", BOUNCE_DEAD, 0, LOCAL | LASTING, NULL, 0, 0,
        "\\b(?:l|d)?" WHO_FOREIGN "\\b[^.]{0,60}?\\b" GONE_FOREIGN "|\\b" GONE_FOREIGN
        "(?: \\w+){0,2} " WHO_FOREIGN "\\b|nessuno con questo nome"
        "|\\b(?:kein\\w*|pas de|aucune?|ningun[oa]?|nessun[oa]?|nenhuma?|geen|brak) "
        "(?:solche\\w* |tal )?" WHO_FOREIGN "\\b"
        "|(?:ユーザー?|宛先|アドレス|受信者|アカウント|メールボックス).{0,30}"
        "(?:見つかりま|存在しま|ありません|不明|無効)|宛先不明"
        "|(?:用户|用戶|收件人|邮箱|郵箱|信箱|帐号|账号|帳號|帐户|账户|帳戶|地址)"
        ".{0,20}(?:不存在|未找到|无效|無效|停用|禁用|注销|找不到|冻结)"
        "|(?:无此|無此|没有此|沒有此|找不到|未找到|查无此|不存在的)"
        ".{0,3}(?:用户|用戶|收件人|邮箱|郵箱|帐|账|帳|地址)"},
    {"no-such-address", BOUNCE_DEAD, 0, PLAIN | NO_POLICY, NULL, 0, 0,
        "\\b(?:unknown|no such|non-?existent|inexistent|not existing|invalid"
        "|illegal|obsolete) (?:or \\w+ )?" TARGET WHO "\\b"
        "|\\b" WHO "\\b" WHICH ":? " IS
        "(?:unknown|invalid|non-?existent|inexistent"
        "|" NOT " (?:longer )?(?:be )?" IS
        "(?:exist|found|known|valid|list|regist|recogni[sz]ed|unique))"
        "|\\bno (?:such |valid |matching |local )?(?:" WHO
        "|one|body|mail ?box available|mail ?drop)\\b(?: \\S+){0,6}? "
        "(?:name|here|found|available|exists?|known)"
        "|not (?:resolve to|match|belong to|correspond to) (?:an? |any )?" WHO
        "|not found in (?:\\w+ ){0,2}(?:directory|address book)"
        "|not our customer|doesnt exist|does not exist|not exist\\b"
        "|recip(?:ient)?notfound"},
    {"no-such-address", BOUNCE_DEAD, 0, RECIPIENT | NO_POLICY, NULL, 0, 0,
        "\\b(?:bad|incorrect|wrong|undeliverable|unavailable|unassigned|inactive) "
        "(?:or \\w+ )?" TARGET WHO "\\b"
        "|\\b" WHO "\\b" WHICH ":? " IS
        "(?:undeliverable|unroutable|incorrect|missing|wrong"
        "|" NOT " (?:longer )?(?:be )?" IS
        "(?:present|active|local|here|hosted|ok\\b|accepted|deliver|configured"
        "|defined|available|current|permitted|receiv|in (?:my|our|the|this)"
        "|one of|our|a (?:valid|known|registered|local|current)))"
        "|\\b(?:not|nt|doesnt|dont) (?:have|know|recogni[sz]e|a|an|one of|our|any) "
        "(?:\\w+ ){0,3}?" WHO "\\b"
        "|\\bno (?:" WHO "|one|body)\\b(?: \\S+){0,6}? (?:address|bye)"
        "|no valid recipients?|badrcptto|validrcptto"
        "|not (?:in|on|found in|present in|part of) (?:\\w+ )?"
        "(?:directory|system|server|database|host|domain|list)"
        "|missing home directory|(?:cant|cannot|not) accept user|activation"
        "|ofr_416"},
    {"mailbox-unavailable", BOUNCE_DEAD, 0, RECIPIENT, NULL, 550, 559,
        "(?:mail ?box|account|recipient|user|addr|address) (?:name )?(?:is |was )?"
        "(?:unavailable|not available|currently unavailable)"},
    {"recipient-rejected", BOUNCE_DEAD, 0, RECIPIENT, NULL, 0, 0,
        "(?:recipient address|address|recipient) (?:rejected|refused)[.:]?"
        "(?: access denied[.]?)?(?: as\\(\\w+\\))?"
        "(?: addr| \\[?host\\]?| \\(in reply.*){0,3}\\s*$"},

    {"message-rejected", BOUNCE_SENDER, BOUNCE_FAULT_MESSAGE, REPLY, NULL, 0, 0,
        "(?:message|mail) (?:was |has been |is |not ){0,4}(?:refused|reject|allowed"
        "|denied|discarded|accepted)"},

    /* Before RCPT, nothing has been said about the recipient. */
    {"before-recipient", BOUNCE_TEMPORARY, 0, EARLY, NULL, 400, 499, NULL},
    {"before-recipient", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, EARLY, NULL, 0, 0, NULL},

    /* The network, and the host of the mailbox. */
    {"network", BOUNCE_TEMPORARY, 0, ALWAYS, NULL, 0, 0,
        "timed? ?-?out|connection (?:to \\S+ )?(?:refused|reset|lost|dropped|closed|failed)"
        "|lost connection|no route|unreachable"
        "|unable to (?:connect|contact|reach|establish)"
        "|could ?nt (?:connect|establish|reach)"
        "|could not (?:connect|be reached|contact)"
        "|(?:wasnt|not) able to (?:establish|connect)|did not (?:accept|respond)"
        "|no answer|not respond|queue too long|retry time|message expired"
        "|too long in|have been failing|in the queue"},
    {"host", BOUNCE_TEMPORARY, 0, ALWAYS, NULL, 0, 0,
        "try (?:again|later)|(?:again|please try) later"
        "|service (?:is )?(?:unavailable|refuse|not available)|resources"
        "|internal (?:server )?error"
        "|system (?:error|failure|not accepting|problem)|overload|\\bbusy\\b"
        "|out of memory|plus tard|spater"},

    /* Enhanced codes; the text was of no use. */
    {"status-sender", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, ALWAYS, "5.7.*", 0, 0, NULL},
    {"status-content", BOUNCE_SENDER, BOUNCE_FAULT_MESSAGE, ALWAYS, "5.6.*", 0, 0,
        NULL},
    {"status-size", BOUNCE_SENDER, BOUNCE_FAULT_MESSAGE, ALWAYS, "?.[23].[34]", 0, 0,
        NULL},
    {"status-full", BOUNCE_FULL, 0, ALWAYS, "?.2.2", 0, 0, NULL},
    {"status-dead", BOUNCE_DEAD, 0, RECIPIENT, "5.1.[1236]", 0, 0, NULL},
    {"status-dead", BOUNCE_DEAD, 0, RECIPIENT, "5.1.10", 0, 0, NULL},
    {"status-disabled", BOUNCE_DEAD, 0, RECIPIENT, "5.2.1", 0, 0, NULL},
    {"status-domain", BOUNCE_DEAD, 0, ALWAYS, "5.4.4", 0, 0, NULL},
    {"status-domain", BOUNCE_DEAD, 0, ALWAYS, "5.4.310", 0, 0, NULL},
    {"status-network", BOUNCE_TEMPORARY, 0, ALWAYS, "?.[34].*", 0, 0, NULL},
    {"status-temporary", BOUNCE_TEMPORARY, 0, ALWAYS, "4.*", 0, 0, NULL},
    {"code-temporary", BOUNCE_TEMPORARY, 0, ALWAYS, NULL, 400, 499, NULL},
};

/* Replacements that make normalized text, in order. */
static const char *const replacements[][2] = {
    {"\\b(?:https?://|www\\.)\\S+", " "},
    {"[\"'`\u2018\u2019\u201c\u201d]", ""},
    {"<?(?<![\\w.+=%/!#$*-])[\\w.+=%/!#$*-]+@[\\w.-]*[\\w]>?", "addr"},
    {"\\[?(?<![\\d.])\\d{1,3}(?:\\.\\d{1,3}){3}\\]?(?::\\d+)?", "ip"},
    {"\\[?\\b(?:[0-9a-f]{1,4}:{1,2}){3,9}[0-9a-f]{0,4}\\]?", "ip"},
    {"(?<![\\w.-])(?!resolver\\.)[a-z0-9_-]+(?:\\.[a-z0-9_-]+)*\\.[a-z][a-z0-9-]+\\b",
        "host"},
    {"\\d\\.\\d\\.\\d - (?:unknown address error|other mail system problem)", " "},
    {"\\s+", " "},
};

/* Guesses, conditions and advice: nothing is concluded from them for the address. */
static const char guess_pattern[] =
    "\\b(?:(?:may|might) (?:also )?(?:be|have|not)\\b|could (?:also )?(?:be|have)\\b"
    "|(?:maybe|perhaps|possibly|probably|it is possible)\\b"
    "|(?:please|and) (?:check|verify|make sure|ensure|confirm)\\b"
    "|(?:check|verify|make sure|ensure|see) (?:whether|that|if)\\b"
    "|if (?:the|you|this|it|your|that)\\b|(?:possible|likely|common) (?:reason|cause)"
    "|most (?:frequent|common|likely|probably)|as the address may)[^.]*";

/* clang-format on */

struct bounce_rules {
	GRegex *words[G_N_ELEMENTS(rows)];
	GRegex *replacements[G_N_ELEMENTS(replacements)];
	GRegex *guesses;
};

/* A pattern that takes too long for hostile text does not match. */
static GRegex *
compile(const char *pattern)
{
	g_autofree char *limited = g_strconcat("(*LIMIT_MATCH=200000)", pattern, NULL);
	GRegex *regex = g_regex_new(limited, 0, 0, NULL);

	g_assert(regex);
	return regex;
}

struct bounce_rules *
bounce_rules_new(void)
{
	struct bounce_rules *rules = g_new0(struct bounce_rules, 1);

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (rows[i].words)
			rules->words[i] = compile(rows[i].words);
	for (size_t i = 0; i < G_N_ELEMENTS(replacements); i++)
		rules->replacements[i] = compile(replacements[i][0]);
	rules->guesses = compile(guess_pattern);
	return rules;
}

void
bounce_rules_free(struct bounce_rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		g_clear_pointer(&rules->words[i], g_regex_unref);
	for (size_t i = 0; i < G_N_ELEMENTS(replacements); i++)
		g_regex_unref(rules->replacements[i]);
	g_regex_unref(rules->guesses);
	g_free(rules);
}

/* Remove the accents of Latin and Cyrillic letters; other marks change the meaning. */
static char *
strip_accents(const char *text)
{
	g_autofree char *decomposed = g_utf8_normalize(text, -1, G_NORMALIZE_NFD);
	g_autoptr(GString) plain = g_string_new(NULL);

	for (const char *at = decomposed; *at; at = g_utf8_next_char(at)) {
		gunichar c = g_utf8_get_char(at);

		if (c == 0x142) /* has no decomposition */
			g_string_append_c(plain, 'l');
		else if (c < 0x300 || c > 0x36f)
			g_string_append_unichar(plain, c);
	}
	return g_utf8_normalize(plain->str, -1, G_NORMALIZE_NFKC);
}

/* @param text  taken @return text if the matcher reached a limit */
static char *
replace(const GRegex *regex, char *text, const char *by)
{
	char *replaced = g_regex_replace_literal(regex, text, -1, 0, by, 0, NULL);

	if (!replaced)
		return text;
	g_free(text);
	return replaced;
}

static char *
normalize(const struct bounce_rules *rules, const char *text)
{
	g_autofree char *valid =
	    g_utf8_make_valid(text, (gssize)strnlen(text, TEXT_BYTES));
	g_autofree char *lower = g_utf8_strdown(valid, -1);
	char *plain = strip_accents(lower);

	for (size_t i = 0; i < G_N_ELEMENTS(replacements); i++)
		plain = replace(rules->replacements[i], plain, replacements[i][1]);
	return plain;
}

static bool
is_early(const struct bounce_refusal *refusal)
{
	return refusal->stage > SMTP_STAGE_NONE && refusal->stage < SMTP_STAGE_RCPT;
}

/*
 * Whether the recipient was refused, and not the message: in reply to RCPT, by an
 * enhanced code about an address, or in a report that does not say when.
 */
static bool
is_of_recipient(const struct bounce_refusal *refusal, const char *status)
{
	if (is_early(refusal))
		return false;
	if (refusal->stage == SMTP_STAGE_RCPT)
		return true;
	if (fnmatch("?.1.[0-6]", status, 0) == 0 || strcmp(status, "5.1.10") == 0 ||
	    fnmatch("?.2.[01]", status, 0) == 0 || strcmp(status, "5.5.0") == 0 ||
	    strcmp(status, "5.4.1") == 0) /* the last two by Exchange Online */
		return true;
	if (refusal->stage != SMTP_STAGE_NONE)
		return false;
	/* "5.3.0 ... 550 Unknown user": the agent reports another failure. */
	return refusal->code != 0 && !(*status && strchr("346", status[2]));
}

/* @return the bits of enum when that hold */
static unsigned
find_conditions(const struct bounce_refusal *refusal, const char *status)
{
	const bool is_recipient = is_of_recipient(refusal, status);
	const bool has_reply = refusal->stage != SMTP_STAGE_NONE || refusal->code != 0;

	return (is_recipient ? RECIPIENT : 0) |
	       (is_recipient || !has_reply ? LOCAL : 0) |
	       (is_recipient || !(has_reply || *status) ? PLAIN : 0) |
	       (refusal->code / 100 != 4 ? LASTING : 0) |
	       (fnmatch("?.7.*", status, 0) != 0 ? NO_POLICY : 0) |
	       (refusal->code != 0 || *status ? REPLY : 0) |
	       (is_early(refusal) ? EARLY : LATE);
}

static bool
row_matches(const struct row *row, const GRegex *words,
    const struct bounce_refusal *refusal, const char *status, const char *text)
{
	if (row->to && (refusal->code < row->from || refusal->code > row->to))
		return false;
	if (row->status && fnmatch(row->status, status, 0) != 0)
		return false;
	return !words || g_regex_match(words, text, 0, NULL);
}

struct bounce_verdict
bounce_classify(const struct bounce_rules *rules, const struct bounce_refusal *refusal)
{
	const char *status = refusal->status ? refusal->status : "";
	const unsigned conditions = find_conditions(refusal, status);
	g_autofree char *plain = normalize(rules, refusal->text ? refusal->text : "");
	g_autofree char *certain = replace(rules->guesses, g_strdup(plain), " ");

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const struct row *row = &rows[i];
		bool is_of_address =
		    row->class == BOUNCE_DEAD || row->class == BOUNCE_FULL;

		if ((row->when & ~conditions) == 0 &&
		    row_matches(row, rules->words[i], refusal, status,
		        is_of_address ? certain : plain))
			return (struct bounce_verdict){
			    row->class, row->fault, row->name};
	}
	return (struct bounce_verdict){BOUNCE_UNKNOWN, BOUNCE_FAULT_NONE, "none"};
}

static const char *const names[] = {
    [BOUNCE_UNKNOWN] = "unknown",
    [BOUNCE_DEAD] = "dead",
    [BOUNCE_FULL] = "full",
    [BOUNCE_TEMPORARY] = "temporary",
    [BOUNCE_SENDER] = "sender",
    [BOUNCE_COMPLAINT] = "complaint",
    [BOUNCE_AUTO] = "auto",
    [BOUNCE_DELIVERED] = "delivered",
};

const char *bounce_class_get_name(enum bounce_class class)
{
	return names[class];
}
