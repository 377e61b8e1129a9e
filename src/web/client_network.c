/*
 * client_network.c - the network of a client, for limits per network.
 */
#include "web/client_network.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/error.h"

/* Length of the prefix ::ffff:0:0/96 of mapped IPv4 addresses (RFC 4291 section
 * 2.5.5.2). */
#define MAPPED_BITS 96

#define IPV4_BITS 24 /* of a network that counts as one client */
#define IPV6_BITS 48

struct network {
	struct in6_addr address;
	unsigned bits;
};

static struct in6_addr
map_ipv4(const struct in_addr *address)
{
	struct in6_addr mapped = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

	memcpy(&mapped.s6_addr[12], address, sizeof(*address));
	return mapped;
}

static bool
parse_address(const char *text, struct in6_addr *address)
{
	struct in_addr ipv4;

	if (inet_pton(AF_INET, text, &ipv4) != 1)
		return inet_pton(AF_INET6, text, address) == 1;
	*address = map_ipv4(&ipv4);
	return true;
}

static void
mask(struct in6_addr *address, unsigned bits)
{
	for (unsigned i = 0; i < sizeof(address->s6_addr); i++) {
		unsigned left = bits > 8 * i ? MIN(bits - 8 * i, 8) : 0;

		address->s6_addr[i] &= (guint8)(0xff00 >> left);
	}
}

static bool
parse_network(const char *text, struct network *network)
{
	g_auto(GStrv) parts = g_strsplit(text, "/", 2);
	unsigned least = strchr(text, ':') ? 0 : MAPPED_BITS;
	guint64 bits = 128 - least;

	if (!parse_address(parts[0], &network->address) ||
	    (parts[1] &&
	        !g_ascii_string_to_unsigned(parts[1], 10, 0, 128 - least, &bits, NULL)))
		return false;
	network->bits = least + (unsigned)bits;
	mask(&network->address, network->bits);
	return true;
}

GArray *
client_network_parse_proxies(const char *text, GError **error)
{
	g_autoptr(GArray) proxies = g_array_new(FALSE, FALSE, sizeof(struct network));
	g_auto(GStrv) words = g_strsplit_set(text, " \t\n", -1);

	for (char **word = words; *word; word++) {
		struct network network;

		if (!**word)
			continue;
		if (!parse_network(*word, &network)) {
			pb_fail(error, PB_ERROR_INPUT,
			    "'%s' is not an address or a network (expected e.g. "
			    "127.0.0.1 or 2001:db8::/32)",
			    *word);
			return NULL;
		}
		g_array_append_val(proxies, network);
	}
	return g_steal_pointer(&proxies);
}

struct in6_addr
client_network_get_peer(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return map_ipv4(
		    &((const struct sockaddr_in *)(const void *)address)->sin_addr);
	if (address->sa_family == AF_INET6)
		return ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
	return in6addr_loopback;
}

static bool
is_proxy(const GArray *proxies, const struct in6_addr *peer)
{
	for (guint i = 0; i < proxies->len; i++) {
		const struct network *proxy =
		    &g_array_index(proxies, struct network, i);
		struct in6_addr masked = *peer;

		mask(&masked, proxy->bits);
		if (memcmp(&masked, &proxy->address, sizeof(masked)) == 0)
			return true;
	}
	return false;
}

static char *
format_network(struct in6_addr address)
{
	bool is_ipv4 = IN6_IS_ADDR_V4MAPPED(&address);
	unsigned bits = is_ipv4 ? IPV4_BITS : IPV6_BITS;
	char text[INET6_ADDRSTRLEN];

	mask(&address, is_ipv4 ? MAPPED_BITS + bits : bits);
	inet_ntop(is_ipv4 ? AF_INET : AF_INET6,
	    is_ipv4 ? &address.s6_addr[12] : address.s6_addr, text, sizeof(text));
	return g_strdup_printf("%s/%u", text, bits);
}

char *
client_network_find(
    const GArray *proxies, const struct in6_addr *peer, const char *forwarded_for)
{
	const char *comma = forwarded_for ? strrchr(forwarded_for, ',') : NULL;
	g_autofree char *last = g_strdup(comma           ? comma + 1
	                                 : forwarded_for ? forwarded_for
	                                                 : "");
	struct in6_addr client = *peer;

	if (is_proxy(proxies, peer) && !parse_address(g_strstrip(last), &client))
		return g_strdup("");
	return format_network(client);
}
