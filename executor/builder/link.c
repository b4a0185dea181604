/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - links and routes of a box's network namespace, by netlink.
 *
 * Theory of operation.  Linux binds no socket to 0.0.0.0 at a port where any address of that
 * namespace has a listener.  So egress's listeners have a namespace of their own, and a pair of
 * veth devices leads there.  Both devices have one hardware address and no ARP, so a packet needs
 * no question first.  Neither has an address of IPv6, which would send packets by itself.  The far
 * namespace has no other device, so nothing can be forwarded.
 *
 * Trusts only the kernel.  No process of a box may change what is made here, because the builder's
 * user namespace owns both namespaces.
 */
#include "executor/builder/link.h"

#include "common/base/auto.h"
#include "executor/builder/nets.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

enum {
	LOOPBACK = 1,
	DEVICE = 4096,                     /* behind those that a kernel makes by itself */
	MTU = 65535,                       /* as of a loopback: packets stay in memory */
	MADE_UP = 198u << 24 | 18u << 16,  /* egress/network.c: 198.18.0.0 to 198.18.1.255 */
	MADE_UP_BITS = 23,                 /* NETWORK_NAMES fit */
	OWN = 198u << 24 | 19u << 16 | 1u, /* the box's address on the link: 198.19.0.1 */
	MAC_BYTES = 6,
	LOOK_NS = 200000, /* a kernel before 6.8 */
	LOOKS = 500,
};

/* Attributes.  Their sizes are multiples of 4, as the next one begins there. */
struct word {
	struct rtattr head;
	uint32_t value;
};

struct byte {
	struct rtattr head;
	uint8_t value, pad[3];
};

struct text {
	struct rtattr head;
	char value[8];
};

#define ATTRIBUTE(type, size) \
	{ \
		(uint16_t)(sizeof(struct rtattr) + (size)), (type) \
	}
#define WORD(type, value) \
	{ \
		ATTRIBUTE(type, 4), (value) \
	}
#define TEXT(type, text) \
	{ \
		ATTRIBUTE(type, 8), text \
	}

static int
ask(int sock, struct nlmsghdr *head, const char *what, struct err *e)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr body;
		char more[1024];
	} reply;

	if (send(sock, head, head->nlmsg_len, 0) < 0 ||
	    recv(sock, &reply, sizeof reply, 0) < (ssize_t)(sizeof reply.head + sizeof reply.body))
		return err_sys(e, "%s", what);
	errno = -reply.body.error;
	return reply.body.error == 0 ? 0 : err_sys(e, "%s", what);
}

/* A socket belongs to the namespace in which it is made. */
static int
socket_in(int net, struct err *e)
{
	nets_enter(net);

	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	nets_leave();
	return sock >= 0 ? sock : err_sys(e, "a socket for routes");
}

/* ---- devices ---- */

/* One of the pair.  With one queue it costs the same on a machine with many processors. */
struct end {
	struct ifinfomsg link;
	struct text name, address;
	struct word mtu, senders, receivers;
};

static struct end
end_named(const char *name)
{
	struct end end = {
		.link = { .ifi_index = DEVICE,
		    .ifi_flags = IFF_NOARP,
		    .ifi_change = IFF_NOARP | IFF_MULTICAST },
		.name = TEXT(IFLA_IFNAME, ""),
		.address = { ATTRIBUTE(IFLA_ADDRESS, MAC_BYTES), { 2, 0, 0, 0, 0, 1 } },
		.mtu = WORD(IFLA_MTU, MTU),
		.senders = WORD(IFLA_NUM_TX_QUEUES, 1),
		.receivers = WORD(IFLA_NUM_RX_QUEUES, 1),
	};

	snprintf(end.name.value, sizeof end.name.value, "%s", name);
	return end;
}

struct pair {
	struct nlmsghdr head;
	struct end box;
	struct rtattr info;
	struct text kind;
	struct rtattr data, peer;
	struct end far;
	struct word net;
};

/* The second time it is there. */
static int
make_devices(int sock, int far, struct err *e)
{
	struct pair request = {
		.head = { .nlmsg_len = sizeof request,
		    .nlmsg_type = RTM_NEWLINK,
		    .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK },
		.box = end_named("eth0"),
		.info = ATTRIBUTE(IFLA_LINKINFO, sizeof(struct pair) - offsetof(struct pair, kind)),
		.kind = TEXT(IFLA_INFO_KIND, "veth"),
		.data =
		    ATTRIBUTE(IFLA_INFO_DATA, sizeof(struct pair) - offsetof(struct pair, peer)),
		.peer = ATTRIBUTE(VETH_INFO_PEER, sizeof(struct pair) - offsetof(struct pair, far)),
		.far = end_named("box"),
		.net = WORD(IFLA_NET_NS_FD, (uint32_t)far),
	};

	if (ask(sock, &request.head, "make a link to egress", e) < 0 && e->sys != EEXIST)
		return -1;
	return 0;
}

/* Before it is up.  A kernel without IPv6 has nothing to turn off. */
static int
refuse_ipv6(int sock, struct err *e)
{
	struct {
		struct nlmsghdr head;
		struct ifinfomsg link;
		struct rtattr families, family;
		struct byte mode;
	} request = {
		.head = { .nlmsg_len = sizeof request,
		    .nlmsg_type = RTM_SETLINK,
		    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.link = { .ifi_index = DEVICE },
		.families = ATTRIBUTE(IFLA_AF_SPEC, sizeof(struct rtattr) + sizeof(struct byte)),
		.family = ATTRIBUTE(AF_INET6, sizeof(struct byte)),
		.mode = { ATTRIBUTE(IFLA_INET6_ADDR_GEN_MODE, 1), IN6_ADDR_GEN_MODE_NONE, { 0 } },
	};

	if (ask(sock, &request.head, "turn off IPv6 of a link", e) < 0 && e->sys != EAFNOSUPPORT)
		return -1;
	return 0;
}

static int
raise_device(int sock, struct err *e)
{
	struct {
		struct nlmsghdr head;
		struct ifinfomsg link;
	} request = {
		.head = { .nlmsg_len = sizeof request,
		    .nlmsg_type = RTM_SETLINK,
		    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.link = { .ifi_index = DEVICE, .ifi_flags = IFF_UP, .ifi_change = IFF_UP },
	};

	return refuse_ipv6(sock, e) < 0 ? -1 : ask(sock, &request.head, "bring up a link", e);
}

static bool
is_up(const struct nlmsghdr *reply)
{
	const struct rtattr *at = IFLA_RTA(NLMSG_DATA(reply));
	uint32_t left = IFLA_PAYLOAD(reply);

	if (reply->nlmsg_type != RTM_NEWLINK)
		return false;
	for (; RTA_OK(at, left); at = RTA_NEXT(at, left))
		if (at->rta_type == IFLA_OPERSTATE)
			return *(const uint8_t *)RTA_DATA(at) == IF_OPER_UP;
	return false;
}

/* The end that was brought up first waits for a worker of the kernel and loses packets until then,
 * for which TCP waits a second.  Since Linux 6.8 this question makes the kernel do that work. */
static int
await_device(int sock, struct err *e)
{
	const struct {
		struct nlmsghdr head;
		struct ifinfomsg link;
		struct word filter;
	} request = {
		.head = { .nlmsg_len = sizeof request,
		    .nlmsg_type = RTM_GETLINK,
		    .nlmsg_flags = NLM_F_REQUEST },
		.link = { .ifi_index = DEVICE },
		.filter = WORD(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS),
	};
	union {
		struct nlmsghdr head;
		char bytes[8192];
	} reply;

	for (unsigned i = 0; i < LOOKS; i++) {
		ssize_t n = send(sock, &request, sizeof request, 0) < 0
		                ? -1
		                : recv(sock, &reply, sizeof reply, 0);

		if (n < 0)
			return err_sys(e, "look at a link");
		if (NLMSG_OK(&reply.head, n) && is_up(&reply.head))
			return 0;
		nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
	}
	return err_set(e, ERR_unavailable, "a link to egress does not come up");
}

/* ---- addresses ---- */

static int
add_address(int sock, uint32_t address, struct err *e)
{
	struct {
		struct nlmsghdr head;
		struct ifaddrmsg address;
		struct word local;
	} request = {
		.head = { .nlmsg_len = sizeof request,
		    .nlmsg_type = RTM_NEWADDR,
		    .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK },
		.address = { .ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = DEVICE },
		.local = WORD(IFA_LOCAL, htonl(address)),
	};

	return ask(sock, &request.head, "add an address", e);
}

/* type: RTN_LOCAL: the addresses are this namespace's; RTN_UNICAST: they are behind the device. */
static int
add_route(int sock, uint8_t type, uint32_t to, uint8_t bits, uint32_t device, struct err *e)
{
	struct {
		struct nlmsghdr head;
		struct rtmsg route;
		struct word to, device;
	} request = {
		.head = { .nlmsg_len = sizeof request,
		    .nlmsg_type = RTM_NEWROUTE,
		    .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK },
		.route = { .rtm_family = AF_INET,
		    .rtm_dst_len = bits,
		    .rtm_table = type == RTN_LOCAL ? RT_TABLE_LOCAL : RT_TABLE_MAIN,
		    .rtm_protocol = RTPROT_STATIC,
		    .rtm_scope = type == RTN_LOCAL ? RT_SCOPE_HOST : RT_SCOPE_LINK,
		    .rtm_type = type },
		.to = WORD(RTA_DST, htonl(to)),
		.device = WORD(RTA_OIF, device),
	};

	return ask(sock, &request.head, "add a route", e);
}

int
link_alone(int box, struct err *e)
{
	auto_fd int sock = socket_in(box, e);

	return sock < 0 ? -1 : add_route(sock, RTN_LOCAL, MADE_UP, MADE_UP_BITS, LOOPBACK, e);
}

int
link_pair(int box, int far, struct err *e)
{
	auto_fd int here = socket_in(box, e);
	auto_fd int there = here < 0 ? -1 : socket_in(far, e);

	if (there < 0 || make_devices(here, far, e) < 0 || raise_device(there, e) < 0 ||
	    raise_device(here, e) < 0 || await_device(there, e) < 0 ||
	    add_address(here, OWN, e) < 0 ||
	    add_route(here, RTN_UNICAST, MADE_UP, MADE_UP_BITS, DEVICE, e) < 0 ||
	    add_route(there, RTN_LOCAL, MADE_UP, MADE_UP_BITS, DEVICE, e) < 0)
		return -1;
	return add_route(there, RTN_UNICAST, OWN, 32, DEVICE, e);
}
