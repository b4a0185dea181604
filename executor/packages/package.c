/* SPDX-License-Identifier: Apache-2.0 */
/* package.c - a list, because there are some hundred; the least recently used goes first. */
#include "executor/packages/package.h"

#include "executor/options.h"
#include "executor/sandbox/workspace.h"

#include "common/base/auto.h"
#include "common/base/log.h"

#include <ctype.h>
#include <string.h>

static struct {
	struct package *first;
	uint64_t bytes, turn;
} packages;

char *
package_normal(const char *name, size_t size)
{
	char *normal = malloc(size + 1);
	size_t n = 0;

	if (normal == NULL)
		return NULL;
	for (size_t i = 0; i < size; i++) {
		bool mark = name[i] == '-' || name[i] == '_' || name[i] == '.';

		if (!mark)
			normal[n++] = (char)tolower((unsigned char)name[i]);
		else if (n > 0 && normal[n - 1] != '-')
			normal[n++] = '-';
	}
	normal[n] = '\0';
	return normal;
}

static bool
is_plain(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)text[i]) && strchr("._+!-", text[i]) == NULL)
			return false;
	return size > 0;
}

int
package_name(const char *file, char **name, char **version, struct err *e)
{
	static const char end[] = ".whl";
	size_t size = strlen(file);
	size_t first = strcspn(file, "-");
	size_t second = file[first] == '-' ? strcspn(file + first + 1, "-") : 0;

	*name = *version = NULL;
	if (size < sizeof end || strcmp(file + size - (sizeof end - 1), end) != 0 ||
	    !is_plain(file, size) || strcspn(file, "-_.") == 0 || second == 0 ||
	    file[first + 1 + second] != '-')
		return err_set(
		    e, ERR_install_failed, "the index gave %.200s, which is no wheel", file);
	*name = package_normal(file, first);
	*version = strndup(file + first + 1, second);
	for (char *mark = *version; mark != NULL && (mark = strchr(mark, '_')) != NULL;)
		*mark = '-'; /* which a file's name cannot have there */
	if (*name != NULL && *version != NULL)
		return 0;
	free(take_ptr(*name));
	free(take_ptr(*version));
	return err_sys(e, "package");
}

static void
drop(struct package *package)
{
	packages.bytes -= package->bytes;
	workspace_drop(package->workspace);
	free(package->name);
	free(package->version);
	blob_clear(&package->report);
	free(package);
}

static struct package **
least_used(void)
{
	struct package **least = NULL;

	for (struct package **at = &packages.first; *at != NULL; at = &(*at)->next)
		if ((*at)->users == 0 && (least == NULL || (*at)->turn < (*least)->turn))
			least = at;
	return least;
}

static void
make_room(void)
{
	struct package **least, *old;

	while (packages.bytes > options.packages_mb << 20 && (least = least_used()) != NULL) {
		old = *least;
		*least = old->next;
		drop(old);
	}
}

uint64_t
package_room(void)
{
	uint64_t used = 0, most = options.packages_mb << 20;

	for (const struct package *package = packages.first; package != NULL;
	     package = package->next)
		used += package->users > 0 ? package->bytes : 0;
	return used < most ? most - used : 0;
}

struct package *
package_get(struct package *package)
{
	package->users++;
	package->turn = ++packages.turn;
	return package;
}

void
package_put(struct package *package)
{
	if (package == NULL)
		return;
	must(package->users > 0);
	package->users--;
	make_room();
}

struct package *
package_find(const char *sha256, unsigned python)
{
	for (struct package *package = packages.first; package != NULL; package = package->next)
		if (package->python == python && strcmp(package->sha256, sha256) == 0)
			return package_get(package);
	return NULL;
}

struct package *
package_add(const struct package *made)
{
	struct package *package = malloc(sizeof *package);

	if (package == NULL) {
		workspace_drop(made->workspace);
		free(made->name);
		free(made->version);
		free(made->report.data);
		return NULL;
	}
	*package = *made;
	package->users = 0;
	package->next = packages.first;
	packages.first = package;
	packages.bytes += package->bytes;
	package_get(package);
	make_room();
	return package;
}

void
package_forget(void)
{
	struct package *next;

	for (struct package *package = take_ptr(packages.first); package != NULL; package = next) {
		next = package->next;
		if (package->users > 0)
			log_warn("a package is still in use", LOG_S("package", package->name));
		drop(package);
	}
}
