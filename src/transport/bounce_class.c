/*
 * bounce_class.c - the meaning of a refusal for the recipient's address.
 */
#include "transport/bounce_class.h"

#include <fnmatch.h>
#include <glib.h>
#include <string.h>

/* Bytes of a text that are classified. */
#define TEXT_BYTES 4096

/* When a row applies. */
enum when {
	ALWAYS,
	RECIPIENT, /* the refusal is of the recipient, see is_about_recipient() */
	LOCAL,     /* the same, or a text without any SMTP reply */
	EARLY,     /* a reply before RCPT */
};

struct row {
	const char *name;
	enum bounce_class class;
	enum bounce_fault fault;
	enum when when;
	const char *status; /* glob of the enhanced code, or NULL */
	int from, to;       /* range of reply codes, or 0 */
	const char *words;  /* regular expression on normalized text, or NULL */
};

/*
 * Normalized text is in lower case, without quotation marks and URLs; "addr", "host"
 * and "ip" stand for mail addresses, host names and IP addresses.
 */
#define WHO                                                                      \
	"(?:user ?names?|user ?ids?|users?|recipients?|addressees?|addr"         \
	"|e-?mail addresse?s?|addresse?s?|mail ?boxe?s?|inbox|e-?mail accounts?" \
	"|accounts?|persons?|customers?|alias|login|local ?part|destinations?"   \
	"|(?:user )?part of addr)"
#define NOT "(?:no|not|nt|cannot|cant|never)"
#define IS  "(?:(?:is|are|was|were|has|have|had|does|do|did|could|can|be|been|an?) )*"

static const struct row rows[] = {
    /* The mailbox works later, whatever the code is. */
    {"greylisting", BOUNCE_TEMPORARY, 0, ALWAYS, NULL, 0, 0, "gr[ea]y[ -]?list"},
    {"recipient-rate", BOUNCE_TEMPORARY, 0, ALWAYS, NULL, 0, 0,
        "receiving (?:e?-?mail|messages) (?:at a rate|too)"},
    {"delivery-program", BOUNCE_TEMPORARY, 0, ALWAYS, NULL, 0, 0,
        "(?:could ?nt|could not|cant|can ?not|unable to|failed to|error while|failure "
        "to) (?:create|open|write|writing|read|lock|save|append)|lock failure"},
    {"loop", BOUNCE_TEMPORARY, 0, ALWAYS, NULL, 0, 0,
        "(?:mail|routing|forwarding) loop|too many hops|hop count|loops back"
        "|forwarded more than"},

    /* Limits on what we send come before the mailbox's own. */
    {"rate", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, ALWAYS, NULL, 0, 0,
        "(?:daily|hourly|sending|sender|relay|outgoing|outbound|message) (?:\\w+ )?"
        "(?:quota|rate)|rate limit|throttl|too many (?:connections|sessions|messages"
        "|recipients|concurrent|errors|invalid|unknown|bad)|unexpected volume"
        "|exceeded the (?:maximum )?number of|connection (?:rate|frequency)"},
    {"mailbox-full", BOUNCE_FULL, 0, ALWAYS, NULL, 0, 0,
        "(?:mail ?box|inbox|mail ?drop|mail ?folder|accounts?|users?|recipients?|addr)"
        "\\b(?:(?!unknown|not found|exist)[^.]){0,40}?\\b(?:full\\b|over (?:the |its |"
        "their |his |her )?(?:quota|limit|allowed)|out of "
        "(?:space|storage|quota)|exceed\\w*"
        " (?:\\w+ ){0,3}(?:size|limit|quota|storage|space))"
        "|over ?-?quota|quota (?:(?:is|was|has|been|limit) "
        ")*(?:exceed|full|reach|violat"
        "|over)|(?:exceed\\w*|exhaust\\w*|reach\\w*|over|out of) (?:(?:the|its|his|her"
        "|their|your|allowed|disk|storage|mailbox|mail|user|users|maximum|size|"
        "allocated"
        "|assigned|space) )*(?:quota|storage|space|mailbox)|(?:disk|storage|drive) "
        "(?:is "
        ")?full|(?:not enough|insufficient|no more|no) (?:(?:disk|free|system|mailbox"
        "|storage|available) )*(?:space|storage|room)|storage quota|quota exceeded"
        "|full mailbox|mailbox size|boite (?:aux lettres )?pleine|postfach (?:ist )?"
        "(?:voll|uberfullt)|buzon lleno|casella piena|caixa (?:postal )?cheia"
        "|переполнен|容量|いっぱい|已满|满了"},

    /* About us: never a score for the address. */
    {"authentication", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, ALWAYS, NULL, 0, 0,
        "\\b(?:spf|dkim|dmarc|domainkeys|sender "
        "?-?id|arc)\\b|unauthenticated|purported "
        "responsible|authenticat(?:ion|ed) (?:is )?(?:required|failed|failure|results"
        "|checks?)|not authenticated|fails? authentication|must (?:be )?authenticate"},
    {"reputation", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, ALWAYS, NULL, 0, 0,
        "\\bspam|\\bjunk\\b|unsolicited|\\b(?:ube|uce)\\b|bulk (?:e-?)?mail|black[ "
        "-]?list"
        "|block[ -]?list|deny "
        "?list|\\b\\w*rbls?\\b|\\bdnsbl|spamhaus|spamcop|reputation"
        "|suspicious|\\babus|complaints?\\b|\\bbanned\\b|phish|unwanted|not wanted"
        "|poor trust|spoof|(?:ip|host|domain|client|server|address) (?:\\w+ ){0,3}"
        "(?:is|are|was|been) (?:currently |temporarily )?listed|senderscore|barracuda"},
    {"blocked", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, ALWAYS, NULL, 0, 0,
        "client (?:host|address|ip)|(?:your|sending|sender|source|connecting|remote) "
        "(?:\\w"
        "+ ){0,3}(?:block|reject|refus|denied|den[iy]|not (?:allowed|permitted"
        "|authori[sz]ed|accepted|welcome))|(?:ip|messages? from (?:ip|host|addr|your)) "
        "(?:\\S+ ){0,4}(?:block|reject|refus|denied|not accepted|werent sent)|blocked "
        "(?:by|using|for|due|because|from|- see|-)|(?:connection|access|session)s? "
        "(?:from "
        "\\S+ )?(?:forbidden|blocked|not allowed|not accepted)|smtp server of your isp"
        "|\\bfirewall|not accepting mail from|refus\\w+ (?:mail|messages|connections?) "
        "from"
        "|adresse ip"},
    {"reverse-dns", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, ALWAYS, NULL, 0, 0,
        "\\bptr\\b|reverse[ -](?:dns|lookup|host|address|name|mapping)|\\brdns\\b|no "
        "reverse|unverifiable sending|(?:invalid|bad|illegal) "
        "(?:helo|ehlo)|(?:helo|ehlo) (?:name|host|command|argument|reject)"},
    {"sender-address", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, ALWAYS, NULL, 0, 0,
        "sender "
        "(?:address|domain|verif|denied|reject|is|was|not|invalid|unknown|refused)"
        "|senders? (?:\\S+ )?(?:reject|not "
        "allowed|denied)|(?:invalid|unknown|bad|illegal"
        "|unroutable|unverified|unresolvable|undeliverable|forged) (?:return |envelope "
        ")?"
        "(?:sender|return address|from)|(?:from|return|envelope) "
        "(?:address|domain|header)"
        "|mail ?from\\b|domain of sender|valid from\\b|badmailfrom|reply address|email "
        "address is not verified|callout"},
    {"relaying", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, ALWAYS, NULL, 0, 0,
        "relay(?:ing)?(?: \\S+){0,2} (?:denied|not|prohibited|refused|reject|disabled"
        "|forbidden)|(?:not|nt|unable|cannot|cant|wont|refuse|deny|no|without)(?: "
        "\\w+){0,3}"
        " (?:relay(?:ing)?|open relay)\\b|rcpthosts|not a gateway|relayed mail"},
    {"policy", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, ALWAYS, NULL, 0, 0,
        "\\bpolic(?:y|ies)\\b|administrative(?:ly)? |prohibit|protocol "
        "(?:error|violation)"
        "|violat|security (?:reason|restriction|setting)|not permitted to "
        "(?:send|deliver"
        "|post)|not (?:allowed|authori[sz]ed) to (?:send|submit|deliver|post|contact)"
        "|restricted|member-only|moderat|challenge|whitelist|permission"},
    {"size", BOUNCE_SENDER, BOUNCE_FAULT_MESSAGE, ALWAYS, NULL, 0, 0,
        "(?:message|mail|e-?mail|size|data)\\b[^.]{0,40}(?:too (?:big|large)|exceed)"
        "|too (?:big|large)\\b|(?:line|header|message) (?:is )?too long|(?:message|size"
        "|line|length|header) (?:size |length )?limit|exceed\\w* (?:\\w+ ){0,3}size"},
    {"content", BOUNCE_SENDER, BOUNCE_FAULT_MESSAGE, ALWAYS, NULL, 0, 0,
        "virus|malware|infected|trojan|\\bworm\\b|content (?:reject|filter|not|error"
        "|den)|(?:message|mail) "
        "(?:content|headers?|body|text|format)|attachment|header "
        "(?:error|syntax|field)|duplicate header|bare [cl][rf]|rfc ?-?(?:2?822|5322)"
        "|charset|character set|mime\\b|message (?:was |has been |is |not )*(?:refused"
        "|reject|allowed|denied|discarded|accepted)|mail (?:was )?reject"},

    /* The address, unless the host says that this is for now. */
    {"temporary", BOUNCE_TEMPORARY, 0, ALWAYS, NULL, 0, 0,
        "temporar(?:y|ily)|\\btempfail|verification (?:in progress|failed)|name "
        "?-?server"
        "|host not found,? try again|lookup (?:fail|error|time)|servfail|resolution"
        "|dns (?:error|failure|timeout|problem)(?!.*(?:nxdomain|noerror))"
        "|momentanement|vorubergehend"},
    {"moved", BOUNCE_DEAD, 0, RECIPIENT, NULL, 0, 0,
        "(?:has|have|is) (?:moved|left|relocated)|no longer "
        "(?:on|at|with|works?|employed"
        "|here|part of|associated)|changed (?:\\w+ )?(?:e-?mail )?address|user not "
        "local"
        "|new (?:e-?mail )?address|please (?:try|use) addr"},
    {"disabled", BOUNCE_DEAD, 0, LOCAL, NULL, 0, 0,
        WHO
        "\\b[^.]{0,40}?\\b(?:disabled|de-?activated|suspended|inactive|discontinued"
        "|closed|frozen|locked|blocked|terminated|cancel+ed|retired|deleted|removed"
        "|not (?:been )?activ|no longer|unused|abandoned|dormant|bloque|desactive"
        "|gesperrt|deaktiviert|заблокирован|отключен)"
        "|(?:disabled|de-?activated|suspended|inactive|closed|blocked|expired|frozen)"
        " (?:\\w+ )?" WHO "\\b|account (?:has )?expired|activation pending"},
    {"no-such-user", BOUNCE_DEAD, 0, LOCAL, NULL, 0, 0,
        "\\b(?:unknown|no such|unrecogni[sz]ed) (?:or (?:illegal|invalid) )?(?:(?:local"
        "|virtual|mail|e-?mail|recipient|target|destination|internet) )?(?:users?\\b"
        "|recipients?|mail ?box|address(?!.{0,9} "
        "error)|alias|person|account|local.?part)"
        "|\\b(?:users?|recipients?|mail "
        "?box|address(?:es)?|alias|account|local.?part)(?: "
        "\\(?<?addr>?\\)?)?:? " IS
        "(?:unknown|not found|not known|not listed|unrecognized)"
        "|no mail ?box here|user \\S+ \\S{0,40} ?(?:not found|not listed|unknown)"
        "|listed in (?:public |the |domino )*(?:name|directory|address book)"
        "|no (?:mail)?user by that name|未找到用户|用户不存在|帐号不存在|账号不存在"
        "|ユーザ.{0,60}(?:見つかりません|存在しません|ありません)|宛先不明"
        "|(?:destinatario|usuario|utente|utilisateur|destinataire|empfanger|benutzer"
        "|usuário|destinatário|gebruiker|uzytkownik) (?:\\S+ ){0,3}?(?:desconocido"
        "|sconosciuto|inconnue?|unbekannt|desconhecido|onbekend|nieznany|invalide"
        "|inexistente?|no existe|non esiste|nao existe|nexiste pas|existiert nicht)"
        "|no existe (?:ese|dicha|el) |nessuno con questo nome|adresse d.{0,30}invalide"
        "|(?:пользовател|получател|адресат|ящик)\\S* (?:\\S+ ){0,3}?не (?:найден|"
        "существует|известен)|нет такого пользователя"},
    {"no-such-address", BOUNCE_DEAD, 0, RECIPIENT, NULL, 0, 0,
        "\\b(?:unknown|no such|non-?existent|inexistent|not "
        "existing|invalid|illegal|bad"
        "|incorrect|wrong|undeliverable|obsolete|unavailable|unassigned|inactive) "
        "(?:or "
        "\\w+ )?(?:(?:local|virtual|mail|e-?mail|recipient|target|destination|envelope"
        "|rcpt|user|smtp|to) )*" WHO "\\b"
        "|\\b" WHO "\\b(?: (?:name|id|with|that|you|tried|trying|to|reach|are|contact|"
        "specified|given|for|in|your|this|the|<?addr>?:?|\\(?addr\\)?:?))*:? " IS
        "(?:unknown|invalid|undeliverable|unroutable|non-?existent|inexistent|incorrect"
        "|missing|wrong|" NOT " (?:longer )?(?:be )?" IS
        "(?:exist|found|known|valid|list"
        "|regist|recogni[sz]ed|present|active|local|here|hosted|ok\\b|accepted|deliver"
        "|configured|defined|available|current|permitted|receiv|in (?:my|our|the|this)"
        "|one of|our|a (?:valid|known|registered|local|current)))"
        "|\\b(?:doesnt|dont|does not|do not|not|nt) (?:have|a|an|one "
        "of|our|know|recogni[sz]e"
        "|any) (?:\\w+ ){0,3}?" WHO "\\b"
        "|\\bno (?:such |valid |matching )?(?:" WHO
        "|one|body|mail ?box available|mail ?drop)"
        "\\b(?: \\S+){0,6}? (?:name|here|found|available|address|exists?|bye|known)"
        "|not our customer|no valid recipients?|doesnt exist|does not exist|not "
        "exist\\b"
        "|badrcptto|validrcptto|recip(?:ient)?notfound|not (?:in|on|found in|present "
        "in|part"
        " of) (?:\\w+ )?(?:directory|system|server|database|host|domain|list)"
        "|missing home directory|(?:cant|cannot|not) accept user|activation|ofr_416"},
    {"mailbox-unavailable", BOUNCE_DEAD, 0, RECIPIENT, NULL, 550, 559,
        "(?:mail ?box|account|recipient|user|addr|address) (?:name )?(?:is |was )?(?:un"
        "available|not available|currently unavailable)"},
    {"recipient-rejected", BOUNCE_DEAD, 0, RECIPIENT, NULL, 0, 0,
        "(?:recipient address|address|recipient) (?:rejected|refused)[.:]?(?: access "
        "denied[.]?)?(?: addr| \\[?host\\]?| \\(in reply.*)*\\s*$"},
    {"no-such-domain", BOUNCE_DEAD, 0, LOCAL, NULL, 0, 0,
        "(?:no such|unknown|invalid|illegal|non-?existent|bad|unresolvable) "
        "(?:host(?:name)?"
        "|domain|destination host|mail ?host|mail domain)\\b"
        "|\\b(?:host|domain)s?(?: ?names?)?(?: \\(?host\\)?)?(?: or domain(?: "
        "name)?)?(?:/\\w+"
        "(?: name)?)? " IS
        "(?:not (?:be )?(?:found|exist|known|resolv)\\w*|unknown|doesnt "
        "exist|couldnt be found|nonexistent|unresolvable|lookup failed permanently)"
        "|nxdomain|couldnt find (?:any host named|an? (?:mail exchanger|mx))|null "
        "?mx|no "
        "(?:mx|smtp service|mail exchangers?)\\b|unrout(?:e)?able (?:mail "
        ")?(?:addr|domain)"
        "|(?:does not|doesnt|do not|not) (?:accept|receive|handle) (?:any "
        ")?(?:e-?)?mail\\b(?! "
        "from)|had no relevant answers|domaine? (?:inconnu|inexistant)|domain unbekannt"
        "|domain(?:s)? (?:is )?(?:expired|suspended|disabled)"},

    /* Before RCPT, nothing has been said about the recipient. */
    {"before-recipient", BOUNCE_TEMPORARY, 0, EARLY, NULL, 400, 499, NULL},
    {"before-recipient", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, EARLY, NULL, 0, 0, NULL},

    /* The network, and the host of the mailbox. */
    {"network", BOUNCE_TEMPORARY, 0, ALWAYS, NULL, 0, 0,
        "timed? ?-?out|connection (?:refused|reset|lost|dropped|closed|failed)|lost "
        "connection|no route|unreachable|unable to (?:connect|contact|reach|establish)"
        "|could ?nt (?:connect|establish|reach)|could not (?:connect|be "
        "reached|contact)"
        "|(?:wasnt|not) able to (?:establish|connect)|did not (?:accept|respond)|no "
        "answer"
        "|not respond|queue too long|retry time|message expired|too long in|have been "
        "failing|in the queue"},
    {"host", BOUNCE_TEMPORARY, 0, ALWAYS, NULL, 0, 0,
        "try (?:again|later)|(?:again|please try) later|service (?:is )?(?:unavailable"
        "|refuse|not available)|resources|internal (?:server )?error|system (?:error"
        "|failure|not accepting|problem)|overload|\\bbusy\\b|out of memory"
        "|plus tard|spater"},

    /* Enhanced codes; the text was of no use. */
    {"status-sender", BOUNCE_SENDER, BOUNCE_FAULT_DOMAIN, ALWAYS, "?.1.[78]", 0, 0,
        NULL},
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
    {"<?[\\w.+=%/!#$*-]+@[\\w.-]*[\\w]>?", "addr"},
    {"\\[?(?<![\\d.])\\d{1,3}(?:\\.\\d{1,3}){3}\\]?(?::\\d+)?", "ip"},
    {"\\[?\\b(?:[0-9a-f]{1,4}:+){3,}[0-9a-f]{0,4}\\]?", "ip"},
    {"(?<![\\w.-])(?!resolver\\.)[a-z0-9_-]+(?:\\.[a-z0-9_-]+)*\\.[a-z][a-z0-9-]+\\b",
        "host"},
    {"[àáâã]", "a"},
    {"[èéêë]", "e"},
    {"ü", "u"},
    {"ö", "o"},
    {"ä", "a"},
    {"\\d\\.\\d\\.\\d - (?:unknown address error|other mail system problem)", " "},
    {"\\s+", " "},
};

struct bounce_rules {
	GRegex *words[G_N_ELEMENTS(rows)];
	GRegex *replacements[G_N_ELEMENTS(replacements)];
};

static GRegex *
compile(const char *pattern)
{
	g_autoptr(GError) error = NULL;
	GRegex *regex = g_regex_new(pattern, G_REGEX_OPTIMIZE, 0, &error);

	if (!regex)
		g_assert_not_reached();
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
	g_free(rules);
}

static char *
normalize(const struct bounce_rules *rules, const char *text)
{
	g_autofree char *valid =
	    g_utf8_make_valid(text, (gssize)strnlen(text, TEXT_BYTES));
	char *plain = g_utf8_strdown(valid, -1);

	for (size_t i = 0; i < G_N_ELEMENTS(replacements); i++) {
		char *next = g_regex_replace_literal(
		    rules->replacements[i], plain, -1, 0, replacements[i][1], 0, NULL);

		if (!next) /* a limit of the matcher */
			continue;
		g_free(plain);
		plain = next;
	}
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
is_about_recipient(const struct bounce_refusal *refusal, const char *status)
{
	if (is_early(refusal))
		return false;
	if (refusal->stage == SMTP_STAGE_RCPT)
		return true;
	if (fnmatch("?.1.[0-6]", status, 0) == 0 || strcmp(status, "5.1.10") == 0 ||
	    fnmatch("?.2.[01]", status, 0) == 0 || strcmp(status, "5.5.0") == 0)
		return true;
	if (refusal->stage != SMTP_STAGE_NONE)
		return false;
	/* "5.3.0 ... 550 Unknown user": the agent reports another failure. */
	return refusal->code != 0 && !(*status && strchr("346", status[2]));
}

static bool
may_apply(enum when when, const struct bounce_refusal *refusal, bool is_about)
{
	switch (when) {
	case RECIPIENT:
		return is_about;
	case LOCAL:
		return is_about ||
		       (refusal->stage == SMTP_STAGE_NONE && refusal->code == 0);
	case EARLY:
		return is_early(refusal);
	case ALWAYS:
		break;
	}
	return true;
}

static bool
row_matches(const struct row *row, const GRegex *words,
    const struct bounce_refusal *refusal, const char *status, const char *plain)
{
	if (row->to && (refusal->code < row->from || refusal->code > row->to))
		return false;
	if (row->status && fnmatch(row->status, status, 0) != 0)
		return false;
	return !words || g_regex_match(words, plain, 0, NULL);
}

struct bounce_verdict
bounce_classify(const struct bounce_rules *rules, const struct bounce_refusal *refusal)
{
	const char *status = refusal->status ? refusal->status : "";
	const bool is_about = is_about_recipient(refusal, status);
	g_autofree char *plain = normalize(rules, refusal->text ? refusal->text : "");

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (may_apply(rows[i].when, refusal, is_about) &&
		    row_matches(&rows[i], rules->words[i], refusal, status, plain))
			return (struct bounce_verdict){
			    rows[i].class, rows[i].fault, rows[i].name};
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

bool
bounce_class_parse(const char *name, enum bounce_class *class)
{
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (strcmp(names[i], name) == 0) {
			*class = i;
			return true;
		}
	return false;
}
