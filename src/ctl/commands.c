/*
 * commands.c - the table of paperboyctl's commands, with their help.
 */
#include "ctl/ctl.h"

/* ---- help texts: the options of a command ---- */

static const char add_details[] =
    "The first digest is sent at once, with papers of the last three days.\n\n"
    "  --consent TEXT     how the person agreed, in words; stored as evidence\n"
    "  --filter QUERY     a filter; may be repeated\n"
    "  --name NAME        the person's name, for the To field\n"
    "  --zone ZONE        time zone, such as Europe/Berlin\n"
    "  --at HH:MM         local time of the digest\n"
    "  --cadence CADENCE  now (hourly), daily, weekdays, weekly or weekly:mon,thu\n"
    "  --max N            papers with abstract in one digest, 1 to 200";

static const char set_details[] =
    "Other settings are unchanged. The next digest is due by the new schedule.\n\n"
    "  --zone ZONE        time zone, such as Europe/Berlin\n"
    "  --at HH:MM         local time of the digest\n"
    "  --cadence CADENCE  now (hourly), daily, weekdays, weekly or weekly:mon,thu\n"
    "  --max N            papers with abstract in one digest, 1 to 200\n"
    "  --name NAME        the person's name; '' removes it\n"
    "  --language LANG    of digests and replies: en, de, fr, zh; '' is the default\n"
    "  --order WORD       score, votes or date\n"
    "  --group WORD       papers grouped by filter: off or on\n"
    "  --abstract WORD    brief, short, full or none\n"
    "  --format WORD      both, text or html\n"
    "  --quiet WORD       on a day without papers: off (no mail) or note (one line)\n"
    "  --updates WORD     replaced papers: off or on\n"
    "  --crosslist WORD   cross-listed papers: on or off\n"
    "  --attach WORD      a file of the papers: none, bibtex, ris or markdown\n"
    "  --feedback WORD    links for like and hide with each paper: off or on\n"
    "  --checkup WORD     a monthly report on the filters: on or off\n"
    "  --versions WORD    of a preprint and its article: one or all\n"
    "  --retractions WORD of watched papers: digest, or mail for one at once";

static const char pause_details[] =
    "Filters continue to match. Queued mail is cancelled. After the pause, one\n"
    "digest has the papers missed, of at most 30 days.\n\n"
    "  --until DAY  resume on that day: 2026-12-01, friday, 14d or '2 weeks' from\n"
    "               today; without it, until 'subscriber resume'";

static const char resume_details[] =
    "  --catch-up N  papers with abstract in the digest of the pause, 1 to 200; the\n"
    "                others are listed by title; default: as in any digest";

static const char known_details[] =
    "They are never sent to the subscriber, also if no source has listed them yet;\n"
    "those that are here count like papers that the subscriber likes. FILE is BibTeX\n"
    "or RIS, as Zotero, JabRef, EndNote and Mendeley write it: at most 1 MB, and\n"
    "5,000 entries.";

static const char remove_details[] =
    "Removes the filters and cancels queued mail. The address is kept, so that the\n"
    "person can come back and the log stays readable; 'forget' erases it, too.\n\n"
    "  --yes  do not ask";

static const char erase_details[] =
    "Erases all data about the person, from the files too, which takes as long as\n"
    "copying the store. A message being sent will arrive. Backups, the relay's log\n"
    "and delivered mail are not affected.\n\n"
    "  --never-again  keep a hash of the address, so that it cannot be added again\n"
    "  --yes          do not ask";

static const char import_details[] =
    "FILE is CSV; - is standard input. The first line names the columns: address,\n"
    "name, state, cadence, weekdays, at, zone, max, paused_until, order, abstract,\n"
    "format, quiet, updates, crosslist, attach, group, feedback, checkup, versions,\n"
    "retractions, language, catch_up, consent_at, consent_text, created_at, filters; "
    "only address\n"
    "is required. Columns that are not known are ignored. Exports of other programs\n"
    "can be used as they are: listmonk's CSV, and lists of Mailman, Sympa and others\n"
    "with an address on each line. All errors are reported at once, and then nothing\n"
    "is stored. First digests are sent at each subscriber's usual time.\n\n"
    "  --consent TEXT  consent of the people without one in their line\n"
    "  --dry-run       report, but do not store anything\n"
    "  --skip-bad      skip invalid lines and store the others\n"
    "  --take-back     also add people who had left\n"
    "  --first         send a first digest at once, with papers of three days";

static const char export_details[] =
    "Writes CSV for import; - is standard output. Cells that a spreadsheet would\n"
    "evaluate get an apostrophe, which import removes.\n\n"
    "  --filters  with filters: NUMBER, tab, NAME, tab, QUERY, one per line\n"
    "  --state S  only active, paused, suspended or pending subscribers\n"
    "  --yes      replace an existing file without asking";

static const char suppress_details[] =
    "Only a hash of the address is stored. A subscriber with it is removed.\n\n"
    "  --reason WORD  operator, never-again, complaint or dead; after the last two\n"
    "                 the person can subscribe again by a confirmed request\n"
    "  --yes          do not ask";

static const char yes_details[] = "  --yes  do not ask";

static const char query_details[] =
    "QUERY is in single quotes for the shell, and follows -- if it starts with a\n"
    "minus sign:\n"
    "  diffusion model              both words, in title or abstract\n"
    "  \"diffusion model\"            the phrase\n"
    "  quantiz*  =RAG  c++          a prefix; exact characters; symbols\n"
    "  a OR b  (a OR b) -survey     either; either, without surveys\n"
    "  reward NEAR/5 hacking        at most five words between\n"
    "  speech^3 synthesis           speech has three times the weight in the order\n"
    "  title: abstract:             only there; also before a group (...)\n"
    "  author:\"Y. LeCun\"  first:    an author; the first author\n"
    "  cs.CL  cat:cs  primary:      arXiv categories\n"
    "  org: kw: comment: journal: mesh:  words of these fields\n"
    "  doi: pmid: id: source: has: type:  values, as in has:code and type:new\n"
    "  upvotes:>=20 authors:<=3     numbers; also comments: and stars:\n"
    "  date:7d..  date:2026-07      the day of the listing\n"
    "Values not known yet (votes, categories, code) are waited for. The full\n"
    "language: paperboy-filters(7).\n\n"
    "  --name NAME  name of the filter, shown in digests\n"
    "  --max N      papers with abstract from this filter in one digest, 1 to 200\n"
    "  --note TEXT  a comment, shown in the list of filters\n"
    "  --block      remove its matches from the other filters' papers";

static const char test_details[] =
    "With --address, matches are compared with the subscriber's other filters, and\n"
    "NUMBER is one of them.\n\n"
    "  --address ADDRESS  the subscriber\n"
    "  --days N           days to look back; default 30, maximum 365";

static const char log_details[] =
    "The newest entries, oldest first.\n\n"
    "  --address ADDRESS  entries about one subscriber, also a removed one\n"
    "  --since TIME       2026-11-20 or 2026-11-20T18:00:00Z\n"
    "  --limit N          number of entries; default 50";

static const char receive_details[] =
    "For mail servers that run a program for each message. Exits with status 75\n"
    "when paperboyd is not running or cannot store it now: the mail server retries.\n\n"
    "  --recipient ADDRESS  envelope recipient; default mail.from\n"
    "  --sender ADDRESS     envelope sender, '' for a bounce; default from the "
    "header\n"
    "  --socket PATH        LMTP socket; default receive.lmtp_socket";

static const char bounce_details[] =
    "Reads messages as received, from files or standard input, and prints one JSON\n"
    "object per line: kind, class, status, code, recipients, agent, and the rule and\n"
    "the line of text that decided. Nothing is changed; no configuration is needed.";

static const char rotate_details[] =
    "New mail has tokens of the new key. The old key is kept for mail already sent\n"
    "and for suppressed addresses.\n\n"
    "  --lost  the old key is not available; its tokens become invalid\n"
    "  --yes   do not ask";

static const char setup_details[] =
    "Each answer is tried at once: mail hosts, login, time zone, sources. Writes the\n"
    "configuration (see -c) and beside it the file password, or client-secret, and\n"
    "sends a test mail. For providers with OAuth 2 it logs in, as paperboyctl login.\n"
    "A configuration with changes is only replaced after asking; the old one is kept\n"
    "as paperboy.conf.old.\n\n"
    "  --answers FILE    answers instead of questions, as lines NAME: ANSWER; names:\n"
    "                    owner, mailbox, servers, user, login, password_file (its\n"
    "                    path), tenant, client_id, client_secret_file,\n"
    "                    refresh_token_file, subscribers, time, sciences,\n"
    "                    categories\n"
    "  --set NAME=VALUE  another setting, or sources.NAME.OPTION; may be repeated\n"
    "  --yes             replace files without asking";

static const char login_details[] =
    "Without imap, smtp or both: for those with login = \"oauth\". Tokens are kept in\n"
    "the state directory; a running paperboyd uses them at once.\n\n"
    "  --device               with a browser on any machine, which takes a code; the\n"
    "                         default for providers that have it\n"
    "  --browser              with a browser that returns to this program\n"
    "  --refresh-token FILE   use a refresh token from another program; - is standard\n"
    "                         input\n"
    "  --client-credentials   log in as the client itself, without a user";

static const char check_details[] =
    "Connects to everything, and sends a mail to itself through the relay. DNS\n"
    "records (SPF, DKIM, DMARC) are not checked. Exits with status 65 if a check\n"
    "fails.\n\n"
    "  --wait SECONDS  for that mail to come back, default 20; 0: send none";

/* ---- commands ---- */

const struct ctl_command ctl_commands[] = {
    {"subscriber", "add", "ADDRESS --consent TEXT [--filter QUERY]...",
        "add a subscriber who has given consent", add_details, 1, 1,
        "filter consent name zone at cadence max", ctl_run_subscriber_add},
    {"subscriber", "list", "", "list subscribers", NULL, 0, 0, "",
        ctl_run_subscriber_list},
    {"subscriber", "show", "ADDRESS",
        "show a subscriber with filters, schedule and consent", NULL, 1, 1, "",
        ctl_run_subscriber_show},
    {"subscriber", "set", "ADDRESS [OPTION]...",
        "change a subscriber's schedule, name or preferences", set_details, 1, 1,
        "name zone at cadence max language order abstract format quiet updates "
        "crosslist attach group feedback checkup versions retractions",
        ctl_run_subscriber_set},
    {"subscriber", "pause", "ADDRESS [--until DAY]", "stop mail for a while",
        pause_details, 1, 1, "until", ctl_run_subscriber_pause},
    {"subscriber", "resume", "ADDRESS [--catch-up N]",
        "end a pause, with one digest of the papers missed", resume_details, 1, 1,
        "catch-up", ctl_run_subscriber_resume},
    {"subscriber", "known", "ADDRESS FILE|-",
        "mark the works in a .bib or .ris file as known", known_details, 2, 2, "",
        ctl_run_subscriber_known},
    {"subscriber", "remove", "ADDRESS [--yes]", "remove a subscriber", remove_details,
        1, 1, "yes", ctl_run_subscriber_remove},
    {"subscriber", "forget", "ADDRESS [--never-again] [--yes]",
        "erase all data about a person", erase_details, 1, 1, "yes never-again",
        ctl_run_subscriber_forget},
    {"subscriber", "import", "FILE|- [OPTION]...", "add subscribers from a CSV file",
        import_details, 1, 1, "consent dry-run skip-bad take-back first",
        ctl_run_subscriber_import},
    {"subscriber", "export", "[FILE|-] [--filters] [--state S] [--yes]",
        "write all subscribers as CSV, or those in a state", export_details, 0, 1,
        "filters state yes", ctl_run_subscriber_export},
    {"invite", NULL, "ADDRESS...", "mail invitations to subscribe",
        "Who replies yes within 14 days is subscribed, whatever subscribe.policy "
        "says.\n"
        "A subscriber, or an address that gets no mail, is not invited: exit status 1.",
        1, -1, "", ctl_run_invite},
    {"filter", "add", "ADDRESS QUERY [OPTION]...",
        "add a filter, or a block, to a subscriber", query_details, 2, 2,
        "name max note block", ctl_run_filter_add},
    {"filter", "list", "ADDRESS", "list a subscriber's filters", NULL, 1, 1, "",
        ctl_run_filter_list},
    {"filter", "edit", "ADDRESS NUMBER QUERY", "change a filter's query",
        "Keeps its number, its name and papers found but not sent yet.", 3, 3, "",
        ctl_run_filter_edit},
    {"filter", "move", "ADDRESS NUMBER NEWNUMBER", "change a filter's number",
        "If the number is taken, the filters in between move by one.", 3, 3, "",
        ctl_run_filter_move},
    {"filter", "rename", "ADDRESS NUMBER NAME", "change a filter's name",
        "The name '' removes it.", 3, 3, "", ctl_run_filter_rename},
    {"filter", "test", "QUERY|NUMBER [--address ADDRESS] [--days N]",
        "show the papers a filter would have matched; nothing is stored", test_details,
        1, 1, "address days", ctl_run_filter_test},
    {"filter", "suggest", "QUERY|NUMBER [--address ADDRESS]",
        "suggest words that find more papers like those of a filter",
        "NUMBER is a filter of the subscriber with --address.  Nothing is stored.", 1,
        1, "address", ctl_run_filter_suggest},
    {"filter", "explain", "QUERY [PAPER-ID]",
        "show the meaning of a filter, and how its clauses match a paper", NULL, 1, 2,
        "", ctl_run_filter_explain},
    {"filter", "remove", "ADDRESS NUMBER [--yes]", "remove a filter", yes_details, 2, 2,
        "yes", ctl_run_filter_remove},
    {"share", "list", "", "list the filters that are shared under a name",
        "Who follows them is not shown.", 0, 0, "", ctl_run_share_list},
    {"share", "remove", "NAME [--yes]", "end the sharing of a filter",
        "Its owner and its followers keep their filters.", 1, 1, "yes",
        ctl_run_share_remove},
    {"search", NULL, "QUERY [--limit N] [--since DAY]",
        "search the archive of all papers, best matches first",
        "20 papers unless --limit is given; DAY as in 2026-11-01.", 1, 1, "limit since",
        ctl_run_search},
    {"why", NULL, "ADDRESS PAPER-ID|TITLE",
        "explain why a paper is, or is not, in a subscriber's digest",
        "PAPER-ID is the arXiv number, such as 2611.10010; TITLE some words of the "
        "title\n"
        "that follow each other.",
        2, 2, "", ctl_run_why},
    {"work", "show", "PAPER-ID",
        "list the records of a paper: its preprint, its article", NULL, 1, 1, "",
        ctl_run_work_show},
    {"work", "join", "PAPER-ID PAPER-ID",
        "make two papers records of one, which is sent once", NULL, 2, 2, "",
        ctl_run_work_join},
    {"work", "split", "PAPER-ID",
        "make a record a paper of its own; what was sent is not sent again", NULL, 1, 1,
        "", ctl_run_work_split},
    {"suppression", "list", "", "list suppressed addresses",
        "Only hashes are stored, so addresses cannot be shown.", 0, 0, "",
        ctl_run_suppression_list},
    {"suppression", "add", "ADDRESS [--reason WORD] [--yes]",
        "never send mail to an address", suppress_details, 1, 1, "reason yes",
        ctl_run_suppression_add},
    {"suppression", "import", "FILE|- [--reason WORD] [--yes]",
        "never send mail to the addresses in a file",
        "FILE is as for subscriber import. If it has a column status or state, only\n"
        "the rows that it marks as blocked or unsubscribed are taken.",
        1, 1, "reason yes", ctl_run_suppression_import},
    {"suppression", "remove", "ADDRESS [--yes]", "allow mail to an address again",
        yes_details, 1, 1, "yes", ctl_run_suppression_remove},
    {"key", "rotate", "[--lost] [--yes]",
        "create a new secret key; stop paperboyd first", rotate_details, 0, 0,
        "lost yes", ctl_run_key_rotate},
    {"key", "restore", "FILE",
        "restore only the key from a backup; stop paperboyd first",
        "For a damaged or lost key file. The store is not changed.", 1, 1, "",
        ctl_run_key_restore},
    {"confirmation", "list", "", "list pending confirmations",
        "Requests that await a reply or can still be undone. Tokens are not stored.", 0,
        0, "", ctl_run_confirmation_list},
    {"config", NULL, "[NAME]", "show all settings, or one", NULL, 0, 1, "",
        ctl_run_config},
    {"log", NULL, "[--address ADDRESS] [--since TIME] [--limit N]",
        "show the audit log: who changed what, and when", log_details, 0, 0,
        "address since limit", ctl_run_log},
    {"preview", NULL, "ADDRESS [--html|--raw] [--templates DIR]",
        "show the digest a subscriber would get now; nothing is sent or stored",
        "  --templates DIR  with the templates in this directory", 1, 1,
        "html raw templates", ctl_run_preview},
    {"source", "list", "", "list sources: state, last fetch, next fetch, pauses", NULL,
        0, 0, "", ctl_run_source_list},
    {"source", "fetch", "[NAME]", "fetch the last two weeks from the sources now",
        "Also while the daemon runs. Exits with status 75 when a source fails.", 0, 1,
        "", ctl_run_source_fetch},
    {"source", "replay", "NAME DAY [--from FILE]",
        "fetch a past day again, or read it from a file",
        "New papers go into the next digests if the day is at most 30 days ago.\n"
        "Papers already sent are not sent again.",
        2, 2, "from", ctl_run_source_replay},
    {"source", "rename", "OLD NEW",
        "change the name of a source, also in filters and stored listings",
        "Change the name in paperboy.conf first, and reload paperboyd afterwards.", 2,
        2, "", ctl_run_source_rename},
    {"source", "try", "KIND [NAME=VALUE]... [--day DAY]",
        "fetch a day from a source that is not set up, and show what it gives",
        "Nothing is stored. NAME is an option of the kind (paperboy.conf(5), "
        "SOURCES),\n"
        "as in 'source try arxiv categories=cs.CL,cs.LG'. Without --day it is the "
        "list\n"
        "of now, or of yesterday. Prints the group for paperboy.conf, too.",
        1, -1, "day", ctl_run_source_try},
    {"digest", "list", "[--address A] [--limit N]", "list digests, newest first", NULL,
        0, 0, "address limit", ctl_run_digest_list},
    {"digest", "show", "NUMBER|last [--html|--raw]", "show a digest as it was sent",
        "--raw prints the bytes that were or will be sent, with a note if they differ\n"
        "because templates, settings or a paper have changed.",
        1, 1, "html raw", ctl_run_digest_show},
    {"queue", "list", "[--all] [--state S] [--address A]",
        "list queued messages, or all of the last two weeks",
        "States: NEW SENDING DEFERRED UNKNOWN HELD, and with --all or --state\n"
        "SENT FAILED CANCELLED.",
        0, 0, "all state address", ctl_run_queue_list},
    {"queue", "show", "ID", "show all details of a message", NULL, 1, 1, "",
        ctl_run_queue_show},
    {"queue", "retry", "ID...|all", "retry messages, and the relay, now",
        "HELD messages only by ID. One in state UNKNOWN may have arrived: it is sent\n"
        "again with the same Message-ID and bytes.",
        1, -1, "", ctl_run_queue_retry},
    {"queue", "hold", "ID...|all", "hold messages until they are released", NULL, 1, -1,
        "", ctl_run_queue_hold},
    {"queue", "release", "ID...|all [--yes]", "send HELD messages",
        "A message whose papers are all older than 30 days is cancelled instead. With\n"
        "all, this machine sends again after another one had a newer store.",
        1, -1, "yes", ctl_run_queue_release},
    {"queue", "drop", "ID...|all [--state S] [--delivered] [--yes]", "cancel messages",
        "Their papers go into the next digest. With --delivered they count as read, "
        "as\n"
        "do those of a message that may have arrived (UNKNOWN).",
        1, -1, "delivered state yes", ctl_run_queue_drop},
    {"queue", NULL, "[--all] [--state S] [--address A]", "same as queue list", NULL, 0,
        0, "all state address", ctl_run_queue_list},
    {"delivery", "pause", "", "stop all digests until delivery resume",
        "None is built or sent. Replies to commands, confirmations and alerts are\n"
        "sent, and papers are collected. The owner is alerted after a day.",
        0, 0, "", ctl_run_delivery_pause},
    {"delivery", "resume", "", "build and send digests again",
        "Whoever has missed some gets one digest of their papers.", 0, 0, "",
        ctl_run_delivery_resume},
    {"inbox", "list", "[--state S]", "list received mail, new or quarantined",
        "States: new quarantined, and with --state done.", 0, 0, "state",
        ctl_run_inbox_list},
    {"inbox", "show", "ID [--raw]", "show details of a received message, or its bytes",
        NULL, 1, 1, "raw", ctl_run_inbox_show},
    {"inbox", "retry", "ID...|all", "process received mail again",
        "all means all quarantined messages.", 1, -1, "", ctl_run_inbox_retry},
    {"inbox", "drop", "ID...|all [--yes]", "delete received mail without processing it",
        "all means all quarantined messages. A hash is kept, so that further copies "
        "are\n"
        "ignored.",
        1, -1, "yes", ctl_run_inbox_drop},
    {"inbox", "try", "FILE", "show what a mail would be understood to ask for",
        "For those who write phrases (etc/phrases). Filters and papers that it names "
        "are\n"
        "not looked up, and nothing is stored. FILE is a whole mail, - the standard "
        "input.",
        1, 1, "", ctl_run_inbox_try},
    {"bounce", "list", "", "list subscribers to whom mail was returned, by class",
        "Rows are kept for 60 days.", 0, 0, "", ctl_run_bounce_list},
    {"bounce", "show", "ADDRESS",
        "show the mail returned from an address, and what happens next",
        "COUNTS is no for mail that does not count against the address: refused for "
        "our\n"
        "own faults, older than 45 days, or forgotten.",
        1, 1, "", ctl_run_bounce_show},
    {"bounce", "forget", "ADDRESS",
        "clear what counts against an address, and restore a suspended subscriber",
        "The rows stay in bounce show.", 1, 1, "", ctl_run_bounce_forget},
    {"bounce", "explain", "[FILE...]", "classify bounces and complaints",
        bounce_details, 0, -1, "", ctl_run_bounce_explain},
    {"receive", NULL, "[--recipient ADDRESS] [--sender ADDRESS] [--socket PATH]",
        "deliver the message on standard input to paperboyd", receive_details, 0, 0,
        "recipient sender socket", ctl_run_receive},
    {"backup", NULL, "FILE [--yes|--verify]",
        "write the store and the key to a file, while the daemon runs",
        "The file belongs to the owner of the state directory, has mode 0600 and\n"
        "contains the secret key. --yes replaces an existing file. --verify writes\n"
        "nothing: FILE is restored into a directory beside it, and examined as doctor\n"
        "examines the store.",
        1, 1, "yes verify", ctl_run_backup},
    {"upgrade", NULL, "--dry-run FILE",
        "try with a copy of a backup how this version upgrades the store",
        "Shows what changes, how long it takes, and how to go back. The store in use "
        "is\n"
        "not touched: paperboyd upgrades it when it starts.",
        1, 1, "dry-run", ctl_run_upgrade},
    {"restore", NULL, "FILE [--yes]",
        "replace the store by a backup; stop paperboyd first",
        "The current store is kept in a directory beside it. Mail that may have been\n"
        "sent since the backup is HELD.",
        1, 1, "yes", ctl_run_restore},
    {"generation", NULL, "[NUMBER|FILE] [--newest]",
        "print how new the store is, and compare it with a copy",
        "NUMBER is printed by this command on another machine with a copy of the "
        "store,\n"
        "FILE is a backup from there. If that is newer, this machine sends nothing "
        "until\n"
        "'queue release all'.\n\n"
        "  --newest  this machine has the newest copy: the others are to send nothing",
        0, 1, "newest", ctl_run_generation},
    {"store", "copy", "FROM TO",
        "copy a store between SQLite and PostgreSQL; stop paperboyd first",
        "FROM and TO are paths (/var/lib/paperboy/paperboy.db) or URLs\n"
        "(postgresql://...); TO is new or empty. Counts and checksums of all tables\n"
        "are compared. The key is not copied.",
        2, 2, "", ctl_run_store_copy},
    {"doctor", NULL, "[--all]", "check for problems; nothing is changed",
        "--all lists also what is ok. Exits with status 65 if there is damage, and "
        "with\n"
        "1 for other problems.",
        0, 0, "all", ctl_run_doctor},
    {"login", NULL, "[imap|smtp|both] [OPTION]...", "log in to the mailbox by OAuth 2",
        login_details, 0, 1, "device browser refresh-token client-credentials",
        ctl_run_login},
    {"setup", NULL, "[OPTION]...", "write a configuration by five questions",
        setup_details, 0, 0, "answers set yes", ctl_run_setup},
    {"provider", "list", "", "list mailbox providers: servers, login, limits",
        "A fact that could not be confirmed is \"-\"; JSON has the sources, too.", 0, 0,
        "", ctl_run_provider_list},
    {"check", NULL, "", "test sources, relay, receivers and a mail to itself",
        check_details, 0, 0, "wait", ctl_run_check},
    {"status", NULL, "", "show the state of the service, and what needs attention",
        "Exits with 1 for warnings, and 2 if paperboyd is not running or fails; the\n"
        "first line is a summary, as monitors want it.",
        0, 0, "", ctl_run_status},
    {"metrics", NULL, "", "print metrics for Prometheus",
        "Without a running paperboyd: those of the store, and paperboy_up 0.", 0, 0, "",
        ctl_run_metrics},
    {"reload", NULL, "", "reload configuration and templates of the daemon",
        "A configuration with errors is rejected; the daemon keeps the old one.", 0, 0,
        "", ctl_run_reload},
    {0},
};
