/*
 * fuzz.h - what the fuzz targets share: taking input apart, judging output.
 *
 * A target never returns anything but 0: what is wrong aborts.
 */
#ifndef PAPERBOY_FUZZ_FUZZ_H
#define PAPERBOY_FUZZ_FUZZ_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The one function that a target has; libFuzzer gives it its name. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is left of the input. */
struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

/** Take one octet; 0 where nothing is left. */
unsigned fuzz_take_byte(struct fuzz_input *input);

/** Take the octets up to the next NUL, which goes too. @return owned by the caller */
char *fuzz_take_text(struct fuzz_input *input);

/** Take all that is left, in memory of just that size. @return owned by the caller */
GBytes *fuzz_take_bytes(struct fuzz_input *input);

/**
 * One line of valid UTF-8 without controls, marks that turn the direction of text
 * (Unicode TR36 section 2.6), blanks at its ends or two in a row.
 */
void fuzz_check_line(const char *text, size_t max_bytes);

/** An error of our own domain with a message of valid UTF-8. */
void fuzz_check_error(const GError *error);

/**
 * Whole lines with CRLF, no other CR or LF, no NUL, none longer than that.
 *
 * @param is_ascii  and all of it 7-bit
 */
void fuzz_check_wire(const char *data, size_t size, size_t max_bytes, bool is_ascii);

/**
 * One header field of that name and nothing else: see fuzz_check_wire(); lines
 * after the first begin with a blank and hold more than blanks.
 */
void fuzz_check_field(const GString *field, const char *name, bool is_ascii);

/** Take the line folds out of one header field. @return its value */
char *fuzz_unfold(const GString *field);

#endif
