/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw_peer.c - a compromised daemon that implements ZeroMQ's protocol (ZMTP 3.0) itself, to do
 * what libzmq does not.
 *
 *     raw_peer EXECUTOR RUN TRICK [GATEWAY]
 *
 * drip: sends a byte at a time; endless: sends a hello, and then one message whose parts do not
 * end; oversized: sends a hello, and then a part of 2^62 bytes; bulky: sends a hello, and then
 * replies to no request, of 200 MB each; silent: accepts and sends nothing; mute: sends a hello,
 * and then nothing.
 *
 * With a GATEWAY, RUN may be tcp://127.0.0.1:port, for which it has no key, so that everything
 * after the first 64 bytes breaks the handshake: announce: many connections, each with the size of
 * a part that does not follow; noise: random bytes.
 */
#include "tests/hostile/line.h"

#include "common/base/auto.h"
#include "common/bus/endpoint.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	FLAG_MORE = 1,
	FLAG_LONG = 2,
	FLAG_COMMAND = 4,
	PART = 1 << 20,
	BULK = 200 << 20,
	PAUSE_US = 3000, /* between parts, so that the process of the test does not run out of
	                    memory either */
	GREETINGS = 8,   /* one of them has the number that the other side expects */
};

struct raw_trick {
	const char *name;
	int connections; /* concurrent connections of a client */
	bool greets, drips;
	void (*begin)(int fd); /* NULL: sends nothing */
	void (*go_on)(int fd);
};

static const struct raw_trick *trick;
static const char *self;
static bool far;

static void
put(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		size_t n = trick->drips ? 1 : size;
		ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);

		if (sent <= 0 && trick->connections > 1)
			return; /* other connections remain */
		if (sent <= 0)
			_exit(0);
		at += sent;
		size -= (size_t)sent;
		if (n < size)
			usleep(50000);
	}
}

static void
put_head(int fd, uint8_t flags, uint64_t size)
{
	uint8_t head[9] = { flags | FLAG_LONG };

	for (int i = 0; i < 8; i++)
		head[1 + i] = (uint8_t)(size >> (56 - 8 * i));
	put(fd, head, sizeof head);
}

static void
put_frame(int fd, uint8_t flags, const void *data, size_t size)
{
	put_head(fd, flags, size);
	put(fd, data, size);
}

static void
shake_hands(int fd)
{
	static const uint8_t greeting[64] = { 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0, 'N', 'U',
		'L', 'L' };
	static const uint8_t secret[64] = { 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0, 'C', 'U', 'R',
		'V', 'E' };
	static const char ready[] = "\5READY\13Socket-Type\0\0\0\6ROUTER";

	put(fd, far ? secret : greeting, sizeof greeting);
	if (!far)
		put_frame(fd, FLAG_COMMAND, ready, sizeof ready - 1);
}

/* The reply to a hello is only accepted after the other side's hello. */
static void
greet(int fd)
{
	usleep(200000);
	for (uint64_t id = 1; id <= GREETINGS; id++) {
		struct packed hello = line_pack_hello(self, "1");
		struct packed head = line_pack_envelope((struct envelope){
		    .frame = frame_hello, .id = id, .message = (char *)"hello" });

		put_frame(fd, FLAG_MORE, head.body.data, head.body.size);
		put_frame(fd, 0, hello.body.data, hello.body.size);
		packed_clear(&head);
		packed_clear(&hello);
	}
}

static void
be_endless(int fd)
{
	struct packed head = line_pack_envelope((struct envelope){ .frame = frame_reply, .id = 1 });
	auto_free char *bytes = calloc(1, PART);

	must(bytes != NULL);
	put_frame(fd, FLAG_MORE, head.body.data, head.body.size);
	for (;;) {
		put_frame(fd, FLAG_MORE, bytes, PART);
		usleep(PAUSE_US);
	}
}

/* Unrequested complete messages of the maximum size, one after the other. */
static void
be_bulky(int fd)
{
	struct packed head = line_pack_envelope((struct envelope){ .frame = frame_reply, .id = 1 });
	auto_free char *bytes = calloc(1, BULK);

	must(bytes != NULL);
	for (;;) {
		put_frame(fd, FLAG_MORE, head.body.data, head.body.size);
		put_frame(fd, FLAG_MORE, "\x80", 1);
		put_frame(fd, 0, bytes, BULK);
	}
}

static void
be_oversized(int fd)
{
	put_head(fd, 0, UINT64_C(1) << 62);
}

/* From large to small: the small ones take the memory that the large ones leave. */
static void
announce(int fd)
{
	static const uint64_t sizes[] = { 255 << 20, 64 << 20, 16 << 20, 4 << 20, 1 << 20,
		200 << 10, 140 << 10, 60 << 10, 60 << 10, 9000, 9000, 9000 };
	static size_t n;

	put_head(fd, FLAG_COMMAND, sizes[n++ * COUNT(sizes) / (size_t)trick->connections]);
}

static void
make_noise(int fd)
{
	struct dice dice = { (uint64_t)getpid() };
	uint64_t bytes[64];

	for (size_t i = 0; i < COUNT(bytes); i++)
		bytes[i] = dice_roll(&dice);
	put(fd, bytes, 1 + dice_below(&dice, sizeof bytes));
}

/* clang-format off */
static const struct raw_trick raw_tricks[] = {
	{ "silent",      1, false, false, NULL,        NULL },
	{ "drip",        1, false, true,  shake_hands, NULL },
	{ "mute",        1, true,  false, shake_hands, NULL },
	{ "endless",     1, true,  false, shake_hands, be_endless },
	{ "bulky",       1, true,  false, shake_hands, be_bulky },
	{ "oversized",   1, true,  false, shake_hands, be_oversized },
	{ "announce",  480, false, false, shake_hands, announce },
	{ "noise",      20, false, false, shake_hands, make_noise },
};
/* clang-format on */

static void
play(int fd)
{
	if (trick->begin != NULL)
		trick->begin(fd);
	if (trick->greets)
		greet(fd);
	if (trick->go_on != NULL)
		trick->go_on(fd);
}

static _Noreturn void
play_and_wait(int fd)
{
	play(fd);
	for (char byte; recv(fd, &byte, 1, 0) > 0;)
		continue;
	_exit(0);
}

static void
name(struct sockaddr_un *at, const char *run, const struct edge *edge)
{
	*at = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(at->sun_path, sizeof at->sun_path, "%s/%s/1", run, edge->name);
}

static int
listen_at(const char *run, const struct edge *edge)
{
	struct sockaddr_un at;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	name(&at, run, edge);
	unlink(at.sun_path);
	must(fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 16) == 0);
	return fd;
}

static int
serve(const char *run, enum peer peer)
{
	struct pollfd at[PEER_COUNT];
	nfds_t count = 0;

	for (const struct edge *edge = edges; edge < edges + edges_count; edge++)
		if (edge->server == peer && line_prepare(run, edge) < 0)
			return 1;
	line_become(run, peer);
	umask(0117);
	for (const struct edge *edge = edges; edge < edges + edges_count; edge++)
		if (edge->server == peer)
			at[count++] = (struct pollfd){ listen_at(run, edge), POLLIN, 0 };
	while (poll(at, count, -1) >= 0)
		for (nfds_t i = 0; i < count; i++) {
			int fd = at[i].revents != 0 ? accept(at[i].fd, NULL, NULL) : -1;

			if (fd >= 0 && fork() == 0)
				play_and_wait(fd);
			if (fd >= 0)
				close(fd);
		}
	return 0;
}

static int
connect_to(const char *run, const struct edge *edge)
{
	struct sockaddr_in port = { .sin_family = AF_INET };
	struct sockaddr_un at;
	int fd = socket(far ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int rc;

	port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (far)
		port.sin_port = htons((uint16_t)strtoul(strrchr(run, ':') + 1, NULL, 10));
	else
		name(&at, run, edge);
	rc = far ? connect(fd, (struct sockaddr *)&port, sizeof port)
	         : connect(fd, (struct sockaddr *)&at, sizeof at);
	if (rc == 0)
		return fd;
	close(fd);
	return -1;
}

static _Noreturn void
play_all(const char *run, const struct edge *edge)
{
	int fd = -1;

	for (int i = 0; i < trick->connections; i++)
		if ((fd = connect_to(run, edge)) >= 0 && trick->connections > 1)
			play(fd);
	if (trick->connections == 1 && fd >= 0)
		play_and_wait(fd);
	usleep(300000);
	_exit(0);
}

/* Reconnects whenever a connection is closed. */
static _Noreturn void
call(const char *run, const struct edge *edge)
{
	line_become(run, edge->client);
	for (;;) {
		if (fork() == 0)
			play_all(run, edge);
		while (wait(NULL) > 0)
			continue;
		usleep(100000);
	}
}

int
main(int argc, char **argv)
{
	enum peer peer = argc < 4 || argc > 5 ? PEER_none : edge_peer_parse(argv[1]);
	const struct edge *edge = argc == 5 ? edge_find(edge_peer_parse(argv[4]), peer) : NULL;

	for (size_t i = 0; argc >= 4 && i < COUNT(raw_tricks); i++)
		if (strcmp(raw_tricks[i].name, argv[3]) == 0)
			trick = &raw_tricks[i];
	if (peer == PEER_none || trick == NULL || (argc == 5 && edge == NULL)) {
		fprintf(stderr, "usage: raw_peer DAEMON RUN TRICK [CLIENT]\n");
		return 2;
	}
	self = argv[argc == 5 ? 4 : 1];
	far = line_is_far(argv[2]);
	if (edge != NULL)
		call(argv[2], edge);
	signal(SIGCHLD, SIG_IGN);
	return serve(argv[2], peer);
}
