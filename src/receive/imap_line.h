/*
 * imap_line.h - check of one line from an IMAP server before libetpan sees it.
 *
 * libetpan parses recursively, allocates the announced size of a literal and mistakes
 * an untagged BYE for a result. Therefore irrelevant lines are dropped and dangerous
 * ones end the connection.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum imap_line_kind {
	IMAP_LINE_RESULT,        /* tagged OK, NO or BAD */
	IMAP_LINE_CONTINUE,      /* "+" */
	IMAP_LINE_BYE,           /* untagged BYE */
	IMAP_LINE_STATUS,        /* untagged OK, NO or BAD */
	IMAP_LINE_EXISTS,        /* number of messages in the folder */
	IMAP_LINE_EXPUNGED,      /* one message less */
	IMAP_LINE_FETCH,         /* data of message number */
	IMAP_LINE_DATA,          /* CAPABILITY, FLAGS, SEARCH, RECENT */
	IMAP_LINE_AFTER_LITERAL, /* the part after a literal */
	IMAP_LINE_OTHER,         /* anything else */
};

struct imap_line {
	enum imap_line_kind kind;
	uint32_t number; /* sequence number or count; 0 if none */
	bool has_literal;
	uint32_t literal_bytes; /* following the line */
};

/**
 * Parse and check one line.
 *
 * @param text     with its line end; at most BOUNDS_IMAP_LINE_BYTES
 * @param is_after_literal  whether it continues after a literal
 * @param line     set on success only
 * @return false with PB_ERROR_TEMPORARY for a NUL, a literal larger than
 *         BOUNDS_MAIL_BYTES + 1 or in an unexpected place, or more than
 *         BOUNDS_IMAP_PARENTHESES
 */
bool imap_line_parse(const char *text, size_t size, bool is_after_literal,
    struct imap_line *line, GError **error);
