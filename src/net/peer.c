/*
 * peer.c - recognise public IP addresses.
 */
#include "net/peer.h"

#include <gio/gio.h>

/* Their addresses contain one of IPv4. */
static const struct {
	const char *network;
	size_t offset; /* of the four bytes */
} embedding[] = {
    {"::ffff:0:0/96", 12}, /* mapped */
    {"64:ff9b::/96", 12},  /* NAT64 */
    {"2002::/16", 2},      /* 6to4 */
};

static const char *const special[] = {
    "0.0.0.0/8",                         /* this network */
    "10.0.0.0/8",                        /* private */
    "100.64.0.0/10",                     /* shared, carrier-grade NAT */
    "127.0.0.0/8",                       /* loopback */
    "169.254.0.0/16",                    /* link-local, clouds' metadata */
    "172.16.0.0/12",                     /* private */
    "192.0.0.0/24",                      /* protocol assignments */
    "192.0.2.0/24",                      /* documentation */
    "192.88.99.0/24",                    /* 6to4 relays */
    "192.168.0.0/16",                    /* private */
    "198.18.0.0/15",                     /* benchmarking */
    "198.51.100.0/24",                   /* documentation */
    "203.0.113.0/24",                    /* documentation */
    "224.0.0.0/3",                       /* multicast, reserved, broadcast */
    "::/3",                              /* all but 2000::/3 */
    "4000::/2", "8000::/1", "2001::/23", /* protocol assignments, Teredo */
    "2001:db8::/32",                     /* documentation */
    "3fff::/20",                         /* documentation */
};

static bool
is_in(GInetAddress *address, const char *network)
{
	g_autoptr(GInetAddressMask) mask =
	    g_inet_address_mask_new_from_string(network, NULL);

	return g_inet_address_mask_matches(mask, address);
}

static bool
is_public(GInetAddress *address)
{
	for (size_t i = 0; i < G_N_ELEMENTS(embedding); i++) {
		g_autoptr(GInetAddress) inner = NULL;

		if (!is_in(address, embedding[i].network))
			continue;
		inner = g_inet_address_new_from_bytes(
		    g_inet_address_to_bytes(address) + embedding[i].offset,
		    G_SOCKET_FAMILY_IPV4);
		return is_public(inner);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(special); i++)
		if (is_in(address, special[i]))
			return false;
	return true;
}

bool
peer_is_public(const struct sockaddr *address, socklen_t length)
{
	g_autoptr(GSocketAddress) peer =
	    g_socket_address_new_from_native((gpointer)address, length);

	return G_IS_INET_SOCKET_ADDRESS(peer) &&
	       is_public(
	           g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(peer)));
}
