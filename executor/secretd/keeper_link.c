/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper_link.c - starts the keeper and sends it orders.
 *
 * The keeper never waits for this process, so an order can wait for the keeper. For that, no more
 * answers may be due than fit into the socket.
 *
 * Trusts the keeper's answers to be certificates, and nothing else.
 */
#include "executor/secretd/keeper_link.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/loop.h"
#include "common/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>

enum {
	DUE = 4, /* answers of 17 KiB, in a buffer of 208 KiB */
};

static struct {
	int sock;
	size_t due;
	void (*answered)(const struct order_answer *);
	void (*ended)(void);
} self = { .sock = -1 };

/* ---- start ---- */

/* Closes all other descriptors, and dies with its parent. */
static int
leave_parent(int sock, pid_t parent, struct err *e)
{
	if ((sock > 3 && close_range(3, (unsigned)sock - 1, 0) < 0) ||
	    close_range((unsigned)sock + 1, ~0U, 0) < 0)
		return err_sys(e, "close descriptors");
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_sys(e, "set the signal for the parent's death");
	return getppid() == parent ? 0 : err_set(e, ERR_unavailable, "the parent has died");
}

static void
live(int sock, struct keeper_plan *plan, pid_t parent)
{
	struct err e = { 0 };
	int status = leave_parent(sock, parent, &e), leash[2];

	if (status == 0 && pipe2(leash, O_CLOEXEC) < 0)
		status = err_sys(&e, "pipe");
	if (status == 0)
		status = daemon_confine(keeper_calls, &e);
	if (status == 0)
		e = (struct err){ 0 };
	if (fdio_write(sock, &e, sizeof e, &(struct err){ 0 }) == 0 && status == 0)
		keeper_serve(sock, leash, plan);
	credentials_clear(&plan->credentials);
	_exit(0);
}

static int
meet(struct err *e)
{
	struct err said;

	if (fdio_read(self.sock, &said, sizeof said, e) < 0)
		return err_add(e, "the keeper of credentials");
	if (said.code == ERR_none)
		return 0;
	*e = said;
	return -1;
}

int
keeper_link_open(struct keeper_plan *plan, struct err *e)
{
	pid_t parent = getpid(), pid;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_sys(e, "socketpair");
	pid = fork();
	self.sock = ends[pid == 0];
	close(ends[pid != 0]);
	if (pid == 0)
		live(self.sock, plan, parent);
	credentials_clear(&plan->credentials);
	return pid < 0 ? err_sys(e, "start the keeper of credentials") : meet(e);
}

/* ---- answers ---- */

/* flags: of recvmsg(2). false: there is none. */
static bool
take_answer(int flags)
{
	static struct order_answer answer;
	ssize_t n = fdio_receive(self.sock, &answer, sizeof answer, NULL, NULL, flags);

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n != (ssize_t)sizeof answer || self.due == 0) {
		loop_forget(self.sock);
		close(take_fd(&self.sock));
		self.due = 0;
		self.ended();
		return false;
	}
	self.due--;
	answer.run[ORDER_RUN - 1] = answer.certificate[ORDER_PEM - 1] = '\0';
	self.answered(&answer);
	return true;
}

static void
on_answers(void *unused, uint32_t events)
{
	(void)unused;
	(void)events;
	while (self.sock >= 0 && take_answer(MSG_DONTWAIT))
		;
}

int
keeper_link_start(void (*answered)(const struct order_answer *), void (*ended)(void), struct err *e)
{
	self.answered = answered;
	self.ended = ended;
	return self.sock < 0 ? 0 : loop_watch(self.sock, EPOLLIN, on_answers, NULL, e);
}

/* ---- orders ---- */

static int
order(const struct order *order, const int *fds, size_t nfds, struct err *e)
{
	if (self.sock >= 0 &&
	    fdio_send(self.sock, order, sizeof *order, fds, nfds) == (ssize_t)sizeof *order)
		return 0;
	return err_set(e, ERR_unavailable, "the keeper of credentials has ended");
}

static void
copy(char *to, size_t room, const char *from)
{
	must(strlen(from) < room);
	memcpy(to, from, strlen(from) + 1);
}

int
keeper_link_serve(const char *run, const struct texts *names, struct err *e)
{
	struct order serve = { .kind = ORDER_SERVE, .nnames = (uint32_t)names->count };

	must(names->count <= ORDER_NAMES);
	copy(serve.run, sizeof serve.run, run);
	for (size_t i = 0; i < names->count; i++)
		copy(serve.names[i], sizeof serve.names[i], names->items[i]);
	while (self.due == DUE && take_answer(0))
		;
	if (order(&serve, NULL, 0, e) < 0)
		return -1;
	self.due++;
	return 0;
}

void
keeper_link_end(const char *run)
{
	struct order end = { .kind = ORDER_END };
	struct err e;

	copy(end.run, sizeof end.run, run);
	order(&end, NULL, 0, &e);
}

int
keeper_link_connect(const char *run, const char *name, const int fds[2], struct err *e)
{
	struct order connect = { .kind = ORDER_CONNECT, .nnames = 1 };

	copy(connect.run, sizeof connect.run, run);
	copy(connect.names[0], sizeof connect.names[0], name);
	return order(&connect, fds, 2, e);
}

void
keeper_link_close(void)
{
	if (self.sock < 0)
		return;
	loop_forget(self.sock);
	close(take_fd(&self.sock));
}
