/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slot.c - a directory of numbered files.  Every builder of a host locks one of them.
 *
 * Trusts the contents of a directory that belongs to its own user and that no other user may
 * enter.  A slot's file names the process that holds it, to distinguish a slot of a dead builder
 * from one in use.
 */
#include "executor/builder/slot.h"

#include "common/base/auto.h"
#include "common/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

enum {
	PATH = 256,
	ALIVE_TRIES = 1000, /* of 5 ms */
	GROUPS_TRIES = 20,  /* likewise */
};

static const char *state; /* NULL: unknown */

static int
open_slots(const char *path, struct err *e)
{
	struct stat st;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_sys(e, "make %s", path);

	auto_fd int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (directory < 0 || fstat(directory, &st) < 0)
		return err_sys(e, "open %s", path);
	if (st.st_uid != geteuid() || (st.st_mode & 077) != 0)
		return err_set(e, ERR_internal, "other users may access %s", path);
	return take_fd(&directory);
}

void
slot_set_state(const char *path)
{
	state = path;
}

/*
 * Opens the first usable directory.  Root in a container of a user may have no /run of its own.
 * In /tmp another user may have made that name before.  The server's own directory is last: the
 * slots of an ordinary user number cgroups, which are locked themselves, and not uids.
 */
static int
find_slots(char path[PATH], struct err *e)
{
	char own_run[PATH], tmp[PATH];
	const char *places[] = { getenv("XDG_RUNTIME_DIR"), own_run, tmp, state };
	bool root = geteuid() == 0;
	int directory = -1;

	snprintf(own_run, sizeof own_run, "/run/user/%u", geteuid());
	snprintf(tmp, sizeof tmp, "/tmp/cloister-builder-%u", geteuid());
	if (root) {
		places[0] = "/run";
		places[1] = places[3] = NULL;
	}
	for (size_t i = 0; directory < 0 && i < COUNT(places); i++) {
		const char *name = places[i] == tmp ? "" : "/cloister-builder";

		if (places[i] != NULL && places[i][0] == '/' &&
		    snprintf(path, PATH, "%s%s", places[i], name) < PATH)
			directory = open_slots(path, e);
	}
	return directory;
}

static int
open_slot(int directory, uint32_t slot)
{
	char name[16];

	snprintf(name, sizeof name, "%u", slot);
	return openat(directory, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Held by this process and all its descendants, and by no other: the lock of the slot itself is
 * kept for later builders. */
static bool
hold_alive(int file)
{
	const struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(file, F_OFD_SETLK, &whole) == 0;
}

/* ---- who holds a slot ---- */

struct holder {
	int pid; /* of the process that a builder leaves on the host; 0: none */
	unsigned long long started;
};

/* The start time of a process in ticks.  0: there is no process with that pid. */
static unsigned long long
started(int pid)
{
	char path[32], line[1024];
	unsigned long long ticks = 0;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);

	auto_fd int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? -1 : read(file, line, sizeof line - 1);

	if (n <= 0)
		return 0;
	line[n] = '\0';

	/* After the name, which may contain any character: the state, then 18 numbers. */
	const char *at = strrchr(line, ')');

	for (int field = 2; at != NULL && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at != NULL)
		ticks = strtoull(at, NULL, 10);
	return ticks;
}

static void
write_holder(int file)
{
	char text[64];
	int n = snprintf(text, sizeof text, "%d %llu\n", getpid(), started(getpid()));

	/* Without this text the owner of the slot is unknown, but the slot works. */
	if (ftruncate(file, 0) < 0 || pwrite(file, text, (size_t)n, 0) < 0)
		log_warn("the holder of a slot was not recorded", LOG_N("errno", errno));
}

static struct holder
read_holder(int file)
{
	struct holder holder = { 0 };
	char text[64], *end;
	ssize_t n = pread(file, text, sizeof text - 1, 0);

	if (n <= 0)
		return holder;
	text[n] = '\0';
	holder.pid = (int)strtol(text, &end, 10);
	holder.started = strtoull(end, NULL, 10);
	return holder;
}

/* True if its builder is dead and one of its descendants is not: usually a process that the
 * kernel does not end (state D).  The slot is free again when that process has ended. */
static bool
is_lost(int alive, struct holder *holder)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	*holder = read_holder(alive);
	return holder->pid > 0 && started(holder->pid) != holder->started &&
	       fcntl(alive, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

static void
wait_a_little(void)
{
	const struct timespec pause = { .tv_nsec = 5000000 };

	nanosleep(&pause, NULL);
}

/* The slot's last builder releases everything it holds within a moment.  If a builder in another
 * root has taken the cgroups meanwhile, it has taken the uids of this slot with them. */
static int
take_groups(uint32_t slot, bool (*groups)(uint32_t slot))
{
	for (int i = 0; i < GROUPS_TRIES; i++) {
		if (groups(slot))
			return 0;
		wait_a_little();
	}
	return -1;
}

/* -1: the slot no longer exists, or a descendant of its last builder does not end. */
static int
go_on_with(struct host *h, int directory, bool (*groups)(uint32_t slot))
{
	struct stat last, st;

	if (fstat(h->slot_fd, &last) < 0)
		return -1;
	for (h->slot = 0; h->slot < HOST_SLOTS; h->slot++) {
		auto_fd int file = open_slot(directory, h->slot);

		if (file < 0 || fstat(file, &st) < 0 || st.st_dev != last.st_dev ||
		    st.st_ino != last.st_ino)
			continue;
		for (int i = 0; i < ALIVE_TRIES; i++) {
			if (hold_alive(file)) {
				if (take_groups(h->slot, groups) < 0)
					return -1;
				write_holder(file);
				take_fd(&file);
				return 0;
			}
			wait_a_little();
		}
		return -1;
	}
	return -1;
}

static int
take_slot(
    struct host *h, int directory, const char *path, bool (*groups)(uint32_t slot), struct err *e)
{
	struct holder holder = { 0 }, lost = { 0 };
	unsigned nlost = 0;

	for (h->slot = 0; h->slot < HOST_SLOTS; h->slot++) {
		auto_fd int file = open_slot(directory, h->slot);
		auto_fd int alive = open_slot(directory, h->slot);

		if (file < 0 || alive < 0)
			return err_sys(e, "open %s/%u", path, h->slot);
		if (flock(file, LOCK_EX | LOCK_NB) == 0 && hold_alive(alive) && groups(h->slot)) {
			h->slot_fd = take_fd(&file);
			write_holder(take_fd(&alive));
			return 0;
		}
		if (is_lost(alive, &holder)) {
			lost = holder;
			nlost++;
			log_warn("a slot is held by processes of a dead builder",
			    LOG_N("slot", h->slot), LOG_N("builder", (uint64_t)holder.pid));
		}
	}
	if (nlost == 0)
		return err_set(e, ERR_internal, "%d builders are running already", HOST_SLOTS);
	return err_set(e, ERR_internal,
	    "all %d slots in %s are in use, %u of them by processes that do not exit although "
	    "their builder is dead (for example of builder process %d)",
	    HOST_SLOTS, path, nlost, lost.pid);
}

int
slot_take(struct host *h, bool (*groups)(uint32_t slot), struct err *e)
{
	char path[PATH];
	auto_fd int directory = find_slots(path, e);

	if (directory < 0)
		return -1;
	if (h->workspace_table_fd >= 0 && go_on_with(h, directory, groups) == 0)
		return 0;
	if (h->workspace_table_fd >= 0) {
		close(take_fd(&h->workspace_table_fd));
		close(take_fd(&h->slot_fd));
	}
	return take_slot(h, directory, path, groups, e);
}
