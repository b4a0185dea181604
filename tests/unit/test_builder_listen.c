/* SPDX-License-Identifier: Apache-2.0 */
/* test_builder_listen.c - no socket is shared with programs, and no network that had a link is
 * given back. */
#include "executor/builder/listen.h"

#include "common/base/auto.h"
#include "executor/builder/answer.h"
#include "executor/builder/link.h"
#include "executor/builder/nets.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

/* What the kernel would have been told. */
static struct {
	bool has_veth;
	int shared[8]; /* sockets with SO_REUSEADDR */
	size_t nshared;
	int at[8]; /* sockets, in the order of their ports */
	uint16_t ports[8];
	size_t nports;
	size_t given, alone;
} seen;

bool __wrap_nets_have_loopback(void);
int __wrap_nets_take(struct err *e);
void __wrap_nets_give(int net);
void __wrap_nets_enter(int net);
void __wrap_nets_leave(void);
int __wrap_link_pair(int box, int far, struct err *e);
int __wrap_link_alone(int box, struct err *e);
void __wrap_answer_send(struct answer *answer, const int *fds, size_t nfds);
int __wrap_setsockopt(int sock, int level, int name, const void *value, socklen_t size);
int __wrap_bind(int sock, const struct sockaddr *address, socklen_t size);
int __wrap_listen(int sock, int backlog);

bool
__wrap_nets_have_loopback(void)
{
	return true;
}

int
__wrap_nets_take(struct err *e)
{
	(void)e;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void
__wrap_nets_give(int net)
{
	seen.given++;
	close(net);
}

void
__wrap_nets_enter(int net)
{
	assert_true(net >= 0);
}

void
__wrap_nets_leave(void)
{
}

int
__wrap_link_pair(int box, int far, struct err *e)
{
	assert_int_not_equal(box, far);
	if (seen.has_veth)
		return 0;
	errno = EOPNOTSUPP;
	return err_sys(e, "make a link");
}

int
__wrap_link_alone(int box, struct err *e)
{
	(void)box, (void)e;
	seen.alone++;
	return 0;
}

void
__wrap_answer_send(struct answer *answer, const int *fds, size_t nfds)
{
	(void)answer, (void)fds, (void)nfds;
}

int
__wrap_setsockopt(int sock, int level, int name, const void *value, socklen_t size)
{
	(void)value, (void)size;
	assert_int_equal(level, SOL_SOCKET);
	assert_int_equal(name, SO_REUSEADDR);
	seen.shared[seen.nshared++] = sock;
	return 0;
}

int
__wrap_bind(int sock, const struct sockaddr *address, socklen_t size)
{
	const struct sockaddr_in *at = (const void *)address;

	assert_int_equal(size, sizeof *at);
	seen.at[seen.nports] = sock;
	seen.ports[seen.nports++] = ntohs(at->sin_port);
	return 0;
}

int
__wrap_listen(int sock, int backlog)
{
	(void)sock, (void)backlog;
	return 0;
}

static const struct order ordered = { .kind = ORDER_LISTEN, .ports = { 80, 443 } };

static bool
is_shared(int sock)
{
	for (size_t i = 0; i < seen.nshared; i++)
		if (seen.shared[i] == sock)
			return true;
	return false;
}

/* A program would set SO_REUSEADDR, too, and get the questions. */
static void
questions_have_a_port_alone(void **state)
{
	int net = __wrap_nets_take(NULL), far = -1;
	struct err e;

	(void)state;
	memset(&seen, 0, sizeof seen);
	seen.has_veth = true;
	assert_int_equal(listen_for(net, &far, &ordered, &e), 0);
	assert_int_equal(seen.nports, 3);
	assert_int_equal(seen.ports[0], 53);
	assert_false(is_shared(seen.at[0]));
	for (size_t i = 1; i < seen.nports; i++)
		assert_true(is_shared(seen.at[i]));
	listen_end(net, far);
	assert_int_equal(seen.given, 0);
}

/* Its route is in the box's network. */
static void
without_veth_nothing_is_given_back(void **state)
{
	struct err e;

	(void)state;
	for (int turn = 0; turn < 2; turn++) { /* the second one does not try to make a link */
		int net = __wrap_nets_take(NULL), far = -1;

		memset(&seen, 0, sizeof seen);
		for (int run = 0; run < 2; run++)
			assert_int_equal(listen_for(net, &far, &ordered, &e), 0);
		assert_int_equal(seen.alone, 2);
		assert_int_equal(seen.given, turn == 0); /* the one that was to be the far one */
		assert_int_not_equal(far, net);
		seen.given = 0;
		listen_end(net, far);
		assert_int_equal(seen.given, 0);
		assert_int_equal(fcntl(net, F_GETFD), -1);
		assert_int_equal(fcntl(far, F_GETFD), -1);
	}
}

static void
without_a_network_it_is_given_back(void **state)
{
	(void)state;
	memset(&seen, 0, sizeof seen);
	listen_end(__wrap_nets_take(NULL), -1);
	assert_int_equal(seen.given, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(questions_have_a_port_alone),
		cmocka_unit_test(without_veth_nothing_is_given_back),
		cmocka_unit_test(without_a_network_it_is_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
