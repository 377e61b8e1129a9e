/*
 * setting_rows.h - the rows of the table of settings, in the order of printing.
 *
 * To be included with macros for the types.  Each row has the member of struct
 * settings, the name with its group, and the default; a text its minimum length, of
 * which 1 without a default means that it must be set, a number its minimum and
 * maximum, a choice its names; then the help, and other members of struct setting.
 */
TEXT(state_dir, "state_dir", PAPERBOY_STATEDIR, 1,
    "directory of the store and the key; accessible to its owner only",
    .needs_restart = true)
TEXT(
    template_dir, "template_dir", PAPERBOY_TEMPLATEDIR, 1, "directory of the templates")
TEXT(po_dir, "po_dir", PAPERBOY_SYSCONFDIR "/po", 1,
    "directory of translations that replace those of the program")
TEXT(log_level, "log_level", "info", 1, "error, warning, info or debug",
    .choices = log_levels)
SOURCES(sources, "sources", "list of the sources of papers, a group each: see SOURCES")
TEXT(store_url, "store.url", "", 0,
    "PostgreSQL database of several machines; empty: a file in state_dir",
    .needs_restart = true)
TEXT(store_password_file, "store.password_file", "", 0,
    "file with the password, as smtp.password_file; empty: none", .needs_restart = true)
TEXT(mail_from, "mail.from", "", 1, "From address of digests")
TEXT(mail_from_name, "mail.from_name", "paperboy", 0, "From name of digests")
TEXT(mail_owner, "mail.owner", "", 1, "address of the operator")
BOOL(mail_alerts, "mail.alerts", true, "mail alerts to mail.owner")
BOOL(
    mail_owner_report, "mail.owner_report", false, "mail a weekly report to mail.owner")
TEXT(mail_envelope_from, "mail.envelope_from", "", 0,
    "envelope sender, for bounces; empty: mail.from")
TEXT(mail_domain, "mail.domain", "", 0,
    "domain of Message-IDs; empty: domain of mail.from")
TEXT(mail_list_id, "mail.list_id", "", 0, "List-Id; empty: digest.DOMAIN")
TEXT(alerts_url, "alerts.url", "", 0, "URL to which alerts are posted; empty: none")
TEXT(alerts_template, "alerts.template", "", 0,
    "file that makes the body; empty: alert.json in template_dir")
TEXT(alerts_secret_file, "alerts.secret_file", "", 0,
    "file with the key of X-Hub-Signature, as smtp.password_file; empty: none")
TEXT(alerts_ping_url, "alerts.ping_url", "", 0,
    "URL requested every two minutes while there is no alert; empty: none")
INT(alerts_backup_days, "alerts.backup_days", 8, 0, 3650,
    "days after which the last backup is reported as old; 0: never")
TEXT(commands_address, "commands.address", "", 0,
    "address for commands by mail; empty: none")
TEXT(commands_delimiter, "commands.delimiter", "+", 0,
    "subaddress delimiter of the mail server (RFC 5233); empty: it has none")
TEXT(commands_authserv_id, "commands.authserv_id", "", 0,
    "trusted authserv-id of Authentication-Results; empty: none")
TEXT(web_url, "web.url", "", 0,
    "base of links, \"https://papers.example.org\"; empty: no page")
TEXT(web_listen, "web.listen", "127.0.0.1:8080", 1,
    "ADDRESS:PORT or path of a socket of paperboy-web, without socket activation")
TEXT(web_socket, "web.socket", "/run/paperboy-web/daemon", 1,
    "Unix socket on which paperboyd serves paperboy-web")
TEXT(web_trusted_proxy, "web.trusted_proxy", "127.0.0.0/8 ::1", 0,
    "addresses and networks of web servers whose X-Forwarded-For names the client")
TEXT(web_ca_file, "web.ca_file", "", 0,
    "certificates of authorities that check trusts; empty: the system's")
BOOL(web_search, "web.search", false, "anybody may search the archive")
TEXT(web_privacy_url, "web.privacy_url", "", 0,
    "page that says how data is processed; empty: none")
TEXT(web_imprint_url, "web.imprint_url", "", 0,
    "page that says who is responsible for the service; empty: none")
CHOICE(subscribe_policy, "subscribe.policy", SETTINGS_POLICY_OPEN, policy_choices,
    "who may subscribe: open, domains, approval (by mail.owner) or closed")
TEXT(subscribe_domains, "subscribe.domains", "", 0,
    "domains for the policy domains; \".example.org\" means its subdomains")
BOOL(subscribe_invite, "subscribe.invite", false, "subscribers may invite by mail")
INT(subscribe_max, "subscribe.max", 0, 0, 100000000,
    "maximum number of subscribers; 0: no limit")
INT(subscribe_filters, "subscribe.filters", BOUNDS_FILTERS_PERSON, 1,
    BOUNDS_FILTERS_PERSON, "maximum number of filters and blocks a person")
INT(subscribe_pending, "subscribe.pending", 20000, 1, 1000000,
    "maximum number of requests that await a reply")
INT(limit_confirm_interval_h, "limits.confirm_interval_h", 24, 1, 72,
    "hours between two confirmation requests to an unknown sender")
INT(limit_confirmations_per_month, "limits.confirmations_per_month", 3, 1, 100,
    "confirmation requests to an unknown sender in 30 days")
INT(limit_confirmations_per_hour, "limits.confirmations_per_hour", 60, 1, 100000,
    "the same to all, by mail, by mail that passed DMARC, and by the page each")
INT(limit_confirmations_per_domain_hour, "limits.confirmations_per_domain_hour", 30, 1,
    100000, "the same to one domain")
INT(limit_forms_per_network_hour, "limits.forms_per_network_hour", 10, 1, 100000,
    "forms to subscribe, from one /24 (IPv4) or /48 (IPv6) of clients")
INT(limit_unknown_sender_per_day, "limits.unknown_sender_per_day", 3, 0, 100,
    "other replies to an unknown sender")
INT(limit_replies_per_day, "limits.replies_per_day", 10, 1, 1000,
    "replies to a subscriber; as many again if authenticated")
INT(limit_owner_mail_per_day, "limits.owner_mail_per_day", 50, 0, 10000,
    "messages forwarded to mail.owner")
TEXT(digest_zone, "digest.zone", "UTC", 1, "time zone of a new subscriber")
TEXT(digest_at, "digest.at", "07:30", 1, "local time of a new subscriber's digest")
INT(digest_max, "digest.max", 20, 1, 200,
    "papers with abstract in a new subscriber's digest")
INT(collect_interval_s, "collect.interval_s", 1800, 60, 86400,
    "seconds between two fetches from the sources")
TEXT(collect_contact, "collect.contact", "", 0,
    "contact in the User-Agent; empty: mail.owner")
INT(collect_timeout_s, "collect.timeout_s", BOUNDS_HTTP_TIME_S, 1, BOUNDS_HTTP_TIME_S,
    "seconds after which a request to a source fails")
INT(collect_wait_min, "collect.wait_min", 60, 0, 720,
    "minutes that digests wait for a late list")
BOOL(enrich_arxiv, "enrich.arxiv", true,
    "look up missing categories, comment, journal and DOI of arXiv papers")
TEXT(enrich_arxiv_url, "enrich.arxiv_url", "https://export.arxiv.org", 1,
    "arXiv's API, or a mirror")
INT(enrich_arxiv_interval_s, "enrich.arxiv_interval_s", 3, 0, 600,
    "seconds between requests; arXiv's terms require at least 3")
BOOL(enrich_europepmc, "enrich.europepmc", true,
    "look up missing PMID, headings, journal and abstract by DOI at Europe PMC")
TEXT(enrich_europepmc_url, "enrich.europepmc_url",
    "https://www.ebi.ac.uk/europepmc/webservices/rest", 1, "Europe PMC, or a mirror")
INT(enrich_europepmc_interval_s, "enrich.europepmc_interval_s", 1, 0, 600,
    "seconds between requests")
BOOL(enrich_crossref, "enrich.crossref", true,
    "look up missing journal, abstract and names by DOI at Crossref")
TEXT(enrich_crossref_url, "enrich.crossref_url", "https://api.crossref.org", 1,
    "Crossref, or a mirror")
INT(enrich_crossref_interval_s, "enrich.crossref_interval_s", 1, 0, 600,
    "seconds between requests")
BOOL(enrich_huggingface, "enrich.huggingface", true,
    "ask Hugging Face daily about arXiv papers that somebody watches")
TEXT(enrich_huggingface_url, "enrich.huggingface_url", "https://huggingface.co", 1,
    "Hugging Face, or a mirror")
INT(enrich_huggingface_interval_s, "enrich.huggingface_interval_s", 1, 0, 600,
    "seconds between requests")
BOOL(enrich_private, "enrich.private", false,
    "the hosts of these services may have private addresses")
CHOICE(delivery, "delivery.method", SETTINGS_DELIVERY_SMTP, delivery_choices,
    "smtp, or maildir for a local Maildir")
TEXT(maildir, "delivery.maildir", "", 0, "the Maildir, for the method maildir")
INT(expire_h, "delivery.expire_h", 36, 1, 120,
    "hours after which an undeliverable digest fails")
INT(per_second, "delivery.per_second", 0, 0, 1000,
    "maximum messages per second; 0: no limit")
INT(per_hour, "delivery.per_hour", 0, 0, 1000000,
    "maximum messages per hour, evenly spread; 0: the provider's, if known")
INT(per_day, "delivery.per_day", 0, 0, 1000000,
    "maximum messages in 24 hours; 0: the provider's limit, if known")
INT(domain_per_hour, "delivery.domain_per_hour", 0, 0, 1000000,
    "maximum messages per hour to each recipient domain; 0: no limit")
CHOICE(smtp_protocol, "smtp.protocol", SETTINGS_PROTOCOL_SMTP, protocol_choices,
    "smtp; or lmtp to a host that delivers locally, without TLS and login")
TEXT(smtp_host, "smtp.host", "localhost", 1,
    "the relay; with lmtp also the path of a socket")
INT(smtp_port, "smtp.port", 25, 1, 65535, "its port")
CHOICE(smtp_tls, "smtp.tls", SETTINGS_TLS_AUTO, tls_choices,
    "auto (starttls, but off on loopback), off, starttls or implicit")
TEXT(smtp_ca_file, "smtp.ca_file", "", 0,
    "trusted CA certificates; empty: those of the system")
TEXT(smtp_user, "smtp.user", "", 0, "user name for login; empty: no login")
CHOICE(smtp_login, "smtp.login", SETTINGS_LOGIN_PASSWORD, login_choices,
    "password, or oauth (see the oauth group)")
TEXT(smtp_password_file, "smtp.password_file", "", 0,
    "file with the password, mode 0600; a bare name is a systemd credential")
TEXT(smtp_ehlo_name, "smtp.ehlo_name", "", 0, "host name in EHLO; empty: mail.domain")
INT(smtp_connections, "smtp.connections", 2, 1, 50,
    "maximum number of parallel connections")
INT(smtp_shutdown_timeout_s, "smtp.shutdown_timeout_s", 60, 1, 3600,
    "timeout for replies on shutdown; less than systemd's TimeoutStopSec")
TEXT(lmtp_socket, "receive.lmtp_socket", "", 0,
    "Unix socket for LMTP from the mail server")
TEXT(lmtp_group, "receive.lmtp_group", "", 0,
    "group that may connect; empty: only the daemon's user")
TEXT(lmtp_listen, "receive.lmtp_listen", "", 0,
    "loopback address and port for LMTP: 127.0.0.1:24")
TEXT(receive_maildir, "receive.maildir", "", 0,
    "Maildir into which the mail server delivers")
TEXT(imap_host, "receive.imap_host", "", 0, "IMAP server to poll")
INT(imap_port, "receive.imap_port", 993, 1, 65535, "its port")
CHOICE(imap_tls, "receive.imap_tls", SETTINGS_TLS_AUTO, tls_choices,
    "auto (993: implicit, 143: starttls, else detected), off, "
    "starttls or implicit")
TEXT(imap_ca_file, "receive.imap_ca_file", "", 0,
    "trusted CA certificates; empty: those of the system")
TEXT(imap_user, "receive.imap_user", "", 0, "user name for login")
CHOICE(imap_login, "receive.imap_login", SETTINGS_LOGIN_PASSWORD, login_choices,
    "password, or oauth (see the oauth group)")
TEXT(imap_password_file, "receive.imap_password_file", "", 0,
    "file with the password, mode 0600; a bare name is a systemd credential")
TEXT(imap_folder, "receive.imap_folder", "INBOX", 1, "folder to read")
TEXT(imap_move_to, "receive.imap_move_to", "", 0,
    "folder to move stored messages to; empty: only mark them")
BOOL(imap_expunge, "receive.imap_expunge", false,
    "expunge messages from the server once they are stored")
INT(imap_poll_s, "receive.imap_poll_s", 60, 10, 3600,
    "seconds between two polls of a server without IDLE")
TEXT(recipient_header, "receive.recipient_header", "", 0,
    "header with the envelope recipient, if not LMTP; only the topmost one counts")
INT(min_free_mb, "receive.min_free_mb", 100, 0, 1000000,
    "free disk space in MB below which mail is deferred")
TEXT(parser_program, "receive.parser", "", 0,
    "path of paperboy-parser; empty: the installed one")
TEXT(oauth_provider, "oauth.provider", "", 0,
    "gmail, google, microsoft, outlook, fastmail or yahoo; empty: by the URLs "
    "below")
TEXT(oauth_client_id, "oauth.client_id", "", 0,
    "client id, under which paperboy is registered with the provider")
TEXT(oauth_client_secret_file, "oauth.client_secret_file", "", 0,
    "file with the client secret, as for passwords; empty: none")
TEXT(oauth_tenant, "oauth.tenant", "", 0,
    "tenant of Microsoft Entra; empty: organizations, or consumers for outlook")
TEXT(oauth_token_url, "oauth.token_url", "", 0,
    "token endpoint, https; empty: the provider's")
TEXT(oauth_authorization_url, "oauth.authorization_url", "", 0,
    "page on which a browser logs in; empty: the provider's")
TEXT(oauth_device_url, "oauth.device_url", "", 0,
    "endpoint for device codes; empty: the provider's, if it has one")
TEXT(oauth_redirect_uri, "oauth.redirect_uri", "", 0,
    "registered redirect URI, such as http://localhost:8085/; empty: any port")
TEXT(oauth_scope, "oauth.scope", "", 0,
    "scopes, separated by blanks; empty: the provider's")
TEXT(oauth_ca_file, "oauth.ca_file", "", 0,
    "trusted CA certificates; empty: those of the system")
