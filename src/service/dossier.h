/*
 * dossier.h - all that is kept about one person, for that person.
 */
#ifndef PAPERBOY_SERVICE_DOSSIER_H
#define PAPERBOY_SERVICE_DOSSIER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

/**
 * Write it down: the person, consent, choices, filters, digests, papers that were
 * had, and the audit.  Times are UTC.
 *
 * @param is_text  for a reader; else JSON (RFC 8259) for a program
 * @return UTF-8 that ends with a line end; NULL with PB_ERROR_NOT_FOUND
 */
char *dossier_format(struct store *store, int64_t subscriber_id, bool is_text,
    int64_t now, GError **error);

#endif
