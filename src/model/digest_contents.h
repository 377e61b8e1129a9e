/*
 * digest_contents.h - what a digest contains, and its packed form, in which it is
 * stored.
 *
 * Pure and independent of the database: a packed value is a version, the papers with
 * their announced versions in reading order, then the rest.  Numbers are base 128,
 * least significant group first; texts end with a NUL.  A value has one packed form
 * only. The head of a value, up to the papers, is a value of its own: the delivered
 * papers.
 *
 * There is no checksum, as there is none in other columns: most damage breaks the form
 * or names papers that do not exist, which doctor finds, and a message that is sent
 * again is compared with the hash of its first bytes.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/digest.h"

#define DIGEST_CONTENTS_VERSION 1

/* A filter that matched a paper. */
struct digest_contents_reason {
	unsigned filter;  /* index */
	const char *hits; /* as stored: hits_append() */
};

/* Fields of a paper in attached files that may still change. */
struct digest_reference {
	const char *journal; /* one name per line, the first is shown; or NULL */
	const char *doi;     /* or NULL */
	int64_t published_at;
	const char *categories; /* one per line; NULL: unknown */
	const char *keywords;   /* one per line; NULL: unknown */
};

struct digest_contents_paper {
	int64_t seq;
	int64_t replacement; /* version announced last; 0: none */
	/* As in struct digest_entry. */
	char day[DAY_BYTES];
	int64_t upvotes, upvotes_before, stars;
	const char *venue;
	enum digest_detail shown;
	unsigned first_reason; /* index in the reasons of the contents */
	unsigned reasons; /* number; the paper counts for the filter of the first */
	struct digest_reference reference; /* only if the style has attached files */
};

/* Texts are borrowed. */
struct digest_contents {
	struct digest_style style;
	const char *coverage; /* it and notices: as in struct digest, not NULL */
	const char *notices;
	GArray *filters; /* of struct digest_filter; one without papers is only a label
	                  */
	GArray *papers;  /* of struct digest_contents_paper */
	GArray *reasons; /* of struct digest_contents_reason, of all papers */
	GStringChunk *texts; /* for texts of a digest that is being built */
};

void digest_contents_init(struct digest_contents *contents);
void digest_contents_clear(struct digest_contents *contents);

#define digest_contents_get_filter(contents, i) \
	(&g_array_index((contents)->filters, struct digest_filter, i))
#define digest_contents_get_paper(contents, i) \
	(&g_array_index((contents)->papers, struct digest_contents_paper, i))
#define digest_contents_get_reason(contents, i) \
	(&g_array_index((contents)->reasons, struct digest_contents_reason, i))

/** Copy a text that lives as long as the contents. */
const char *digest_contents_keep(struct digest_contents *contents, const char *text);

/** Append a reason to the paper that was added last. @param hits  copied */
void digest_contents_add_reason(
    struct digest_contents *contents, unsigned filter, const char *hits);

/** Set the fields of a digest that it has from its contents, but not its entries. */
void digest_contents_fill_digest(
    const struct digest_contents *contents, struct digest *digest);

/** Append the entry of a paper of the contents to a digest. @param paper  taken */
void digest_contents_add_entry(const struct digest_contents *contents, unsigned i,
    struct paper *paper, struct digest *digest);

/** Set the fields of a paper that is not shared. */
void
digest_reference_apply(const struct digest_reference *reference, struct paper *paper);

/** Pack contents. @return owned by the caller */
GByteArray *digest_contents_pack(const struct digest_contents *contents);

/** Pack the papers with their versions only: delivered papers. */
GByteArray *digest_contents_pack_papers(const struct digest_contents *contents);

/**
 * Unpack contents; any bytes are safe.
 *
 * @param contents  initialized and empty; its texts are those of `data`
 * @return false with PB_ERROR_DAMAGED if it cannot be read
 */
bool digest_contents_unpack(
    struct digest_contents *contents, const void *data, size_t size, GError **error);

/* A paper and the version with which it was delivered. */
struct digest_contents_version {
	int64_t seq;
	int64_t replacement;
};

/**
 * Unpack the papers only, of contents or of delivered papers.
 *
 * @param papers       gets struct digest_contents_version
 * @param head_bytes  or NULL; set to the size of that part, which is a value of its own
 * @return as digest_contents_unpack()
 */
bool digest_contents_unpack_papers(
    const void *data, size_t size, GArray *papers, size_t *head_bytes, GError **error);
