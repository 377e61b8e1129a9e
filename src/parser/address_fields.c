/*
 * address_fields.c - addresses, message ids and dates of a header as records.
 */
#include "parser/address_fields.h"

#include <libetpan/mailimf.h>
#include <string.h>

#include "base/bounds.h"
#include "message/address.h"
#include "parser/encoded_word.h"

#define MINUTE_S 60

struct address_list {
	GString *out;
	enum proto_tag tag;
	struct charset_set *charsets;
	unsigned left;
};

static void
append_mailbox(struct address_list *list, const char *spec, const char *name)
{
	g_autofree char *display_name =
	    name ? encoded_word_decode(
	               list->charsets, name, strlen(name), BOUNDS_PERSON_NAME_BYTES)
	         : NULL;
	g_autofree char *record = NULL;
	pb_local(address) address = {0};

	if (list->left == 0 || !spec || !address_parse(spec, &address, NULL))
		return;
	record =
	    g_strdup_printf("%s %s", address.text, display_name ? display_name : "");
	parser_proto_append(list->out, list->tag, record);
	list->left--;
}

static void
append_parsed(struct address_list *list, const clist *addresses)
{
	for (clistiter *i = clist_begin(addresses); i; i = clist_next(i)) {
		const struct mailimf_address *one = clist_content(i);
		const struct mailimf_mailbox_list *members;

		if (one->ad_type == MAILIMF_ADDRESS_MAILBOX) {
			const struct mailimf_mailbox *box = one->ad_data.ad_mailbox;

			append_mailbox(list, box->mb_addr_spec, box->mb_display_name);
			continue;
		}
		members = one->ad_data.ad_group->grp_mb_list;
		if (!members)
			continue;
		for (clistiter *j = clist_begin(members->mb_list); j;
		     j = clist_next(j)) {
			const struct mailimf_mailbox *box = clist_content(j);

			append_mailbox(list, box->mb_addr_spec, box->mb_display_name);
		}
	}
}

/* @return the unfolded value, its bytes unchanged; NULL if empty */
static char *
unfold(const struct headers_entry *entry)
{
	char *value = g_strndup(entry->value, entry->value_size);

	g_strdelimit(value, "\n\t", ' ');
	g_strstrip(value);
	if (value[0] == '\0')
		g_clear_pointer(&value, g_free);
	return value;
}

static void
append_parsed_value(struct address_list *list, const struct headers_entry *entry)
{
	g_autofree char *value = unfold(entry);
	struct mailimf_address_list *parsed = NULL;
	size_t at = 0;

	if (!value || mailimf_address_list_parse(value, strlen(value), &at, &parsed) !=
	                  MAILIMF_NO_ERROR)
		return;
	append_parsed(list, parsed->ad_list);
	mailimf_address_list_free(parsed);
}

unsigned
address_fields_append_mailboxes(GString *out, const GArray *fields, const char *name,
    enum proto_tag tag, struct charset_set *charsets)
{
	struct address_list list = {out, tag, charsets, BOUNDS_MAIL_ADDRESSES};
	unsigned count = 0;

	for (guint i = 0; i < fields->len; i++) {
		const struct headers_entry *entry =
		    &g_array_index(fields, struct headers_entry, i);

		if (!headers_is_named(entry, name))
			continue;
		append_parsed_value(&list, entry);
		count++;
	}
	return count;
}

void
address_fields_append_address(GString *out, const GArray *fields, const char *name,
    enum proto_tag tag, bool has_null)
{
	const struct headers_entry *entry = headers_find(fields, name);
	g_autofree char *value = entry ? unfold(entry) : NULL;
	pb_local(address) address = {0};
	char *spec = value;

	if (!value)
		return;
	if (value[0] == '<' && g_str_has_suffix(value, ">")) {
		spec = value + 1;
		spec[strlen(spec) - 1] = '\0';
	}
	if (spec[0] == '\0' && has_null)
		parser_proto_append(out, tag, "");
	else if (address_parse(spec, &address, NULL))
		parser_proto_append(out, tag, address.text);
}

static bool
is_id(const char *id)
{
	size_t size = strlen(id);

	for (size_t i = 0; i < size; i++)
		if (!g_ascii_isgraph(id[i]))
			return false;
	return size > 0 && size <= BOUNDS_MESSAGE_ID_BYTES;
}

/* More lenient than RFC 5322 section 3.6.4: anything in angle brackets. */
void
address_fields_append_ids(GString *out, const GArray *fields, const char *name,
    enum proto_tag tag, unsigned count)
{
	const struct headers_entry *entry = headers_find(fields, name);
	g_autofree char *value = entry ? unfold(entry) : NULL;
	g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);

	for (const char *at = value ? strchr(value, '<') : NULL; at;
	     at = strchr(at, '<')) {
		size_t size = strcspn(++at, "<>");
		g_autofree char *id = g_strndup(at, size);

		if (at[size] == '>' && is_id(id))
			g_ptr_array_add(ids, g_steal_pointer(&id));
		at += size;
	}
	for (guint i = ids->len > count ? ids->len - count : 0; i < ids->len; i++)
		parser_proto_append(out, tag, ids->pdata[i]);
}

/* The zone is hours and minutes in one number: -330 is 3.5 hours west. */
static bool
parse_date(const struct mailimf_date_time *date, int64_t *at)
{
	int zone_min = date->dt_zone / 100 * 60 + date->dt_zone % 100;
	g_autoptr(GDateTime) time = NULL;

	if (date->dt_year < 1970 || date->dt_year > 9999 || ABS(zone_min) > 24 * 60)
		return false;
	/* A leap second becomes second 59. */
	time = g_date_time_new_utc(date->dt_year, date->dt_month, date->dt_day,
	    date->dt_hour, date->dt_min, MIN(date->dt_sec, 59));
	if (!time)
		return false;
	*at = g_date_time_to_unix(time) - (int64_t)zone_min * MINUTE_S;
	return *at >= 0;
}

void
address_fields_append_date(GString *out, const GArray *fields)
{
	const struct headers_entry *entry = headers_find(fields, "Date");
	g_autofree char *value = entry ? unfold(entry) : NULL;
	struct mailimf_date_time *date = NULL;
	size_t at = 0;
	int64_t time = 0;

	if (!value || mailimf_date_time_parse(value, strlen(value), &at, &date) !=
	                  MAILIMF_NO_ERROR)
		return;
	if (parse_date(date, &time)) {
		g_autofree char *record =
		    g_strdup_printf("%" G_GINT64_FORMAT, (gint64)time);

		parser_proto_append(out, PROTO_TAG_DATE, record);
	}
	mailimf_date_time_free(date);
}
