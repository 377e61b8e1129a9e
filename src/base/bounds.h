/*
 * bounds.h - limits on all external input.
 *
 * Each limit is tested at its value and one past it.  Sizes are in bytes and
 * times in seconds (_S) unless a name says otherwise.
 */
#pragma once

/* Filters and the filter language. */
#define BOUNDS_QUERY_BYTES    512
#define BOUNDS_QUERY_TERMS    40
#define BOUNDS_QUERY_DEPTH    8
#define BOUNDS_PREFIX_CHARS   3
#define BOUNDS_NUMBER_DIGITS  9
#define BOUNDS_NEAR_WORDS     99
#define BOUNDS_BOOST          10
#define BOUNDS_DATE_BACK      999
#define BOUNDS_FILTERS_PERSON 64
#define BOUNDS_FILTER_NAME    40
#define BOUNDS_FILTER_NOTE    200
#define BOUNDS_CONSENT_BYTES  1000

/* Shared filters: length of a name, and number for each owner. */
#define BOUNDS_SHARE_NAME_MIN 3
#define BOUNDS_SHARE_NAME     40
#define BOUNDS_SHARES_PERSON  10

/* Canonical text of a filter, and explanation of a match. */
#define BOUNDS_QUERY_CANONICAL_BYTES 2048
#define BOUNDS_QUERY_EXPLAIN_CHARS   200

/* Acronym that a paper defines: "low-rank adaptation (LoRA)". */
#define BOUNDS_ACRONYM_CHARS 10

/* Ranking by answers: weighted words and answers of a person, papers of a matrix. */
#define BOUNDS_TASTE_TERMS   600
#define BOUNDS_TASTE_ANSWERS 1000
#define BOUNDS_MATRIX_PAPERS 200000

/* Mail (RFC 5321 section 4.5.3.1, RFC 5322 section 2.1.1, RFC 2047 section 2). */
#define BOUNDS_ADDRESS_BYTES      254
#define BOUNDS_LOCAL_PART_BYTES   64
#define BOUNDS_PERSON_NAME_BYTES  200
#define BOUNDS_LINE_BYTES         998
#define BOUNDS_LINE_SOFT_BYTES    78
#define BOUNDS_ENCODED_WORD_BYTES 75
#define BOUNDS_SUBJECT_CHARS      200
#define BOUNDS_HTML_PART_BYTES    (80 * 1024)
#define BOUNDS_DOMAIN_BYTES       253
#define BOUNDS_LABEL_BYTES        63
#define BOUNDS_BODY_LINE_BYTES    76
#define BOUNDS_BOUNDARY_BYTES     70
#define BOUNDS_MESSAGE_ID_BYTES   250
#define BOUNDS_LIST_ID_BYTES      255
#define BOUNDS_KEY_BYTES_MIN      32
/* Maximum number of keys in the key file; repeated in the schema. */
#define BOUNDS_KEYS               16
/* Maximum size of a message in the outbox; repeated in the schema. */
#define BOUNDS_STORED_BYTES       (256 * 1024)

/*
 * Incoming messages (src/parser).  A message above a limit of this group is rejected;
 * a value above a limit of the group after BOUNDS_MAIL_HOPS is truncated.
 */
#define BOUNDS_MAIL_MB             1
#define BOUNDS_MAIL_BYTES          (BOUNDS_MAIL_MB * 1024 * 1024)
#define BOUNDS_MAIL_HEADER_BYTES   (64 * 1024) /* one header block, also of a part */
#define BOUNDS_MAIL_FIELDS         200         /* in one header block */
#define BOUNDS_MAIL_DEPTH          10          /* nested multiparts and messages */
#define BOUNDS_MAIL_PARTS          100
#define BOUNDS_MAIL_BOUNDARIES     100 /* boundary parameters */
#define BOUNDS_MAIL_BOUNDARY_BYTES 200 /* RFC 2046 section 5.1.1 allows 70 */
#define BOUNDS_MAIL_PARENTHESES    500 /* opening ones in one field */
#define BOUNDS_MAIL_LINE_BYTES     (64 * 1024)
#define BOUNDS_MAIL_NULS           0
#define BOUNDS_MAIL_HEADER_CRS     0 /* bare CRs in the first header block */

/* Maximum number of Received fields; more means a mail loop (RFC 5321 section 6.3). */
#define BOUNDS_MAIL_HOPS 30

#define BOUNDS_MAIL_ADDRESSES    100 /* per address field type */
#define BOUNDS_MAIL_IDS          50  /* in References; the last ones are kept */
#define BOUNDS_MAIL_MARKS        50
#define BOUNDS_MAIL_SIGNATURES   5    /* DKIM-Signature fields that are reported */
#define BOUNDS_MAIL_RESULTS      100  /* in all Authentication-Results */
#define BOUNDS_MAIL_VALUE_BYTES  4096 /* value of one field */
#define BOUNDS_MAIL_TEXT_BYTES   (16 * 1024) /* text without quotes */
#define BOUNDS_MAIL_BODY_BYTES   (64 * 1024) /* text with quotes */
#define BOUNDS_MAIL_DECODE_BYTES (256 * 1024)
#define BOUNDS_MAIL_CHARSETS     16
#define BOUNDS_MAIL_QUOTES       100 /* quoting depth (">") */
/* Nesting of HTML elements; what is in deeper ones counts as text of the last one. */
#define BOUNDS_HTML_DEPTH        256
/* Bytes of an HTML tag that are read; the rest of a longer one counts as text. */
#define BOUNDS_HTML_TAG_BYTES    (16 * 1024)
/* Groups of fields in a delivery or feedback report: of the message, of recipients. */
#define BOUNDS_REPORT_GROUPS     100
/* Fields in all groups of a report together. */
#define BOUNDS_REPORT_FIELDS     500

/* Commands in a message. */
#define BOUNDS_COMMANDS      20
#define BOUNDS_COMMAND_BYTES (8 * 1024) /* subject and text that are parsed */
#define BOUNDS_COMMAND_ECHO  600        /* characters of one line quoted in a reply */
/* Bytes of an unknown sender's commands after which a reply quotes no more. */
#define BOUNDS_UNKNOWN_ECHO  400

/* Bytes of a reply to an unknown sender up to which it has an HTML part. */
#define BOUNDS_UNKNOWN_HTML      1500
#define BOUNDS_COMMAND_ARGUMENTS 64 /* filter numbers or keys in one line */

/* Resource limits of the parser process. */
#define BOUNDS_PARSER_OUTPUT_BYTES (2 * 1024 * 1024)
#define BOUNDS_PARSER_CPU_S        2
#define BOUNDS_PARSER_TIME_S       20
#define BOUNDS_PARSER_SPACE_BYTES  (256 * 1024 * 1024)
#define BOUNDS_PARSER_DATA_BYTES   (48 * 1024 * 1024)
#define BOUNDS_PARSER_STACK_BYTES  (1024 * 1024)

/* LMTP server (RFC 2033; RFC 5321 section 4.5.3). */
#define BOUNDS_LMTP_CLIENTS      32          /* concurrent */
#define BOUNDS_LMTP_LINE_BYTES   2048        /* of a command, without CRLF */
#define BOUNDS_LMTP_SKIP_BYTES   (64 * 1024) /* discarded from an overlong line */
#define BOUNDS_LMTP_RECIPIENTS   100         /* of one message */
/* Recipients of a message as stored, one per line. */
#define BOUNDS_RECIPIENTS_BYTES  (BOUNDS_LMTP_RECIPIENTS * (BOUNDS_ADDRESS_BYTES + 1))
#define BOUNDS_LMTP_ERRORS       20 /* per session, which is then closed */
/* Commands, without RCPT, since the last message; then the session is closed. */
#define BOUNDS_LMTP_COMMANDS     200
#define BOUNDS_LMTP_FLOOD_BYTES  (16 * 1024 * 1024) /* read of a rejected message */
#define BOUNDS_LMTP_OUTPUT_BYTES (64 * 1024)        /* pending output */
#define BOUNDS_LMTP_IDLE_S       300
#define BOUNDS_LMTP_MAIL_S       600 /* to receive a whole message */

/* Maildir file names read per scan, so that the oldest is processed first. */
#define BOUNDS_INCOMING_NAMES 20000

/* Templates and their output. */
/* Size of a template. */
#define BOUNDS_TEMPLATE_BYTES        (64 * 1024)
/* Size of a PO file; a complete one has about 200 KB. */
#define BOUNDS_PO_BYTES              (1024 * 1024)
/* Nested sections of a template. */
#define BOUNDS_TEMPLATE_DEPTH        16
/* Width at which lines of plain text are broken, columns of a terminal. */
#define BOUNDS_TEXT_COLUMNS          72
/* Length of a preheader, which mail programs show after the subject. */
#define BOUNDS_PREHEADER_CHARS       100
/* Length of a title in a preheader of several titles. */
#define BOUNDS_PREHEADER_TITLE_CHARS 46
/* Length of a title in a subject and in the overview. */
#define BOUNDS_SUBJECT_TITLE_CHARS   66
/* Memory for rendered papers and reasons, which are shared by digests. */
#define BOUNDS_RENDER_CACHE_BYTES    (4 * 1024 * 1024)
/* Papers that are cached when digests are loaded to be composed. */
#define BOUNDS_CACHE_PAPERS          500

/* SMTP replies. */
#define BOUNDS_REPLY_LINE_BYTES 1024
#define BOUNDS_REPLY_LINES      128

/* Reply text stored in log and queue, and input buffered while writing. */
#define BOUNDS_REPLY_TEXT_BYTES     500
#define BOUNDS_STREAM_INBOUND_BYTES (64 * 1024)

/* Maximum number of domains with delivery state in memory. */
#define BOUNDS_DOMAINS           10000
/*
 * IMAP responses.  ANSWER: all lines of one response, without message literals.
 * HELLO: lines while connecting (greeting, STARTTLS, login).  WAITING: message
 * UIDs listed at a time.
 */
#define BOUNDS_IMAP_LINE_BYTES   (32 * 1024)
#define BOUNDS_IMAP_ANSWER_BYTES (256 * 1024)
#define BOUNDS_IMAP_PARENTHESES  64
#define BOUNDS_IMAP_HELLO_BYTES  4096
#define BOUNDS_IMAP_HELLO_LINES  64
#define BOUNDS_IMAP_WAITING      20000
#define BOUNDS_IMAP_NAME_BYTES   255

/* HTTP responses of sources. */
#define BOUNDS_HTTP_BODY_BYTES    (32 * 1024 * 1024)
#define BOUNDS_HTTP_HEADER        1024
#define BOUNDS_HTTP_HEADERS_BYTES (64 * 1024)
#define BOUNDS_HTTP_URL_BYTES     4096
#define BOUNDS_HTTP_REDIRECTS     3
#define BOUNDS_HTTP_TIME_S        120
#define BOUNDS_HTTP_CONNECT_S     15
#define BOUNDS_HTTP_STALL_S       30
#define BOUNDS_HTTP_WAIT_S        86400

/* Requests to an OAuth 2 server (src/net/oauth.h), and the file of its tokens. */
#define BOUNDS_OAUTH_BYTES (64 * 1024)
#define BOUNDS_OAUTH_S     30

/* web.url: a line of a header has room for it and a token (RFC 5322 section 2.1.1). */
#define BOUNDS_WEB_URL_BYTES 200

/* The self-test of the page: the link that comes back, and a response. */
#define BOUNDS_WEB_LINK_BYTES  (BOUNDS_WEB_URL_BYTES + 40)
#define BOUNDS_WEB_CHECK_BYTES (256 * 1024)

/* Papers from sources.  Longer text is truncated at a character boundary. */
#define BOUNDS_PAPER_ID_BYTES       200
#define BOUNDS_PAPER_TITLE_BYTES    2000
#define BOUNDS_PAPER_ABSTRACT_BYTES 20000
#define BOUNDS_PAPER_SUMMARY_BYTES  1000
#define BOUNDS_PAPER_AUTHORS        5000
#define BOUNDS_PAPER_AUTHOR_BYTES   200
#define BOUNDS_PAPER_URL_BYTES      900
#define BOUNDS_PAPER_DOI_BYTES      200
#define BOUNDS_PAPER_ORG_BYTES      200
#define BOUNDS_PAPER_KEYWORDS       50
#define BOUNDS_PAPER_KEYWORD_BYTES  200
#define BOUNDS_PAPER_RECORDS        10
#define BOUNDS_PAPERS_BATCH         5000
#define BOUNDS_PAGES_BATCH          50
#define BOUNDS_JSON_VALUES          1000000
#define BOUNDS_XML_DEPTH            40
#define BOUNDS_XML_TEXT_BYTES       (256 * 1024) /* per element; truncated */
#define BOUNDS_SOURCE_ERROR_BYTES   300
#define BOUNDS_SOURCE_LISTS         100 /* categories and feeds */

/* TeX in their texts: nesting, an argument, a formula; longer ones stay unchanged. */
#define BOUNDS_TEX_DEPTH          8
#define BOUNDS_TEX_ARGUMENT_BYTES 4000
#define BOUNDS_TEX_FORMULA_BYTES  400 /* with its closing delimiter */

/* Requests to paperboy-web (RFC 9112), and its connections. */
#define BOUNDS_WEB_HEAD_BYTES   8192 /* request line and header */
#define BOUNDS_WEB_HEAD_FIELDS  64
#define BOUNDS_WEB_TARGET_BYTES 2048
#define BOUNDS_WEB_BODY_BYTES   (16 * 1024)
#define BOUNDS_WEB_CONNECTIONS  6000 /* open at a time */
#define BOUNDS_WEB_WAITING      1000 /* requests that wait for a thread */
#define BOUNDS_WEB_REQUEST_S    10   /* to receive a whole request */
#define BOUNDS_WEB_ANSWER_S     10   /* to wait for paperboyd, once a thread is free */
#define BOUNDS_WEB_SEND_S       30   /* to send a whole response */
#define BOUNDS_WEB_LINGER_S     2    /* to wait for the client to close */

/* Control socket: request line and response. */
#define BOUNDS_CONTROL_LINE_BYTES   64
#define BOUNDS_CONTROL_ANSWER_BYTES (16 * 1024)

/* Imported subscriber lists (CSV, RFC 4180). */
#define BOUNDS_CSV_BYTES        (128 * 1024 * 1024)
#define BOUNDS_CSV_RECORD_BYTES (128 * 1024)
#define BOUNDS_CSV_COLUMNS      32

/* Command arguments. */
#define BOUNDS_PAUSE_DAYS 366
#define BOUNDS_LOG_LINES  100000

/* Rows of a paperboyctl listing. */
#define BOUNDS_LIST_ROWS 10000

/* Configuration with included files, and secret files. */
#define BOUNDS_SETTINGS_BYTES (1024 * 1024)
#define BOUNDS_SETTINGS_FILES 100
#define BOUNDS_SECRET_BYTES   4096

/* Time zone names; the longest installed name has half of that. */
#define BOUNDS_ZONE_NAME_BYTES 64

/* Archive search: papers read one by one because the full-text index does not decide,
 * matches counted among these, results, and days of a backtest. */
#define BOUNDS_SEARCH_EVALUATED 4000
#define BOUNDS_SEARCH_COUNTED   1000
#define BOUNDS_SEARCH_RESULTS   200
#define BOUNDS_BACKTEST_DAYS    365

/* Digests. */
#define BOUNDS_DIGEST_FULL_MAX   200
#define BOUNDS_DIGEST_TITLES_MAX 200
#define BOUNDS_DIGEST_AUTHORS    3
#define BOUNDS_VENUE_CHARS       60
