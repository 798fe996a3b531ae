/* SPDX-License-Identifier: Apache-2.0 */
/* Reading source files (layer engine). Any thread. How a file of the target is opened is os/target_file.h. */
#include "file_text.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"

#define SLACK_NS 20000000ull /* the kernel's clocks of files and processes are coarse */

bool pl_file_state_read(int fd, struct pl_file_state *ret)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	*ret = (struct pl_file_state){.device = st.st_dev,
				      .inode = st.st_ino,
				      .len = (uint64_t)st.st_size,
				      .changed_ns =
					      (uint64_t)st.st_mtim.tv_sec * PL_NS_PER_S + (uint64_t)st.st_mtim.tv_nsec};
	return true;
}

bool pl_file_state_equal(const struct pl_file_state *a, const struct pl_file_state *b)
{
	return a->device == b->device && a->inode == b->inode && a->len == b->len && a->changed_ns == b->changed_ns;
}

bool pl_file_state_younger(const struct pl_file_state *f, uint64_t start_real_ns)
{
	return start_real_ns && f->changed_ns > start_real_ns + SLACK_NS;
}

static bool read_all(int fd, char *buf, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = read(fd, buf + at, len - at);

		if (n <= 0)
			return false;
		at += (size_t)n;
	}
	return true;
}

enum pl_file_text pl_file_text_read(int fd, const struct pl_file_state *f, char **ret)
{
	if (!f->len)
		return PL_FILE_TEXT_NONE;
	char *text = mmap(NULL, f->len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED)
		return PL_FILE_TEXT_NO_MEMORY;
	if (!read_all(fd, text, f->len)) {
		pl_file_text_free(text, f);
		return PL_FILE_TEXT_NONE;
	}
	*ret = text;
	return PL_FILE_TEXT_READ;
}

void pl_file_text_free(char *text, const struct pl_file_state *f)
{
	if (text)
		munmap(text, f->len);
}
