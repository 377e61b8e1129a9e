/*
 * postgresql_module.c - load the engine PostgreSQL, which is a package of its own.
 */
#include <dlfcn.h>

#include "base/error.h"
#include "store/core/postgresql.h"

struct store *
postgresql_open(const struct store_server *server, GError **error)
{
	/* It stays loaded.  The version in its path is that of this program. */
	void *module = dlopen(PAPERBOY_MODULEDIR "/postgresql.so", RTLD_NOW);
	__typeof__(&postgresql_open) open = NULL;

	if (module)
		open = (__typeof__(open))dlsym(module, "postgresql_open");
	if (open)
		return open(server, error);
	pb_fail(error, PB_ERROR_TEMPORARY,
	    "a database server needs the package paperboy-postgresql: %s", dlerror());
	return NULL;
}
