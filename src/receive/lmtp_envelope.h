/*
 * lmtp_envelope.h - what MAIL and RCPT say: a path and parameters.
 *
 * A refusal is a whole reply without its line's end, static; NULL is none.
 */
#ifndef PAPERBOY_RECEIVE_LMTP_ENVELOPE_H
#define PAPERBOY_RECEIVE_LMTP_ENVELOPE_H

#include <stdbool.h>

/**
 * Find the path in "<a@b> SIZE=1".
 *
 * @param rest  set on success: what follows it
 * @return a new string, without a source route (RFC 5321 appendix C), or NULL
 */
char *lmtp_envelope_parse_path(const char *text, const char **rest);

/** Judge the shape of an address; who is known here is not asked. @return a refusal */
const char *lmtp_envelope_check_address(const char *address, bool is_utf8);

/**
 * Judge what follows the path of MAIL: SIZE, BODY, SMTPUTF8.
 *
 * @param is_utf8  set when SMTPUTF8 is among them
 * @return a refusal
 */
const char *lmtp_envelope_check_mail(const char *text, bool *is_utf8);

#endif
