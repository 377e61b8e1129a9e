/*
 * fuzz.h - shared by fuzz targets: consume input, check output.
 *
 * Targets return 0; a failed check aborts.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/paper.h"

/** The entry point of a target, named by libFuzzer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The remaining input. */
struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

/** Take one byte; 0 at the end of the input. */
unsigned fuzz_take_byte(struct fuzz_input *input);

/** Take the bytes up to the next NUL and skip it. @return owned by the caller */
char *fuzz_take_text(struct fuzz_input *input);

/** Take the rest, in memory of its exact size. @return owned by the caller */
GBytes *fuzz_take_bytes(struct fuzz_input *input);

/**
 * Check for a line of valid UTF-8 without control characters, bidi controls (Unicode
 * TR36 section 2.6), leading or trailing blanks, or two blanks in a row.
 */
void fuzz_check_line(const char *text, size_t max_bytes);

/** Check that a paper of a source is within its limits and valid in a mail. */
void fuzz_check_paper(const struct paper *paper);

/** Check for an error of PB_ERROR with a message of valid UTF-8. */
void fuzz_check_error(const GError *error);

/**
 * Check for complete lines that end in CRLF, have no other CR or LF and no NUL, and are
 * at most max_bytes long.
 *
 * @param is_ascii  all bytes are 7-bit
 */
void fuzz_check_wire(const char *data, size_t size, size_t max_bytes, bool is_ascii);

/**
 * Check for exactly one header field of a name; see fuzz_check_wire().  Continuation
 * lines begin with a blank and have other characters, too.
 */
void fuzz_check_field(const GString *field, const char *name, bool is_ascii);

/** Unfold a header field. @return its value */
char *fuzz_unfold(const GString *field);
