/*
 * quote_strip.h - remove quotes and signatures from a message.
 */
#pragma once

/**
 * Remove quotes, attributions ("On ... wrote:" in several languages),
 * signatures and advertisements of mail programs.
 *
 * Lines with ">" are removed everywhere, as is an attribution followed by such a line
 * or by nothing: text below and between quotes stays. An attribution followed by other
 * text starts an unmarked quote, which ends the text, as do a divider ("-----Original
 * Message-----"), a block of header lines (From, Sent, To), a line of underscores, and
 * a line "-- ".
 *
 * @param text  valid UTF-8 with LF line ends
 * @return lines without trailing blanks, without leading, trailing or repeated empty
 *         lines, ending with LF, or empty; owned by the caller
 */
char *quote_strip(const char *text);
