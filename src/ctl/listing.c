/*
 * listing.c - people and their filters as several commands show them.
 */
#include "ctl/listing.h"

#include <stdio.h>

#include "base/error.h"
#include "ctl/print.h"
#include "service/people/filters.h"
#include "service/people/profile.h"

char *
listing_format_rhythm(const struct subscriber *subscriber)
{
	const struct schedule *schedule = &subscriber->schedule;
	g_autofree char *days = schedule->frequency == SCHEDULE_WEEKLY
	                            ? schedule_format_weekdays(schedule->weekdays)
	                            : NULL;

	return g_strdup_printf("%s%s%s at %02d:%02d %s",
	    schedule_frequency_name(schedule->frequency), days ? " on " : "",
	    days ? days : "", schedule->minute / 60, schedule->minute % 60,
	    subscriber->zone);
}

char *
listing_format_state(const struct subscriber *subscriber)
{
	return g_strconcat(subscriber_state_name(subscriber->state),
	    *subscriber->paused_until ? " until " : "", subscriber->paused_until, NULL);
}

static json_t *
json_preferences(const struct subscriber *subscriber)
{
	json_t *object = json_object();

	for (int i = 0; i < PREFERENCE_COUNT; i++)
		json_object_set_new(object, preferences_get_name((enum preference)i),
		    json_string(preferences_get_word(
		        &subscriber->preferences, (enum preference)i)));
	json_object_set_new(object, "language",
	    print_json_text(*subscriber->language ? subscriber->language : NULL));
	return object;
}

json_t *
listing_json_subscriber(const struct subscriber *subscriber)
{
	const struct schedule *schedule = &subscriber->schedule;
	g_autofree char *whole = listing_format_rhythm(subscriber);
	g_autofree char *frequency = profile_format_frequency(schedule);
	g_autofree char *at =
	    g_strdup_printf("%02d:%02d", schedule->minute / 60, schedule->minute % 60);
	const char *until = *subscriber->paused_until ? subscriber->paused_until : NULL;

	return json_pack("{s:s, s:o, s:s, s:o, s:s, s:s, s:s, s:s, s:i, s:o, s:I, s:o, "
	                 "s:o, s:o}",
	    "address", subscriber->address, "name", print_json_text(subscriber->name),
	    "state", subscriber_state_name(subscriber->state), "paused_until",
	    print_json_text(until), "rhythm", whole, "cadence", frequency, "at", at,
	    "zone", subscriber->zone, "max", subscriber->max_full, "next_due_at",
	    print_json_number(subscriber->next_due_at), "created_at",
	    (json_int_t)subscriber->created_at, "consent_at",
	    print_json_number(subscriber->consent_at), "consent",
	    print_json_text(subscriber->consent_text), "choices",
	    json_preferences(subscriber));
}

void
listing_print_subscriber(const struct subscriber *subscriber)
{
	g_autofree char *state = listing_format_state(subscriber);
	g_autofree char *schedule = listing_format_rhythm(subscriber);
	g_autofree char *due = ctl_format_time(subscriber->next_due_at);
	g_autofree char *added = ctl_format_time(subscriber->created_at);
	g_autofree char *agreed = ctl_format_time(subscriber->consent_at);
	g_autofree char *choices = profile_format_preferences(subscriber);

	printf("address      %s\nname         %s\nstate        %s\nrhythm       %s\n"
	       "max          %d papers with abstract\n"
	       "choices      %s\nnext digest  %s\n"
	       "added        %s\nconsent      %s: %s\n",
	    subscriber->address, subscriber->name ? subscriber->name : "-", state,
	    schedule, subscriber->max_full, choices ? choices : "-", due, added, agreed,
	    subscriber->consent_text ? subscriber->consent_text : "-");
}

json_t *
listing_json_filters(const GPtrArray *filters)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < filters->len; i++) {
		const struct subscription *filter = filters->pdata[i];

		json_array_append_new(list,
		    json_pack("{s:i, s:b, s:o, s:s, s:s, s:s, s:o, s:o}", "number",
		        filter->number, "block", (int)filter->is_block, "name",
		        print_json_text(filter->name), "text", filter->text,
		        "canonical", filter->canonical, "since", filter->since_day,
		        "max",
		        print_json_number(filter->max_papers ? filter->max_papers : -1),
		        "note", print_json_text(filter->note)));
	}
	return list;
}

void
listing_print_filters(const GPtrArray *filters)
{
	g_autoptr(GPtrArray) rows =
	    g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);

	if (!filters->len) {
		puts("No filters: nothing will be found. paperboyctl filter add");
		return;
	}
	g_ptr_array_add(
	    rows, print_row("NO", "KIND", "NAME", "MAX", "FILTER", "MEANS", NULL));
	for (unsigned i = 0; i < filters->len; i++) {
		const struct subscription *filter = filters->pdata[i];
		g_autofree char *number = g_strdup_printf("%d", filter->number);
		g_autofree char *max = filter->max_papers
		                           ? g_strdup_printf("%d", filter->max_papers)
		                           : g_strdup("-");

		g_ptr_array_add(
		    rows, print_row(number, filter->is_block ? "block" : "filter",
		              filter->name ? filter->name : "-", max, filter->text,
		              filter->canonical, NULL));
		if (filter->note)
			g_ptr_array_add(rows,
			    print_row("", "note", "", "", filter->note, "", NULL));
	}
	print_table(rows);
}

bool
listing_parse_number(const char *address, const char *text, int *number, GError **error)
{
	guint64 parsed = 0;

	if (!g_ascii_string_to_unsigned(
	        text, 10, 1, FILTERS_NUMBER_MAX, &parsed, NULL)) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "'%s' is no filter number: paperboyctl filter list %s tells them",
		    text, address);
		return false;
	}
	*number = (int)parsed;
	return true;
}
