/* SPDX-License-Identifier: Apache-2.0 */
/* line.c - uses the bus's endpoints and envelopes without its rules.  Runs in tests only. */
#include "tests/hostile/line.h"

#include "common/base/auto.h"
#include "common/bus/endpoint.h"
#include "common/bus/keys.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	QUEUE = 4000,
};

/* The user of this daemon if root started it; NULL: the user of this process. */
static const struct passwd *
user_of(enum peer self)
{
	char name[64];

	snprintf(name, sizeof name, "cloister-%s", edge_peer_name(self));

	const struct passwd *user = geteuid() == 0 ? getpwnam(name) : NULL;

	must(geteuid() != 0 || user != NULL);
	return user;
}

bool
line_is_far(const char *run)
{
	return strncmp(run, "tcp:", 4) == 0;
}

int
line_prepare(const char *run, const struct edge *edge)
{
	if (line_is_far(run))
		return 0;

	const struct passwd *user = user_of(edge->server);
	struct bus_config config = { .self = edge->server, .run = run, .apart = user != NULL };
	struct err e;

	if (user != NULL) {
		config.uid = user->pw_uid;
		config.gid = user->pw_gid;
	}

	auto_fd int directory = endpoint_directory(&config, edge, &e);

	if (directory < 0)
		fprintf(stderr, "%s: %s\n", edge->name, e.text);
	return directory < 0 ? -1 : 0;
}

void
line_become(const char *run, enum peer self)
{
	const struct passwd *user = line_is_far(run) ? NULL : user_of(self);

	if (user != NULL)
		must(initgroups(user->pw_name, user->pw_gid) == 0 &&
		     setresgid(user->pw_gid, user->pw_gid, user->pw_gid) == 0 &&
		     setresuid(user->pw_uid, user->pw_uid, user->pw_uid) == 0);
}

static int
set_key(void *socket, int option, const char *key)
{
	return zmq_setsockopt(socket, option, key, strlen(key));
}

static int
use_keys(struct line *l, const char *directory, enum peer self, struct err *e)
{
	int server = 1;
	struct keys keys;

	if (keys_load(directory, self, &keys, e) < 0)
		return -1;
	if (l->binds)
		must(zmq_setsockopt(l->socket, ZMQ_CURVE_SERVER, &server, sizeof server) == 0);
	else
		must(set_key(l->socket, ZMQ_CURVE_SERVERKEY, keys.peers[l->edge->server]) == 0 &&
		     set_key(l->socket, ZMQ_CURVE_PUBLICKEY, keys.public) == 0);
	must(set_key(l->socket, ZMQ_CURVE_SECRETKEY, keys.secret) == 0);
	return 0;
}

static int
find_place(
    struct line *l, const char *run, enum peer self, char address[ENDPOINT_BYTES], struct err *e)
{
	const char *comma = strchr(run, ',');

	if (!line_is_far(run))
		return endpoint_ipc(run, l->edge, "1", address, e);
	must(comma != NULL);
	snprintf(address, ENDPOINT_BYTES, "%.*s", (int)(comma - run), run);
	return use_keys(l, comma + 1, self, e);
}

int
line_open(struct line *l, const char *run, const struct edge *edge, enum peer self)
{
	static void *context;
	char address[ENDPOINT_BYTES];
	int queue = QUEUE, none = 0;
	struct err e;

	if (context == NULL)
		context = zmq_ctx_new();
	*l = (struct line){ .edge = edge, .binds = edge->server == self };
	umask(0117);
	l->socket = zmq_socket(context, l->binds ? ZMQ_ROUTER : ZMQ_DEALER);
	must(l->socket != NULL);
	if (find_place(l, run, self, address, &e) < 0) {
		fprintf(stderr, "%s: %s\n", edge->name, e.text);
		return -1;
	}
	zmq_setsockopt(l->socket, ZMQ_SNDHWM, &queue, sizeof queue);
	zmq_setsockopt(l->socket, ZMQ_LINGER, &none, sizeof none);
	if ((l->binds ? zmq_bind : zmq_connect)(l->socket, address) == 0)
		return 0;
	fprintf(stderr, "%s: %s\n", address, zmq_strerror(zmq_errno()));
	return -1;
}

void
line_frames(struct line *l, const struct address *to, const struct blob *frames, size_t count)
{
	bool gone = l->binds && zmq_send(l->socket, to->bytes, to->size,
				    ZMQ_DONTWAIT | (count > 0 ? ZMQ_SNDMORE : 0)) < 0;

	for (size_t i = 0; i < count && !gone; i++)
		gone = zmq_send(l->socket, frames[i].data, frames[i].size,
			   ZMQ_DONTWAIT | (i + 1 < count ? ZMQ_SNDMORE : 0)) < 0 &&
		       i == 0;
}

void
line_send(
    struct line *l, const struct address *to, struct envelope envelope, struct packed *content)
{
	auto_free struct blob *frames = calloc(content->count + 2, sizeof *frames);
	struct packed head = line_pack_envelope(envelope);

	must(frames != NULL);
	frames[0] = head.body;
	frames[1] = content->body;
	if (content->count > 0)
		memcpy(frames + 2, content->blobs, content->count * sizeof *frames);
	line_frames(l, to, frames, content->body.data == NULL ? 1 : content->count + 2);
	packed_clear(&head);
	packed_clear(content);
}

struct packed
line_pack_envelope(struct envelope envelope)
{
	struct packed head;
	struct err e;

	must(wire_encode(MSG_envelope, &envelope, &head, &e) == 0);
	return head;
}

struct packed
line_pack_hello(const char *daemon, const char *instance)
{
	struct greeting known[MSG_COUNT];
	struct hello hello = { (char *)daemon, (char *)instance, (char *)CLOISTER_VERSION,
		{ known, 0 } };
	struct packed content;
	struct err e;

	for (enum msg_id m = MSG_none + 1; m < MSG_COUNT; m++)
		known[hello.messages.count++] =
		    (struct greeting){ (char *)messages[m].name, message_hash(m) & INT64_MAX };
	must(wire_encode(MSG_hello, &hello, &content, &e) == 0);
	return content;
}

void
line_hello(
    struct line *l, const struct address *to, uint64_t id, const char *daemon, const char *instance)
{
	struct packed content = line_pack_hello(daemon, instance);

	line_send(l, to,
	    (struct envelope){ .frame = frame_hello, .id = id, .message = (char *)"hello" },
	    &content);
}
