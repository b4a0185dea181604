/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper.c - runs, their certificates, and the processes of their connections.
 *
 * Theory of operation.  The daemon, which speaks ZeroMQ, forks this process before its own jail and
 * forgets the credentials.  An order serves a run: an authority is made, it issues a certificate
 * for each bound name, and its key is wiped.  A connection gets a process, which wipes all but the
 * one credential and the one certificate, gives up the system calls that it does not need, and only
 * then reads a byte.  The end of a run kills its processes.
 *
 * Trusts the daemon for which run a connection belongs to, but issues certificates for names that
 * have credentials only.
 */
#include "executor/secretd/keeper.h"

#include "common/base/auto.h"
#include "common/base/fdio.h"
#include "common/base/log.h"
#include "common/jail/seccomp.h"
#include "executor/secretd/authority.h"
#include "executor/secretd/connection.h"
#include "executor/secretd/order.h"

#include <errno.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <sodium.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum {
	REAP_MS = 1000,
};

struct run {
	struct run *next;
	char id[ORDER_RUN];
	size_t nnames;
	char names[ORDER_NAMES][DOMAIN_NAME];
	gnutls_certificate_credentials_t fronts[ORDER_NAMES];
};

struct child {
	pid_t pid;
	char run[ORDER_RUN];
};

static struct {
	int sock, leash[2];
	struct keeper_plan *plan;
	struct run *runs;
	size_t nruns;
	struct child children[KEEPER_CONNECTIONS];
	size_t nchildren;
} self;

const int keeper_calls[] = {
#define ALLOW(name)  SCMP_SYS(name),
#define KEEPER(name) SCMP_SYS(name),
#include "executor/secretd/keeper.def"
	-1,
};

const int keeper_given_up[] = {
#define ALLOW(name)
#define KEEPER(name) SCMP_SYS(name),
#include "executor/secretd/keeper.def"
	-1,
};

/* ---- runs ---- */

static struct run **
find(const char *id)
{
	struct run **link = &self.runs;

	while (*link != NULL && strcmp((*link)->id, id) != 0)
		link = &(*link)->next;
	return link;
}

static size_t
index_of(const struct run *run, const char *name)
{
	size_t i = 0;

	while (i < run->nnames && strcmp(run->names[i], name) != 0)
		i++;
	return i;
}

/* but: an index, whose certificate stays. */
static void
forget_certificates(struct run *run, size_t but)
{
	for (size_t i = 0; i < run->nnames; i++)
		if (i != but && run->fronts[i] != NULL) {
			gnutls_certificate_free_credentials(run->fronts[i]);
			run->fronts[i] = NULL;
		}
}

static void
free_run(struct run *run)
{
	forget_certificates(run, ORDER_NAMES);
	free(run);
}

static int
issue(struct run *run, char certificate[ORDER_PEM], struct err *e)
{
	char *items[ORDER_NAMES];
	struct authority *authority;
	int status = 0;

	for (size_t i = 0; i < run->nnames; i++)
		items[i] = run->names[i];
	authority = authority_new(&(struct texts){ items, run->nnames }, e);
	if (authority == NULL)
		return -1;
	for (size_t i = 0; i < run->nnames && status == 0; i++)
		status = authority_issue(authority, run->names[i], &run->fronts[i], e);
	if (status == 0 && strlen(authority_certificate(authority)) >= ORDER_PEM)
		status = err_set(e, ERR_limit_exceeded, "the bound names are too long");
	if (status == 0)
		memcpy(certificate, authority_certificate(authority),
		    strlen(authority_certificate(authority)) + 1);
	authority_free(authority);
	return status;
}

static int
make_run(const struct order *order, char certificate[ORDER_PEM], struct err *e)
{
	struct run *run;

	if (order->nnames == 0 || *find(order->run) != NULL || self.nruns == KEEPER_RUNS)
		return err_set(e, ERR_limit_exceeded, "too many runs with bound names");
	run = calloc(1, sizeof *run);
	if (run == NULL)
		return err_sys(e, "run");
	memcpy(run->id, order->run, sizeof run->id);
	run->nnames = order->nnames;
	memcpy(run->names, order->names, sizeof run->names);
	if (issue(run, certificate, e) < 0) {
		free_run(run);
		return -1;
	}
	run->next = self.runs;
	self.runs = run;
	self.nruns++;
	return 0;
}

/* The daemon has checked it, and receives what a program makes it receive. */
static int
check_names(const struct order *order, struct err *e)
{
	for (size_t i = 0; i < order->nnames; i++)
		if (credentials_find(&self.plan->credentials, order->names[i]) == NULL)
			return err_set(e, ERR_not_found, "a bound name has no credentials");
	return 0;
}

static void
serve_run(const struct order *order, int *fds)
{
	static struct order_answer answer;

	(void)fds;
	answer = (struct order_answer){ 0 };
	memcpy(answer.run, order->run, sizeof answer.run);
	if (check_names(order, &answer.why) == 0 &&
	    make_run(order, answer.certificate, &answer.why) == 0)
		answer.why = (struct err){ 0 };
	/* There is room: the daemon waits for answers before it asks for more. */
	if (fdio_send(self.sock, &answer, sizeof answer, NULL, 0) != (ssize_t)sizeof answer)
		_exit(1);
}

static void
end_run(const struct order *order, int *fds)
{
	struct run **link = find(order->run), *run = *link;

	(void)fds;
	if (run == NULL)
		return;
	/* Only those that were not waited for: so none of these numbers belongs to another. */
	for (size_t i = 0; i < self.nchildren; i++)
		if (strcmp(self.children[i].run, order->run) == 0)
			kill(self.children[i].pid, SIGKILL);
	*link = run->next;
	self.nruns--;
	free_run(run);
}

/* ---- processes of connections ---- */

static void
reap(void)
{
	for (size_t i = 0; i < self.nchildren;)
		if (waitpid(self.children[i].pid, NULL, WNOHANG) != 0)
			self.children[i] = self.children[--self.nchildren];
		else
			i++;
}

static size_t
connections_of(const char *run)
{
	size_t n = 0;

	for (size_t i = 0; i < self.nchildren; i++)
		n += strcmp(self.children[i].run, run) == 0;
	return n;
}

/* Forgets all that belongs to other names and runs. */
static void
forget_others(struct run *run, size_t which)
{
	for (struct run *other = self.runs, *next; other != NULL; other = next) {
		next = other->next;
		if (other != run)
			free_run(other);
	}
	self.runs = NULL;
	forget_certificates(run, which);
	credentials_keep(&self.plan->credentials, run->names[which]);
}

static void
live(struct run *run, size_t which, const int *fds)
{
	struct credential *credential;
	struct err e;

	close(self.sock);
	close(self.leash[1]);
	forget_others(run, which);
	credential = self.plan->credentials.all[0];
	sodium_mlock(credential, sizeof *credential); /* a lock is not inherited */
	if (seccomp_narrow(keeper_given_up, &e) < 0) {
		log_error("a connection to a bound name", LOG_E(&e));
		_exit(1);
	}
	connection_serve(&(struct connection_plan){
	    .box = fds[0],
	    .server = fds[1],
	    .leash = self.leash[0],
	    .credential = credential,
	    .front = run->fronts[which],
	    .trust = self.plan->trust,
	    .idle_ms = self.plan->idle_ms,
	});
	credentials_clear(&self.plan->credentials);
	_exit(0);
}

static int
start_connection(struct run *run, size_t which, const int *fds, struct err *e)
{
	pid_t pid;

	reap();
	if (self.nchildren == KEEPER_CONNECTIONS ||
	    connections_of(run->id) >= self.plan->max_connections)
		return err_set(e, ERR_limit_exceeded, "too many connections at once");
	pid = fork();
	if (pid < 0)
		return err_sys(e, "fork");
	if (pid == 0)
		live(run, which, fds);

	struct child *child = &self.children[self.nchildren++];

	child->pid = pid;
	memcpy(child->run, run->id, sizeof child->run);
	return 0;
}

/* The caller closes the descriptors; without a process, that resets the connection. */
static void
connect_run(const struct order *order, int *fds)
{
	struct run *run = *find(order->run);
	size_t which = run != NULL ? index_of(run, order->names[0]) : 0;
	struct err e;

	if (run == NULL || which == run->nnames || order->nnames != 1 || fds[1] < 0)
		err_set(&e, ERR_not_found, "the run does not bind this name");
	else if (start_connection(run, which, fds, &e) == 0)
		return;
	log_warn(
	    "a connection to a bound name is refused", LOG_S("name", order->names[0]), LOG_E(&e));
}

/* ---- orders ---- */

static void (*const handlers[])(const struct order *, int *fds) = {
	[ORDER_SERVE] = serve_run,
	[ORDER_CONNECT] = connect_run,
	[ORDER_END] = end_run,
};

/* false: the daemon has ended, or is not itself. */
static bool
take_order(void)
{
	static struct order order;
	int fds[2] = { -1, -1 };
	size_t nfds = COUNT(fds);
	ssize_t n = fdio_receive(self.sock, &order, sizeof order, fds, &nfds, 0);
	bool good = n == (ssize_t)sizeof order && order.kind >= ORDER_SERVE &&
	            order.kind <= ORDER_END && order.nnames <= ORDER_NAMES &&
	            order.run[ORDER_RUN - 1] == '\0';

	for (size_t i = 0; good && i < ORDER_NAMES; i++)
		order.names[i][DOMAIN_NAME - 1] = '\0';
	if (good)
		handlers[order.kind](&order, fds);
	for (size_t i = 0; i < nfds; i++)
		close(fds[i]);
	return good;
}

void
keeper_serve(int sock, const int leash[2], struct keeper_plan *plan)
{
	struct pollfd one = { .fd = sock, .events = POLLIN };

	self.sock = sock;
	memcpy(self.leash, leash, sizeof self.leash);
	self.plan = plan;
	for (;;) {
		int n = poll(&one, 1, self.nchildren > 0 ? REAP_MS : -1);

		reap();
		if (n > 0 && !take_order())
			return;
	}
}
