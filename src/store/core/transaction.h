/*
 * transaction.h - the parts of a transaction; for store_transact() and for tests.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/visible.h"
#include "store/core/store.h"

/* Rolls back at the end of its scope unless it was committed. */
struct store_transaction {
	struct store *store; /* NULL when none is open */
	bool is_inner;       /* a savepoint of another transaction */
	unsigned calls;      /* of store_after_commit() before it */
};

#define pb_transaction __attribute__((cleanup(store_rollback))) struct store_transaction

/**
 * Begin a write transaction (BEGIN IMMEDIATE), or a savepoint inside one.
 *
 * A savepoint can be rolled back alone; committed, it becomes part of the outer
 * transaction.  Transactions end in the reverse order of their beginnings.
 */
bool
store_begin(struct store *store, struct store_transaction *transaction, GError **error);

/* Maximum number of runs of a transaction that conflicts with others. */
#define TRANSACTION_RUNS_MAX 14

/**
 * Wait before it runs again: transactions that collided are not to collide again.
 *
 * @param runs  so far, from 1
 */
PB_EXPORT void transaction_wait(unsigned runs);

bool store_commit(struct store_transaction *transaction, GError **error);
void store_rollback(struct store_transaction *transaction);
