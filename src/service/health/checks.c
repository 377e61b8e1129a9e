/*
 * checks.c - add the findings of the checks.
 */
#include "service/health/checks.h"

#include <string.h>

static struct health_finding *G_GNUC_PRINTF(2, 0)
    add_finding(struct health *health, const char *format, va_list args)
{
	struct health_finding *finding = g_new0(struct health_finding, 1);
	g_autofree char *text = g_strdup_vprintf(format, args);

	finding->check = health->check;
	finding->name = g_strdup(health->check->name);
	finding->since = -1;
	finding->text = g_utf8_make_valid(text, -1);
	g_ptr_array_add(health->findings, finding);
	return finding;
}

/* @param action  as of health_add() */
static const char *
choose_action(const struct health *health, const char *action)
{
	if (!action)
		action = health->check->action;
	g_assert(action);
	return *health->options->settings->store_url &&
	               strstr(action, CHECKS_RESTORE_ACTION)
	           ? CHECKS_SERVER_ACTION
	           : action;
}

struct health_finding *
health_add(struct health *health, const char *action, const char *format, ...)
{
	struct health_finding *finding;
	va_list args;

	va_start(args, format);
	finding = add_finding(health, format, args);
	va_end(args);
	finding->action = g_strdup(choose_action(health, action));
	return finding;
}

struct health_finding *
health_add_ok(struct health *health, const char *format, ...)
{
	struct health_finding *finding;
	va_list args;

	va_start(args, format);
	finding = add_finding(health, format, args);
	va_end(args);
	return finding;
}
