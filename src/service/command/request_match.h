/*
 * request_match.h - whether a line asks to subscribe or to leave in ordinary words.
 */
#ifndef PAPERBOY_SERVICE_COMMAND_REQUEST_MATCH_H
#define PAPERBOY_SERVICE_COMMAND_REQUEST_MATCH_H

#include <stdbool.h>

enum request_kind {
	REQUEST_NONE,
	REQUEST_LEAVE_UNCLEAR, /* may ask to unsubscribe */
	REQUEST_FILLER,        /* greeting or courtesy only: match the next line */
	REQUEST_SUBSCRIBE,     /* "please sign me up" */
	REQUEST_UNSUBSCRIBE,   /* "bitte nehmt mich von der Liste" */
};

/**
 * Match a whole line with the phrases of each language.
 *
 * A line matches if it has the phrase of a request and only fillers beside it: "stop
 * sending papers about agents" does not match.
 *
 * @param line  valid UTF-8
 */
enum request_kind request_match(const char *line);

/** Whether a line closes a message: thanks, regards. */
bool request_is_closing(const char *line);

/**
 * Guess the language of a text by its frequent words.
 *
 * @param text  valid UTF-8
 * @return a static code such as "de"; NULL when it cannot be determined
 */
const char *request_guess_language(const char *text);

#endif
