/*
 * quote_strip.h - what a person wrote, without what that person's program added.
 */
#ifndef PAPERBOY_PARSER_QUOTE_STRIP_H
#define PAPERBOY_PARSER_QUOTE_STRIP_H

/**
 * Cut quotes, attributions ("On ... wrote:" in the languages of quote_patterns.h),
 * signatures and what programs advertise.
 *
 * Lines that begin with ">" go wherever they are, and so does an attribution that is
 * followed by one or by nothing: answers below and between quotes stay.  What follows
 * an attribution otherwise is quoted without marks, and ends the text; so does a
 * divider ("-----Original Message-----"), a block of header lines (From, Sent, To), a
 * line of underscores, and a line "-- ".
 *
 * @param text  valid UTF-8 with LF line ends
 * @return lines without blanks at their ends, without empty lines at the beginning
 * and the end or two in a row, ended by a line feed; or empty; owned by the caller
 */
char *quote_strip(const char *text);

#endif
