/* SPDX-License-Identifier: Apache-2.0 */
/*
 * actor.c - does what each line of the file `rows` says (name, action, words, with tabs between)
 * and prints name and errno; static, so that no interpreter or library has a part in it.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum {
	MAX_WORDS = 6,
};

static int
open_as(const char *path, int flags)
{
	int fd = open(path, flags, 0644);
	char byte;
	int r = fd < 0 || ((flags & O_ACCMODE) == O_RDONLY && read(fd, &byte, 1) < 0) ? -1 : 0;

	if (fd >= 0)
		close(fd);
	return r;
}

static int
do_read(char **w)
{
	return open_as(w[0], O_RDONLY);
}

static int
do_write(char **w)
{
	return open_as(w[0], O_WRONLY);
}

static int
do_create(char **w)
{
	return open_as(w[0], O_WRONLY | O_CREAT | O_EXCL);
}

static int
do_list(char **w)
{
	DIR *directory = opendir(w[0]);

	return directory == NULL ? -1 : closedir(directory);
}

static int
do_directory(char **w)
{
	return mkdir(w[0], 0755);
}

static int
do_rename(char **w)
{
	return rename(w[0], w[1]);
}

static int
do_link(char **w)
{
	return linkat(AT_FDCWD, w[0], AT_FDCWD, w[1], AT_SYMLINK_FOLLOW);
}

static int
do_via(char **w)
{
	return symlink(w[0], w[1]) < 0 ? -1 : open_as(w[1], O_RDONLY);
}

static int
do_mode(char **w)
{
	return chmod(w[1], (mode_t)strtoul(w[0], NULL, 8));
}

static int
do_own(char **w)
{
	return chown(w[0], 0, 0);
}

static int
do_node(char **w)
{
	return mknod(w[0], S_IFCHR | 0666, makedev(1, 3));
}

static int
do_kill(char **w)
{
	return kill(atoi(w[0]), SIGTERM);
}

static int
reach(int kind, const void *address, socklen_t size)
{
	int family = ((const struct sockaddr *)address)->sa_family;
	int sock = socket(family, kind, 0);
	int r = sock < 0 ? -1 : connect(sock, address, size);

	if (sock >= 0)
		close(sock);
	return r;
}

static int
reach_inet(int kind, char **w)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((in_port_t)atoi(w[1])) };

	inet_pton(AF_INET, w[0], &to.sin_addr);
	return reach(kind, &to, sizeof to);
}

static int
do_tcp(char **w)
{
	return reach_inet(SOCK_STREAM, w);
}

static int
do_udp(char **w)
{
	return reach_inet(SOCK_DGRAM, w);
}

static int
do_unix(char **w)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t size = strlen(w[0]);

	memcpy(to.sun_path, w[0], size < sizeof to.sun_path ? size : sizeof to.sun_path - 1);
	if (to.sun_path[0] == '@')
		to.sun_path[0] = '\0';
	return reach(SOCK_STREAM, &to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size));
}

static int
do_variable(char **w)
{
	errno = ENOENT;
	return getenv(w[0]) != NULL ? 0 : -1;
}

static const struct {
	const char *name;
	int (*go)(char **words);
} actions[] = {
	{ "read", do_read },
	{ "write", do_write },
	{ "create", do_create },
	{ "list", do_list },
	{ "directory", do_directory },
	{ "rename", do_rename },
	{ "link", do_link },
	{ "via", do_via },
	{ "mode", do_mode },
	{ "own", do_own },
	{ "node", do_node },
	{ "kill", do_kill },
	{ "tcp", do_tcp },
	{ "udp", do_udp },
	{ "unix", do_unix },
	{ "variable", do_variable },
};

static void
act(char *line)
{
	char *words[MAX_WORDS] = { 0 }, *rest = line;

	for (size_t i = 0; i < MAX_WORDS && rest != NULL; i++)
		words[i] = strsep(&rest, "\t");
	for (size_t i = 0; words[1] != NULL && i < COUNT(actions); i++)
		if (strcmp(actions[i].name, words[1]) == 0)
			printf("%s %s\n", words[0],
			    actions[i].go(words + 2) < 0 ? strerrorname_np(errno) : "done");
}

int
main(void)
{
	FILE *rows = fopen("rows", "r");
	char line[1024];

	while (rows != NULL && fgets(line, sizeof line, rows) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		act(line);
	}
	return rows == NULL;
}
