/*
 * msg.c - translatable messages: an English text and its arguments.
 */
#include "base/msg.h"

#include <string.h>

static const char *
find_value(const char *const *args, const char *name, size_t size)
{
	for (; *args; args += 2)
		if (strlen(args[0]) == size && memcmp(args[0], name, size) == 0)
			return args[1];
	return NULL;
}

const char *
msg_get_arg(const struct msg *msg, const char *name)
{
	return find_value((const char *const *)msg->args, name, strlen(name));
}

char *
msg_fill(const char *text, const char *const *args)
{
	GString *out = g_string_new(NULL);

	while (*text) {
		const char *end = *text == '{' ? strchr(text, '}') : NULL;
		const char *value =
		    end ? find_value(args, text + 1, (size_t)(end - text - 1)) : NULL;

		if (value) {
			g_string_append(out, value);
			text = end + 1;
		} else {
			g_string_append_c(out, *text++);
		}
	}
	return g_string_free(out, FALSE);
}

/* @param count  -1 unless the source is a PL_() */
static struct msg *
new_msg(const char *source, int64_t count, va_list args)
{
	struct msg *msg = g_atomic_rc_box_new0(struct msg);
	GPtrArray *strings = g_ptr_array_new();
	const char *name;

	while ((name = va_arg(args, const char *))) {
		g_ptr_array_add(strings, g_strdup(name));
		g_ptr_array_add(strings, g_strdup(va_arg(args, const char *)));
	}
	if (count >= 0) {
		g_ptr_array_add(strings, g_strdup("count"));
		g_ptr_array_add(strings, g_strdup(MSG_INT(count)));
	}
	g_ptr_array_add(strings, NULL);
	msg->source = source;
	msg->count = count;
	msg->args = (char **)g_ptr_array_free(strings, FALSE);
	msg->text = msg_format(msg, NULL);
	return msg;
}

struct msg *
msg_new_valist(const char *source, va_list args)
{
	return new_msg(source, -1, args);
}

struct msg *
msg_new(const char *source, ...)
{
	struct msg *msg;
	va_list args;

	va_start(args, source);
	msg = new_msg(source, -1, args);
	va_end(args);
	return msg;
}

struct msg *
msg_new_count(const char *source, int64_t count, ...)
{
	struct msg *msg;
	va_list args;

	va_start(args, count);
	msg = new_msg(source, count, args);
	va_end(args);
	return msg;
}

static void
clear(void *data)
{
	struct msg *msg = data;

	g_strfreev(msg->args);
	g_free(msg->text);
}

struct msg *
msg_ref(struct msg *msg)
{
	return g_atomic_rc_box_acquire(msg);
}

void
msg_unref(struct msg *msg)
{
	if (msg)
		g_atomic_rc_box_release_full(msg, clear);
}

char *
msg_format(const struct msg *msg, const struct po *po)
{
	const char *text = msg->count < 0 ? po_get(po, msg->source)
	                                  : po_get_count(po, msg->source, msg->count);

	return msg_fill(text, (const char *const *)msg->args);
}

const char *
msg_write_int(char buffer[MSG_INT_BYTES], int64_t number)
{
	g_snprintf(buffer, MSG_INT_BYTES, "%" G_GINT64_FORMAT, number);
	return buffer;
}
