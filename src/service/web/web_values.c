/*
 * web_values.c - values of a page: names with texts, flags and lists.
 */
#include "service/web/web_values.h"

GVariantBuilder *
web_values_new(void)
{
	return g_variant_builder_new(G_VARIANT_TYPE_VARDICT);
}

void
web_values_add(GVariantBuilder *values, const char *name, const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text ? text : "", -1);

	g_variant_builder_add(values, "{sv}", name, g_variant_new_string(valid));
}

void
web_values_add_number(GVariantBuilder *values, const char *name, int64_t number)
{
	g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, number);

	web_values_add(values, name, text);
}

void
web_values_add_flag(GVariantBuilder *values, const char *name, bool is_set)
{
	g_variant_builder_add(values, "{sv}", name, g_variant_new_boolean(is_set));
}

GVariantBuilder *
web_list_new(void)
{
	return g_variant_builder_new(G_VARIANT_TYPE("aa{sv}"));
}

void
web_list_add(GVariantBuilder *list, GVariantBuilder *item)
{
	g_variant_builder_add_value(list, g_variant_builder_end(item));
	g_variant_builder_unref(item);
}

void
web_values_take(GVariantBuilder *values, const char *name, GVariantBuilder *inner)
{
	g_variant_builder_add(values, "{sv}", name, g_variant_builder_end(inner));
	g_variant_builder_unref(inner);
}
