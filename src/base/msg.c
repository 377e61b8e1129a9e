/*
 * msg.c - translatable messages: an id and its arguments.
 */
#include "base/msg.h"

#include <string.h>

static const char *const english[MSG_COUNT] = {
#define MSG(id, text) [MSG_##id] = (text),
#include "base/msg_table.h"
#undef MSG
};

static const char *const names[MSG_COUNT] = {
#define MSG(id, text) [MSG_##id] = #id,
#include "base/msg_table.h"
#undef MSG
};

const char *
msg_get_english(enum msg_id id)
{
	return english[id];
}

char *
msg_format_name(enum msg_id id)
{
	g_autofree char *name = g_ascii_strdown(names[id], -1);

	return g_strconcat("msg.", name, NULL);
}

static const char *
find_value(const char *const *args, const char *name, size_t size)
{
	for (; *args; args += 2)
		if (strlen(args[0]) == size && memcmp(args[0], name, size) == 0)
			return args[1];
	return NULL;
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

struct msg *
msg_new_valist(enum msg_id id, va_list args)
{
	struct msg *msg = g_atomic_rc_box_new0(struct msg);
	GPtrArray *strings = g_ptr_array_new();
	const char *name;

	while ((name = va_arg(args, const char *))) {
		g_ptr_array_add(strings, g_strdup(name));
		g_ptr_array_add(strings, g_strdup(va_arg(args, const char *)));
	}
	g_ptr_array_add(strings, NULL);
	msg->id = id;
	msg->args = (char **)g_ptr_array_free(strings, FALSE);
	msg->text = msg_format(msg, NULL);
	return msg;
}

struct msg *
msg_new(enum msg_id id, ...)
{
	struct msg *msg;
	va_list args;

	va_start(args, id);
	msg = msg_new_valist(id, args);
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
msg_format(const struct msg *msg, const char *const *texts)
{
	return msg_fill(
	    texts ? texts[msg->id] : english[msg->id], (const char *const *)msg->args);
}

const char *
msg_write_int(char buffer[MSG_INT_BYTES], int64_t number)
{
	g_snprintf(buffer, MSG_INT_BYTES, "%" G_GINT64_FORMAT, number);
	return buffer;
}
