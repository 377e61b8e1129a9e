/*
 * power_loss.c - a VFS of SQLite that loses unsynced writes.
 */
#include "power_loss.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

#define SECTOR_BYTES 512

/* A write that was not synced; a truncation has no bytes. */
struct change {
	gint64 at;
	GBytes *bytes; /* NULL: the file ends at `at` */
};

/* State of a file, by its path. */
struct record {
	GByteArray *synced; /* NULL: the file may be missing */
	GPtrArray *changes; /* of struct change *, since then */
};

struct file {
	sqlite3_file base;
	struct record *record; /* NULL: not a tracked file */
	sqlite3_file *real;    /* after this struct */
};

static struct {
	sqlite3_vfs vfs;
	sqlite3_vfs *real;
	GHashTable *records; /* path -> struct record * */
	unsigned count;
	unsigned nth;
	bool is_dark;
} disk;

static void
change_free(void *data)
{
	struct change *change = data;

	if (change->bytes)
		g_bytes_unref(change->bytes);
	g_free(change);
}

static void
record_free(void *data)
{
	struct record *record = data;

	if (record->synced)
		g_byte_array_unref(record->synced);
	g_ptr_array_unref(record->changes);
	g_free(record);
}

/* @return whether this operation is still performed */
static bool
take_step(void)
{
	disk.count++;
	if (disk.nth && disk.count == disk.nth)
		disk.is_dark = true;
	return !disk.is_dark;
}

static void
note(struct record *record, gint64 at, const void *data, size_t size)
{
	struct change *change = g_new0(struct change, 1);

	change->at = at;
	change->bytes = data ? g_bytes_new(data, size) : NULL;
	g_ptr_array_add(record->changes, change);
}

static void
set_length(GByteArray *bytes, guint length)
{
	guint before = bytes->len;

	g_byte_array_set_size(bytes, length);
	if (length > before)
		memset(bytes->data + before, 0, length - before);
}

/* @param rand NULL: the whole change; else a random set of its sectors */
static void
apply(GByteArray *bytes, const struct change *change, GRand *rand)
{
	gsize size = 0;
	const guint8 *data;

	if (!change->bytes) {
		set_length(bytes, (guint)change->at);
		return;
	}
	data = g_bytes_get_data(change->bytes, &size);
	for (gsize from = 0; from < size;) {
		gint64 at = change->at + (gint64)from;
		gsize part =
		    MIN(size - from, (gsize)(SECTOR_BYTES - at % SECTOR_BYTES));

		if (!rand || g_rand_boolean(rand)) {
			if (bytes->len < at + (gint64)part)
				set_length(bytes, (guint)(at + (gint64)part));
			memcpy(bytes->data + at, data + from, part);
		}
		from += part;
	}
}

static void
make_durable(struct record *record)
{
	if (!record->synced)
		record->synced = g_byte_array_new();
	for (unsigned i = 0; i < record->changes->len; i++)
		apply(record->synced, record->changes->pdata[i], NULL);
	g_ptr_array_set_size(record->changes, 0);
}

/* ---- files ---- */

static sqlite3_file *
real_of(sqlite3_file *file)
{
	return ((struct file *)file)->real;
}

static struct record *
record_of(sqlite3_file *file)
{
	return ((struct file *)file)->record;
}

static int
do_close(sqlite3_file *file)
{
	sqlite3_file *real = real_of(file);

	return real->pMethods ? real->pMethods->xClose(real) : SQLITE_OK;
}

static int
do_read(sqlite3_file *file, void *data, int size, sqlite3_int64 at)
{
	return real_of(file)->pMethods->xRead(real_of(file), data, size, at);
}

/* The write during the power loss may still reach the disk, in whole or in part. */
static int
do_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 at)
{
	bool was_dark = disk.is_dark;

	if (!record_of(file))
		return real_of(file)->pMethods->xWrite(real_of(file), data, size, at);
	if (!was_dark)
		note(record_of(file), at, data, (size_t)size);
	if (!take_step())
		return SQLITE_IOERR_WRITE;
	return real_of(file)->pMethods->xWrite(real_of(file), data, size, at);
}

static int
do_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	if (!record_of(file))
		return real_of(file)->pMethods->xTruncate(real_of(file), size);
	if (!take_step())
		return SQLITE_IOERR_TRUNCATE;
	note(record_of(file), size, NULL, 0);
	return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

/* The real file need not be synced: the test does not survive a real power loss. */
static int
do_sync(sqlite3_file *file, int flags)
{
	(void)flags;
	if (!record_of(file))
		return SQLITE_OK;
	if (!take_step())
		return SQLITE_IOERR_FSYNC;
	make_durable(record_of(file));
	return SQLITE_OK;
}

static int
do_size(sqlite3_file *file, sqlite3_int64 *size)
{
	return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int
do_lock(sqlite3_file *file, int level)
{
	return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int
do_unlock(sqlite3_file *file, int level)
{
	return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int
do_check_lock(sqlite3_file *file, int *is_locked)
{
	return real_of(file)->pMethods->xCheckReservedLock(real_of(file), is_locked);
}

static int
do_control(sqlite3_file *file, int what, void *value)
{
	return real_of(file)->pMethods->xFileControl(real_of(file), what, value);
}

static int
do_sector(sqlite3_file *file)
{
	(void)file;
	return SECTOR_BYTES;
}

/* As SQLite assumes on Unix: a write does not change adjacent bytes. */
static int
do_traits(sqlite3_file *file)
{
	(void)file;
	return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int
do_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **out)
{
	return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, out);
}

static int
do_shm_lock(sqlite3_file *file, int at, int count, int flags)
{
	return real_of(file)->pMethods->xShmLock(real_of(file), at, count, flags);
}

static void
do_shm_barrier(sqlite3_file *file)
{
	real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int
do_shm_unmap(sqlite3_file *file, int is_deleted)
{
	return real_of(file)->pMethods->xShmUnmap(real_of(file), is_deleted);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = do_close,
    .xRead = do_read,
    .xWrite = do_write,
    .xTruncate = do_truncate,
    .xSync = do_sync,
    .xFileSize = do_size,
    .xLock = do_lock,
    .xUnlock = do_unlock,
    .xCheckReservedLock = do_check_lock,
    .xFileControl = do_control,
    .xSectorSize = do_sector,
    .xDeviceCharacteristics = do_traits,
    .xShmMap = do_shm_map,
    .xShmLock = do_shm_lock,
    .xShmBarrier = do_shm_barrier,
    .xShmUnmap = do_shm_unmap,
};

/* ---- the directory ---- */

static struct record *
get_record(const char *path)
{
	struct record *record = g_hash_table_lookup(disk.records, path);
	char *data = NULL;
	gsize size = 0;

	if (record)
		return record;
	record = g_new0(struct record, 1);
	record->changes = g_ptr_array_new_with_free_func(change_free);
	if (g_file_get_contents(path, &data, &size, NULL))
		record->synced = g_byte_array_new_take((guint8 *)data, size);
	g_hash_table_insert(disk.records, g_strdup(path), record);
	return record;
}

static int
do_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *opened, int flags, int *out)
{
	struct file *file = (struct file *)opened;
	bool is_stored = path && flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL |
	                                     SQLITE_OPEN_MAIN_JOURNAL);
	int rc;

	(void)vfs;
	memset(file, 0, sizeof(*file));
	if (is_stored && disk.is_dark)
		return SQLITE_CANTOPEN;
	if (is_stored)
		file->record = get_record(path);
	file->real = (sqlite3_file *)&file[1];
	rc = disk.real->xOpen(disk.real, path, file->real, flags, out);
	/* Without methods SQLite would not close it. */
	if (rc == SQLITE_OK || file->real->pMethods)
		file->base.pMethods = &methods;
	return rc;
}

static int
do_delete(sqlite3_vfs *vfs, const char *path, int is_synced)
{
	(void)vfs;
	if (!g_hash_table_contains(disk.records, path))
		return disk.real->xDelete(disk.real, path, is_synced);
	if (!take_step())
		return SQLITE_IOERR_DELETE;
	g_hash_table_remove(disk.records, path);
	return disk.real->xDelete(disk.real, path, is_synced);
}

void
power_loss_install(void)
{
	disk.real = sqlite3_vfs_find(NULL);
	disk.vfs = *disk.real;
	disk.vfs.zName = "powercut";
	disk.vfs.szOsFile = (int)sizeof(struct file) + disk.real->szOsFile;
	disk.vfs.xOpen = do_open;
	disk.vfs.xDelete = do_delete;
	disk.records =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, record_free);
	sqlite3_vfs_register(&disk.vfs, 1);
}

unsigned
power_loss_count(void)
{
	return disk.count;
}

void
power_loss_reset(unsigned nth)
{
	disk.count = 0;
	disk.nth = nth;
	disk.is_dark = false;
	g_hash_table_remove_all(disk.records);
}

bool
power_loss_is_dark(void)
{
	return disk.is_dark;
}

/* Amount of unsynced changes that is still on the disk. */
enum luck { LUCK_NONE, LUCK_ALL, LUCK_PREFIX, LUCK_SECTORS, LUCKS };

static void
settle_file(const char *path, struct record *record, GRand *rand)
{
	enum luck luck = (enum luck)g_rand_int_range(rand, 0, LUCKS);
	guint last = record->changes->len;
	bool is_gone = !record->synced && (luck == LUCK_NONE || g_rand_boolean(rand));

	if (luck == LUCK_NONE)
		last = 0;
	if (luck == LUCK_PREFIX && last)
		last = (guint)g_rand_int_range(rand, 0, (gint32)last + 1);
	if (!record->synced)
		record->synced = g_byte_array_new();
	for (guint i = 0; i < last; i++)
		apply(record->synced, record->changes->pdata[i],
		    luck == LUCK_SECTORS ? rand : NULL);
	if (is_gone) {
		g_unlink(path);
		return;
	}
	g_assert_true(g_file_set_contents_full(path, (const char *)record->synced->data,
	    record->synced->len, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

void
power_loss_settle(GRand *rand)
{
	GHashTableIter at;
	gpointer path, record;

	g_hash_table_iter_init(&at, disk.records);
	while (g_hash_table_iter_next(&at, &path, &record)) {
		g_autofree char *index = NULL;

		settle_file(path, record, rand);
		if (g_str_has_suffix(path, "-wal")) {
			index = g_strdup(path);
			memcpy(index + strlen(index) - 3, "shm", 3);
			g_unlink(index);
		}
	}
	power_loss_reset(0);
}
