/*
 * transaction.c - the parts of a transaction, and running it again.
 */
#include "store/core/transaction.h"

#include "base/error.h"
#include "store/core/engine.h"
#include "store/core/jobs.h"

/* The first wait is up to 1 ms and the last up to 4 s, 8 s in total: as long as the
 * transaction of a thread that waits for the processor. */
#define WAIT_FIRST_US 1000

static bool
is_open(const struct store *store)
{
	return store->engine->is_open(store);
}

/* A call of store_after_commit(). */
struct call {
	void (*call)(void *data);
	void *data;
	GDestroyNotify free;
};

void
store_free_call(gpointer data)
{
	struct call *call = data;

	call->free(call->data);
	g_free(call);
}

static void
run_calls(struct store *store)
{
	for (unsigned i = 0; i < store->calls->len; i++) {
		const struct call *call = store->calls->pdata[i];

		call->call(call->data);
	}
	g_ptr_array_set_size(store->calls, 0);
}

void
store_after_commit(
    struct store *store, void (*call)(void *data), void *data, GDestroyNotify free)
{
	struct call *added = g_new(struct call, 1);

	*added = (struct call){call, data, free};
	g_ptr_array_add(store->calls, added);
	if (!is_open(store) || store->is_reading)
		run_calls(store);
}

bool
store_begin_reading(
    struct store *store, struct store_snapshot *snapshot, GError **error)
{
	g_assert(!snapshot->store);
	if (is_open(store))
		return true;
	if (!store->engine->begin(store, SQL_BEGIN_READING, error))
		return false;
	store->is_reading = true;
	snapshot->store = store;
	return true;
}

void
store_end_reading(struct store_snapshot *snapshot)
{
	struct store *store = g_steal_pointer(&snapshot->store);

	if (!store)
		return;
	store->engine->rollback(store, false);
	store->is_reading = false;
}

/* @param kind  to write, but not SQL_BEGIN_INNER */
static bool
begin(struct store *store, struct store_transaction *transaction, enum sql_begin kind,
    GError **error)
{
	bool is_inner = is_open(store);

	g_assert(!transaction->store && !store->is_reading);
	/* A savepoint has the isolation of its transaction. */
	g_assert(!is_inner || kind == SQL_BEGIN_ROWS || !store->is_weaker);
	if (!store->engine->begin(store, is_inner ? SQL_BEGIN_INNER : kind, error))
		return false;
	if (!is_inner)
		store->is_weaker = kind != SQL_BEGIN_WRITING;
	transaction->store = store;
	transaction->is_inner = is_inner;
	transaction->calls = store->calls->len;
	return true;
}

bool
store_begin(struct store *store, struct store_transaction *transaction, GError **error)
{
	return begin(store, transaction, SQL_BEGIN_WRITING, error);
}

bool
store_commit(struct store_transaction *transaction, GError **error)
{
	struct store *store = transaction->store;

	g_assert(store);
	if (!store->engine->commit(store, transaction->is_inner, error))
		return false;
	transaction->store = NULL;
	if (transaction->is_inner)
		return true;
	run_calls(store);
	if (store->hook)
		store->hook(store->hook_data);
	return true;
}

void
store_rollback(struct store_transaction *transaction)
{
	struct store *store = g_steal_pointer(&transaction->store);

	if (!store)
		return;
	store->engine->rollback(store, transaction->is_inner);
	g_ptr_array_set_size(store->calls, transaction->calls);
}

/* Work in a transaction of this kind. */
struct plan {
	enum sql_begin kind;
	store_work *work;
	void *data;
};

/* @param is_trial  roll back in any case */
static bool
run_once(struct store *store, const struct plan *plan, bool is_trial, GError **error)
{
	pb_transaction transaction = {0};

	if (!begin(store, &transaction, plan->kind, error) ||
	    (!transaction.is_inner && !jobs_check(store, error)) ||
	    !plan->work(store, plan->data, error))
		return false;
	/* The work may have ignored the error. */
	if (store->has_conflict)
		return pb_fail(
		    error, PB_ERROR_TEMPORARY, "conflict with another transaction");
	return is_trial || store_commit(&transaction, error);
}

void
transaction_wait(unsigned runs)
{
	int64_t range_us = (int64_t)WAIT_FIRST_US << (runs - 1);

	g_usleep((gulong)(g_get_monotonic_time() % range_us));
}

static bool
run_plan(struct store *store, const struct plan *plan, GError **error)
{
	if (is_open(store))
		return run_once(store, plan, false, error);
	for (unsigned runs = 1;; runs++) {
		g_autoptr(GError) problem = NULL;

		store->has_conflict = false;
		if ((!store->runs_twice || run_once(store, plan, true, &problem)) &&
		    run_once(store, plan, false, &problem))
			return true;
		if (!store->has_conflict) {
			g_propagate_error(error, g_steal_pointer(&problem));
			return false;
		}
		if (runs == TRANSACTION_RUNS_MAX)
			return pb_fail(error, PB_ERROR_TEMPORARY,
			    "%u transactions failed: %s", runs, problem->message);
		transaction_wait(runs);
	}
}

bool
store_transact(struct store *store, store_work *work, void *data, GError **error)
{
	const struct plan plan = {SQL_BEGIN_WRITING, work, data};

	return run_plan(store, &plan, error);
}

bool
store_transact_rows(struct store *store, store_work *work, void *data, GError **error)
{
	const struct plan plan = {SQL_BEGIN_ROWS, work, data};

	return run_plan(store, &plan, error);
}

bool
store_transact_snapshot(
    struct store *store, store_work *work, void *data, GError **error)
{
	const struct plan plan = {SQL_BEGIN_SNAPSHOT, work, data};

	return run_plan(store, &plan, error);
}

void
store_set_rerun(struct store *store, bool runs_twice)
{
	store->runs_twice = runs_twice;
}
