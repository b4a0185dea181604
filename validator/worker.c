/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c - both sides of a worker process.
 *
 * The two sides share memory and a socket pair.  A side writes a message to the memory and sends
 * its size on the socket; from then on the memory belongs to the other side.  Neither side ever
 * waits for the other to read.
 *
 * The parent does not trust the worker, because the worker reads an attacker's code.  The parent
 * copies each reply and decodes it like a message from the bus.  A worker has access to this memory
 * only.  It sees the texts of one check after another, and never a principal.
 */
#include "validator/worker.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/loop.h"
#include "common/codec/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	ROOM_BYTES = 24 << 20, /* of address space; a page costs memory only when used */
	STACK_BYTES = 8 << 20,
	TRIM_FROM = 64 << 10, /* bytes of a request whose memory is worth returning */
};

struct worker {
	int fd;
	char *room;
	void (*done)(void *self, void *reply, const struct err *);
	void (*died)(void *self);
	void *self;
	enum msg_id message; /* that is being checked */
	bool busy;
};

/* ---- messages ---- */

/* Head of a message; its parts follow one another. */
struct head {
	struct err why; /* ERR_none: a message follows */
	enum msg_id message;
	uint64_t parts, sizes[1 + WIRE_MAX_BLOBS];
};

static int
put_part(char *room, uint64_t *at, const struct blob *part, struct err *e)
{
	struct head *head = (struct head *)room;

	if (part->size > ROOM_BYTES - *at)
		return err_set(e, ERR_limit_exceeded, "the report is too long");
	if (part->size > 0)
		memcpy(room + *at, part->data, part->size);
	head->sizes[head->parts++] = part->size;
	*at += part->size;
	return 0;
}

/* Returns the size of the message. */
static int
put(char *room, enum msg_id id, const struct packed *packed, uint64_t *size, struct err *e)
{
	struct head *head = (struct head *)room;
	int status;

	*size = sizeof *head;
	head->why = (struct err){ 0 };
	head->message = id;
	head->parts = 0;
	status = put_part(room, size, &packed->body, e);
	for (size_t i = 0; i < packed->count && status == 0; i++)
		status = put_part(room, size, &packed->blobs[i], e);
	return status;
}

static int
get_part(const char *room, uint64_t size, uint64_t *at, uint64_t length, struct blob *part)
{
	if (length > size - *at)
		return -1;
	*part = blob_copy(room + *at, length);
	*at += length;
	return part->data != NULL ? 0 : -1;
}

/* room: a copy that only the caller can change, of that size, at least a head's. */
static int
get(const char *room, uint64_t size, struct packed *packed, struct err *e)
{
	const struct head *head = (const struct head *)room;
	uint64_t at = sizeof *head, parts = head->parts;

	*packed = (struct packed){ 0 };
	if (parts < 1 || parts > COUNT(head->sizes) ||
	    (packed->blobs = calloc(parts, sizeof *packed->blobs)) == NULL)
		return err_set(e, ERR_internal, "a message of %u parts", (unsigned)parts);
	if (get_part(room, size, &at, head->sizes[0], &packed->body) < 0)
		return err_set(e, ERR_internal, "a message that is cut short");
	for (; packed->count < parts - 1; packed->count++)
		if (get_part(room, size, &at, head->sizes[packed->count + 1],
			&packed->blobs[packed->count]) < 0)
			return err_set(e, ERR_internal, "a message that is cut short");
	return 0;
}

static int
put_message(char *room, enum msg_id id, void *message, uint64_t *size, struct err *e)
{
	struct packed packed;
	int status = wire_encode(id, message, &packed, e);

	if (status == 0) {
		status = put(room, id, &packed, size, e);
		packed_clear(&packed);
	}
	return status;
}

static int
get_message(const char *room, uint64_t size, enum msg_id id, void *message, struct err *e)
{
	struct packed packed;
	int status = get(room, size, &packed, e);

	if (status == 0)
		status = wire_decode(id, &packed, message, e);
	packed_clear(&packed);
	return status;
}

/* ---- worker side ---- */

static const struct checker *
find_checker(const struct checker *row, enum msg_id message)
{
	while (row->check != NULL && row->message != message)
		row++;
	return row->check != NULL ? row : NULL;
}

static int
check(const struct checker *checker, char *room, uint64_t *size, struct err *e)
{
	enum msg_id id = checker->message, reply_id = messages[id].reply;
	auto_free void *request = calloc(1, messages[id].size);
	auto_free void *reply = calloc(1, messages[reply_id].size);

	must(request != NULL && reply != NULL);
	int status = get_message(room, *size, id, request, e);
	if (status == 0)
		status = checker->check(request, reply, e);
	if (status == 0)
		status = put_message(room, reply_id, reply, size, e);
	message_clear(id, request);
	message_clear(reply_id, reply);
	return status;
}

/* Returns the size of the reply. */
static uint64_t
handle(char *room, uint64_t size, const struct checker *checkers)
{
	const struct checker *checker = find_checker(checkers, ((struct head *)room)->message);
	bool large = size >= TRIM_FROM;
	struct err e;
	int status = checker != NULL ? check(checker, room, &size, &e)
	                             : err_set(&e, ERR_internal, "a message without a checker");

	if (status < 0) {
		((struct head *)room)->why = e;
		size = sizeof(struct head);
	}
	/* The tree of 1 MiB of code takes hundreds of megabytes, which libc would keep. */
	if (large)
		malloc_trim(0);
	return size;
}

/* Serves until the other end is closed. */
static void
serve(const struct worker *w, const struct checker *checkers)
{
	struct err e;
	uint64_t size;

	while (fdio_read(w->fd, &size, sizeof size, &e) == 0) {
		size = handle(w->room, size, checkers);
		if (fdio_write(w->fd, &size, sizeof size, &e) < 0)
			return;
	}
}

/* CPython's parser recurses 6,000 levels deep; 512 KiB of stack were too little. */
static int
have_stack(struct err *e)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) < 0)
		return err_sys(e, "getrlimit stack");
	if (limit.rlim_cur >= STACK_BYTES)
		return 0;
	limit.rlim_cur = STACK_BYTES;
	return setrlimit(RLIMIT_STACK, &limit) < 0 ? err_sys(e, "setrlimit stack") : 0;
}

/* Closes all other descriptors, and dies with its parent. */
static int
leave_parent(const struct worker *w, pid_t parent, struct err *e)
{
	if ((w->fd > 3 && close_range(3, (unsigned)w->fd - 1, 0) < 0) ||
	    close_range((unsigned)w->fd + 1, ~0U, 0) < 0)
		return err_sys(e, "close descriptors");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_sys(e, "set the signal for the parent's death");
	return getppid() == parent ? 0 : err_set(e, ERR_unavailable, "the parent has died");
}

static void
live(const struct worker *w, const struct worker_plan *plan, pid_t parent)
{
	struct err e = { 0 };
	int status = leave_parent(w, parent, &e);

	if (status == 0)
		status = have_stack(&e);
	if (status == 0)
		status = plan->settle(&e);
	if (status == 0)
		e = (struct err){ 0 };
	if (fdio_write(w->fd, &e, sizeof e, &(struct err){ 0 }) == 0 && status == 0)
		serve(w, plan->checkers);
	_exit(0);
}

/* ---- parent side ---- */

static struct worker *
make(struct err *e)
{
	struct worker *w = calloc(1, sizeof *w);

	must(w != NULL);
	w->fd = -1;
	w->room = mmap(NULL, ROOM_BYTES, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w->room != MAP_FAILED)
		return w;
	err_sys(e, "map %d bytes", ROOM_BYTES);
	free(w);
	return NULL;
}

struct worker *
worker_fork(const struct worker_plan *plan, struct err *e)
{
	struct worker *w = make(e);
	pid_t parent = getpid(), pid;
	int ends[2];

	if (w == NULL)
		return NULL;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
		err_sys(e, "socketpair");
		worker_free(w);
		return NULL;
	}
	pid = fork();
	w->fd = ends[pid == 0];
	close(ends[pid != 0]);
	if (pid == 0)
		live(w, plan, parent);
	/* The next worker must not inherit this worker's memory. */
	if (pid > 0 && madvise(w->room, ROOM_BYTES, MADV_DONTFORK) == 0)
		return w;
	err_sys(e, "start a worker process");
	worker_free(w);
	return NULL;
}

int
worker_meet(struct worker *w, struct err *e)
{
	struct err said;

	if (fdio_read(w->fd, &said, sizeof said, e) < 0)
		return err_add(e, "a process that checks");
	if (said.code == ERR_none)
		return 0;
	*e = said;
	return -1;
}

static void
lose(struct worker *w)
{
	struct err e;

	loop_forget(w->fd);
	close(w->fd);
	w->fd = -1;
	w->died(w->self);
	if (!w->busy)
		return;
	w->busy = false;
	err_set(&e, ERR_unavailable, "the worker process that handled this check has ended");
	w->done(w->self, NULL, &e);
}

/* A copy of the reply, which the worker cannot change; NULL: not a message. */
static char *
take(const struct worker *w, uint64_t *size)
{
	if (!w->busy || read(w->fd, size, sizeof *size) != sizeof *size ||
	    *size < sizeof(struct head) || *size > ROOM_BYTES)
		return NULL;

	char *copy = malloc(*size);

	if (copy != NULL)
		memcpy(copy, w->room, *size);
	return copy;
}

/* Decodes the copy of a reply. */
static int
read_reply(const char *room, uint64_t size, enum msg_id id, void *reply, struct err *e)
{
	*e = ((const struct head *)room)->why;
	if (e->code >= ERR_COUNT)
		e->code = ERR_internal;
	e->text[sizeof e->text - 1] = 0;
	return e->code == ERR_none ? get_message(room, size, id, reply, e) : -1;
}

static void
answered(void *self, uint32_t events)
{
	struct worker *w = self;
	enum msg_id id = messages[w->message].reply;
	uint64_t size;
	auto_free char *room = take(w, &size);
	struct err e;

	(void)events;
	if (room == NULL) {
		lose(w);
		return;
	}
	auto_free void *reply = calloc(1, messages[id].size);
	must(reply != NULL);
	int status = read_reply(room, size, id, reply, &e);
	w->busy = false;
	w->done(w->self, status == 0 ? reply : NULL, &e);
	message_clear(id, reply);
}

int
worker_watch(struct worker *w, void (*done)(void *self, void *reply, const struct err *),
    void (*died)(void *self), void *self, struct err *e)
{
	w->done = done;
	w->died = died;
	w->self = self;
	if (fcntl(w->fd, F_SETFL, O_NONBLOCK) < 0)
		return err_sys(e, "fcntl");
	return loop_watch(w->fd, EPOLLIN, answered, w, e);
}

int
worker_give(struct worker *w, enum msg_id id, void *request, struct err *e)
{
	uint64_t size;

	must(!w->busy);
	if (w->fd < 0)
		return err_set(e, ERR_unavailable, "the worker process has ended");
	if (put_message(w->room, id, request, &size, e) < 0)
		return -1;
	message_clear(id, request);
	w->message = id;
	w->busy = true;
	/* If the worker died meanwhile, the loop reports it. */
	if (fdio_write(w->fd, &size, sizeof size, e) < 0)
		*e = (struct err){ 0 };
	return 0;
}

void
worker_free(struct worker *w)
{
	if (w->fd >= 0) {
		loop_forget(w->fd);
		close(w->fd);
	}
	munmap(w->room, ROOM_BYTES);
	free(w);
}
