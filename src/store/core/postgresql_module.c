/*
 * postgresql_module.c - load the engine PostgreSQL, which is a package of its own.
 */
#include <dlfcn.h>

#include "base/error.h"
#include "store/core/postgresql.h"

/* @return NULL with PB_ERROR_TEMPORARY */
static void *
find_function(const char *name, GError **error)
{
	/* It stays loaded.  The version in its path is that of this program. */
	void *module = dlopen(PAPERBOY_MODULEDIR "/postgresql.so", RTLD_NOW);
	void *function = module ? dlsym(module, name) : NULL;

	if (!function)
		pb_fail(error, PB_ERROR_TEMPORARY,
		    "a database server needs the package paperboy-postgresql: %s",
		    dlerror());
	return function;
}

bool
postgresql_check_url(const char *url, GError **error)
{
	__typeof__(&postgresql_check_url) check =
	    (__typeof__(check))find_function("postgresql_check_url", error);

	return check && check(url, error);
}

struct store *
postgresql_open(const struct store_server *server, GError **error)
{
	__typeof__(&postgresql_open) open =
	    (__typeof__(open))find_function("postgresql_open", error);

	return open ? open(server, error) : NULL;
}
