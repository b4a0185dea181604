/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dying.c - a zygote's module for tests alone: linked over the real objects (--wrap), so that it
 * ends, or is short of a descriptor, between a fork and the word of it.  How, is HOW.
 */
#include "executor/builder/confine/confine.h"
#include "executor/builder/launch/zygote.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	LATE,  /* its fork waits for a program already */
	FIRST, /* its fork has died before it */
	BLIND, /* it lives, and has no pidfd of its fork */
};

_Static_assert(sizeof(struct confine_report) != sizeof(struct zygote_word), "told apart by size");

static volatile bool *reported; /* by a fork, for its zygote to see */

ssize_t __real_fdio_send(int sock, const void *data, size_t size, const int *fds, size_t nfds);
ssize_t __wrap_fdio_send(int sock, const void *data, size_t size, const int *fds, size_t nfds);

__attribute__((constructor)) static void
share(void)
{
	reported =
	    mmap(NULL, sizeof *reported, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void
await(pid_t fork)
{
	siginfo_t end;

	while (HOW != FIRST && !*reported)
		usleep(1000);
	if (HOW == FIRST)
		waitid(P_PID, (id_t)fork, &end, WEXITED | WNOWAIT);
	if (HOW != BLIND)
		_exit(1);
	*reported = false;
}

ssize_t
__wrap_fdio_send(int sock, const void *data, size_t size, const int *fds, size_t nfds)
{
	const struct zygote_word *word = data;
	ssize_t n;

	if (HOW == FIRST && size == sizeof(struct confine_report))
		raise(SIGKILL);
	if (size == sizeof *word && word->said == ZYGOTE_BORN && word->pid > 0) {
		await(word->pid);
		nfds = 0;
	}
	n = __real_fdio_send(sock, data, size, fds, nfds);
	if (size == sizeof(struct confine_report))
		*reported = true;
	return n;
}
