/*
 * bounds.h - every limit on what comes from outside, in one place.
 *
 * Each number has a test at it and one past it.  Sizes are octets unless a
 * name says otherwise.
 */
#ifndef PAPERBOY_BASE_BOUNDS_H
#define PAPERBOY_BASE_BOUNDS_H

/* Filters (the filter language). */
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

/* Canonical text of a filter, and the explanation of a match. */
#define BOUNDS_QUERY_CANONICAL_BYTES 2048
#define BOUNDS_QUERY_EXPLAIN_CHARS   200

/* A short form that a paper explains: "low-rank adaptation (LoRA)". */
#define BOUNDS_ACRONYM_CHARS 10

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
/* Maximum number of keys in the key file; in the schema too. */
#define BOUNDS_KEYS               16
/* A letter in the outbox; in the schema too. */
#define BOUNDS_STORED_BYTES       (256 * 1024)

/*
 * Letters: messages from outside, as their reader takes them (src/letter).  What is
 * past the first group is refused whole; what is past the second is cut.
 */
#define BOUNDS_MAIL_MB             1
#define BOUNDS_MAIL_BYTES          (BOUNDS_MAIL_MB * 1024 * 1024)
#define BOUNDS_MAIL_HEADER_BYTES   (64 * 1024) /* one header block, a part's too */
#define BOUNDS_MAIL_FIELDS         200         /* in one header block */
#define BOUNDS_MAIL_DEPTH          10          /* multiparts and messages in messages */
#define BOUNDS_MAIL_PARTS          100
#define BOUNDS_MAIL_BOUNDARIES     100 /* parameters of that name */
#define BOUNDS_MAIL_BOUNDARY_BYTES 200 /* RFC 2046 section 5.1.1 wants at most 70 */
#define BOUNDS_MAIL_PARENTHESES    500 /* opened in one field */
#define BOUNDS_MAIL_LINE_BYTES     (64 * 1024)
#define BOUNDS_MAIL_NULS           0
#define BOUNDS_MAIL_HEADER_CRS     0 /* that end no line, in the first header block */

/* Received fields: a message that went through more has lost its way. */
#define BOUNDS_MAIL_HOPS 30

#define BOUNDS_MAIL_ADDRESSES    100 /* of one kind */
#define BOUNDS_MAIL_IDS          50  /* of References; the last ones are kept */
#define BOUNDS_MAIL_MARKS        50
#define BOUNDS_MAIL_SIGNATURES   5           /* DKIM-Signature fields that are told */
#define BOUNDS_MAIL_RESULTS      100         /* of all Authentication-Results */
#define BOUNDS_MAIL_VALUE_BYTES  4096        /* one field's value */
#define BOUNDS_MAIL_TEXT_BYTES   (16 * 1024) /* what the person wrote */
#define BOUNDS_MAIL_BODY_BYTES   (64 * 1024) /* with all that was quoted */
#define BOUNDS_MAIL_DECODE_BYTES (256 * 1024)
#define BOUNDS_MAIL_CHARSETS     16
#define BOUNDS_MAIL_QUOTES       100 /* depth of ">" */
#define BOUNDS_HTML_DEPTH        256
#define BOUNDS_HTML_TAG_BYTES    (16 * 1024)
#define BOUNDS_REPORT_GROUPS     100
#define BOUNDS_REPORT_FIELDS     500

/* Commands of a letter. */
#define BOUNDS_COMMANDS          20
#define BOUNDS_COMMAND_BYTES     (8 * 1024) /* subject and text that are read */
#define BOUNDS_COMMAND_ECHO      600        /* characters of one line that come back */
#define BOUNDS_UNKNOWN_ECHO      400 /* octets of a stranger's lines in one answer */
#define BOUNDS_COMMAND_ARGUMENTS 64  /* numbers of filters, keys, in one line */

/* The process that reads a letter, and what it may say. */
#define BOUNDS_PARSER_OUTPUT_BYTES (2 * 1024 * 1024)
#define BOUNDS_PARSER_CPU_S        2
#define BOUNDS_PARSER_TIME_S       20
#define BOUNDS_PARSER_SPACE_BYTES  (256 * 1024 * 1024)
#define BOUNDS_PARSER_DATA_BYTES   (48 * 1024 * 1024)
#define BOUNDS_PARSER_STACK_BYTES  (1024 * 1024)

/* LMTP clients that hand in letters (RFC 2033; RFC 5321 section 4.5.3). */
#define BOUNDS_LMTP_CLIENTS      32          /* at a time */
#define BOUNDS_LMTP_LINE_BYTES   2048        /* of a command, without its end */
#define BOUNDS_LMTP_SKIP_BYTES   (64 * 1024) /* of a line that is too long */
#define BOUNDS_LMTP_RECIPIENTS   100         /* of one letter */
/* All of them as they are stored, one a line. */
#define BOUNDS_RECIPIENTS_BYTES  (BOUNDS_LMTP_RECIPIENTS * (BOUNDS_ADDRESS_BYTES + 1))
#define BOUNDS_LMTP_ERRORS       20  /* in a session, until it is ended */
#define BOUNDS_LMTP_COMMANDS     200 /* until a letter comes, RCPT left out */
#define BOUNDS_LMTP_FLOOD_BYTES  (16 * 1024 * 1024) /* of a letter that is refused */
#define BOUNDS_LMTP_OUTPUT_BYTES (64 * 1024)        /* not read by the client */
#define BOUNDS_LMTP_IDLE_S       300
#define BOUNDS_LMTP_MAIL_S       600 /* until a letter is whole */

/* Names of a Maildir that are read at once, to take the oldest first. */
#define BOUNDS_INCOMING_NAMES 20000

/* Templates, and what they make. */
#define BOUNDS_TEMPLATE_BYTES      (64 * 1024)
#define BOUNDS_TEMPLATE_DEPTH      16
#define BOUNDS_TEXT_COLUMNS        72
#define BOUNDS_PREHEADER_CHARS     72
#define BOUNDS_SUBJECT_TITLE_CHARS 80
#define BOUNDS_RENDER_CACHE_BYTES  (16 * 1024 * 1024)
#define BOUNDS_CACHE_PAPERS        1000 /* kept ready by who composes */

/* SMTP replies: one line, and all lines of one reply. */
#define BOUNDS_REPLY_LINE_BYTES 1024
#define BOUNDS_REPLY_LINES      128

/* Reply text stored for log and queue, and input buffered while writing. */
#define BOUNDS_REPLY_TEXT_BYTES     500
#define BOUNDS_STREAM_INBOUND_BYTES (64 * 1024)

/* Domains that the post remembers something of at a time. */
#define BOUNDS_DOMAINS           10000
/*
 * IMAP answers: one line; all lines of one answer, without letters; opened parentheses
 * of a line; lines that a connection begins with; letters known to be waiting at once.
 */
#define BOUNDS_IMAP_LINE_BYTES   (32 * 1024)
#define BOUNDS_IMAP_ANSWER_BYTES (256 * 1024)
#define BOUNDS_IMAP_PARENTHESES  64
#define BOUNDS_IMAP_HELLO_BYTES  4096
#define BOUNDS_IMAP_HELLO_LINES  64
#define BOUNDS_IMAP_WAITING      20000
#define BOUNDS_IMAP_NAME_BYTES   255

/* HTTP answers of sources. */
#define BOUNDS_HTTP_BODY_BYTES    (32 * 1024 * 1024)
#define BOUNDS_HTTP_HEADER        1024
#define BOUNDS_HTTP_HEADERS_BYTES (64 * 1024)
#define BOUNDS_HTTP_URL_BYTES     4096
#define BOUNDS_HTTP_REDIRECTS     3
#define BOUNDS_HTTP_TIME_S        120
#define BOUNDS_HTTP_CONNECT_S     15
#define BOUNDS_HTTP_STALL_S       30
#define BOUNDS_HTTP_WAIT_S        86400

/* Papers, as sources give them.  Longer text is cut at a character. */
#define BOUNDS_PAPER_ID_BYTES       200
#define BOUNDS_PAPER_TITLE_BYTES    2000
#define BOUNDS_PAPER_ABSTRACT_BYTES 20000
#define BOUNDS_PAPER_AUTHORS        5000
#define BOUNDS_PAPER_AUTHOR_BYTES   200
#define BOUNDS_PAPER_URL_BYTES      900
#define BOUNDS_PAPER_DOI_BYTES      200
#define BOUNDS_PAPER_ORG_BYTES      200
#define BOUNDS_PAPER_KEYWORDS       50
#define BOUNDS_PAPER_KEYWORD_BYTES  200
#define BOUNDS_PAPERS_BATCH         5000
#define BOUNDS_PAGES_BATCH          50
#define BOUNDS_JSON_VALUES          1000000
#define BOUNDS_XML_DEPTH            40
#define BOUNDS_XML_TEXT_BYTES       (256 * 1024) /* of one element; more is cut */
#define BOUNDS_XML_CHARSET_BYTES    40
#define BOUNDS_SOURCE_ERROR_BYTES   300
#define BOUNDS_SOURCE_NAME_BYTES    30
#define BOUNDS_SOURCE_LISTS         100 /* categories and feeds */

/* The control socket: a line that is asked, and an answer. */
#define BOUNDS_CONTROL_LINE_BYTES   64
#define BOUNDS_CONTROL_ANSWER_BYTES (16 * 1024)

/* Lists of people that are read (RFC 4180): the file, a line of it, its columns. */
#define BOUNDS_CSV_BYTES        (128 * 1024 * 1024)
#define BOUNDS_CSV_RECORD_BYTES (128 * 1024)
#define BOUNDS_CSV_COLUMNS      32

/* Arguments of commands. */
#define BOUNDS_PAUSE_DAYS 366
#define BOUNDS_LOG_LINES  100000

/* Rows of a list in paperboyctl. */
#define BOUNDS_LIST_ROWS 10000

/* The configuration, with all that it includes, and a file with a secret. */
#define BOUNDS_SETTINGS_BYTES (1024 * 1024)
#define BOUNDS_SETTINGS_FILES 100
#define BOUNDS_SETTINGS_DEPTH 10
#define BOUNDS_SECRET_BYTES   4096

/* Names of time zones; the longest that is installed has half of that. */
#define BOUNDS_ZONE_NAME_BYTES 64

/* Looking into the archive: papers asked about, the newest, and those told. */
#define BOUNDS_SEARCH_PAPERS  20000
#define BOUNDS_SEARCH_RESULTS 200
#define BOUNDS_BACKTEST_DAYS  365

/* Digests. */
#define BOUNDS_DIGEST_FULL_MAX   200
#define BOUNDS_DIGEST_TITLES_MAX 200
#define BOUNDS_DIGEST_AUTHORS    6

#endif
