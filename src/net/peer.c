/*
 * peer.c - recognise public IP addresses.
 */
#include "net/peer.h"

#include <glib.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

static const struct {
	uint32_t prefix;
	unsigned bits;
} special4[] = {
    {0x00000000, 8},  /* this network */
    {0x0a000000, 8},  /* private */
    {0x64400000, 10}, /* shared, carrier-grade NAT */
    {0x7f000000, 8},  /* loopback */
    {0xa9fe0000, 16}, /* link-local, clouds' metadata */
    {0xac100000, 12}, /* private */
    {0xc0000000, 24}, /* protocol assignments */
    {0xc0000200, 24}, /* documentation */
    {0xc0586300, 24}, /* 6to4 relays */
    {0xc0a80000, 16}, /* private */
    {0xc6120000, 15}, /* benchmarking */
    {0xc6336400, 24}, /* documentation */
    {0xcb007100, 24}, /* documentation */
    {0xe0000000, 4},  /* multicast */
    {0xf0000000, 4},  /* reserved, broadcast */
};

/* Within 2000::/3; everything outside is special. */
static const struct {
	uint8_t prefix[4];
	unsigned bits;
} special6[] = {
    {{0x20, 0x01, 0x00, 0x00}, 23}, /* protocol assignments, Teredo */
    {{0x20, 0x01, 0x0d, 0xb8}, 32}, /* documentation */
    {{0x3f, 0xff, 0x00, 0x00}, 20}, /* documentation */
};

static bool
is_public4(uint32_t address)
{
	for (size_t i = 0; i < G_N_ELEMENTS(special4); i++)
		if ((address ^ special4[i].prefix) >> (32 - special4[i].bits) == 0)
			return false;
	return true;
}

static uint32_t
read32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 |
	       at[3];
}

static bool
is_public6(const uint8_t bytes[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	static const uint8_t nat64[12] = {0x00, 0x64, 0xff, 0x9b};

	if (!memcmp(bytes, mapped, 12) || !memcmp(bytes, nat64, 12))
		return is_public4(read32(bytes + 12));
	if (bytes[0] == 0x20 && bytes[1] == 0x02)
		return is_public4(read32(bytes + 2));
	if (bytes[0] >> 5 != 1)
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(special6); i++)
		if ((read32(bytes) ^ read32(special6[i].prefix)) >>
		        (32 - special6[i].bits) ==
		    0)
			return false;
	return true;
}

bool
peer_is_public(const struct sockaddr *address, socklen_t length)
{
	if (address->sa_family == AF_INET && length >= sizeof(struct sockaddr_in)) {
		struct sockaddr_in in;

		memcpy(&in, address, sizeof(in));
		return is_public4(ntohl(in.sin_addr.s_addr));
	}
	if (address->sa_family == AF_INET6 && length >= sizeof(struct sockaddr_in6)) {
		struct sockaddr_in6 in6;

		memcpy(&in6, address, sizeof(in6));
		return is_public6(in6.sin6_addr.s6_addr);
	}
	return false;
}
