/* SPDX-License-Identifier: Apache-2.0 */
/* Layer session: the bytes of an input. One thread at a time.
 *
 * A pipe is copied to an unlinked temporary file, because a profile's stream reads it again; gzip is decompressed into
 * one; and what an importer sees is always a copy, mapped: it reads freely, and memory that the kernel can take back is
 * not memory that a large file costs. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "capture.h"
#include "gzip.h"
#include "input_kind.h"
#include "reopen.h"
#include "temp_file.h"

#define PIECE	   (256u << 10)
#define MAX_BYTES  (8ull << 30)
#define LOOK_BYTES (1u << 20)

/* So long a program has to give up its lease on a file; the kernel would have us wait 45 s. */
#define LEASE_LOOKS   200
#define LEASE_LOOK_NS 10000000

static struct plumb_error *too_large(const char *what)
{
	return pl_error(PLUMB_ERR_LIMIT, "%s than 8 GiB, the most that plumb reads", what);
}

static struct plumb_error *unpacks_too_far(void)
{
	return pl_error_hint(
		pl_error(PLUMB_ERR_LIMIT, "it is gzip data of which a part unpacks to more than %d times its length",
			 PL_INPUT_MAX_RATIO),
		"a file made to fill the disk does that; if it is a profile, unpack it with 'gunzip' first");
}

static ssize_t read_piece(int fd, void *to)
{
	ssize_t n;

	do
		n = read(fd, to, PIECE);
	while (n < 0 && errno == EINTR);
	return n;
}

static struct plumb_error *copy_bytes(int from, int to)
{
	uint64_t total = 0;
	char *piece = malloc(PIECE);
	struct plumb_error *err = piece ? NULL : &pl_err_no_memory;

	while (!err) {
		ssize_t n = read_piece(from, piece);

		if (n == 0)
			break;
		total += n > 0 ? (uint64_t)n : 0;
		if (n < 0)
			err = pl_error_errno(PLUMB_ERR_SYSTEM, errno, "it cannot be read");
		else if (total > MAX_BYTES)
			err = too_large("it is larger");
		else
			err = pl_temp_write(to, piece, (size_t)n);
	}
	free(piece);
	return err;
}

/* Whoever has the process may have closed it, and have another file by its number. */
static void close_file(const struct pl_input *in)
{
	if (in->fd >= 0 && pl_file_id_is(&in->file, in->fd))
		close(in->fd);
}

/* Take @p fd in place of the one there is. */
static void replace(struct pl_input *in, int fd)
{
	close_file(in);
	in->fd = fd;
	in->file = pl_file_id(fd);
	in->is_copy = true;
}

static struct plumb_error *make_copy(struct pl_input *in)
{
	int copy = -1;
	struct plumb_error *err = in->is_copy ? NULL : pl_temp_file(&copy);

	if (err || in->is_copy)
		return err;
	err = copy_bytes(in->fd, copy);
	if (err)
		close(copy);
	else
		replace(in, copy);
	return err;
}

static struct plumb_error *not_opened(const char *path)
{
	const int why = errno;

	if (why == ENOENT || why == ENOTDIR)
		return pl_error_hint(pl_error(PLUMB_ERR_NOT_FOUND, "there is no file %s", path), "%s",
				     "recordings are named plumb.PROGRAM.PID.plumb");
	if (why == EWOULDBLOCK)
		return pl_error_hint(pl_error(PLUMB_ERR_SYSTEM,
					      "it cannot be opened: another program keeps it to itself, by a lease"),
				     "try again when that program has ended");
	struct plumb_error *err = pl_error_errno(PLUMB_ERR_SYSTEM, why, "it cannot be opened");
	if (why == EACCES)
		err = pl_error_hint(err, "%s", "a recording can be read by whoever made it, and by root");
	return err;
}

static bool is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* Who writes into a pipe is waited for. */
static int open_again(int fd)
{
	int flags = O_RDONLY | (is_file(fd) ? O_NONBLOCK : 0);
	int again = pl_reopen(fd, flags);

	for (int i = 0; i < LEASE_LOOKS && again < 0 && errno == EWOULDBLOCK; i++) {
		(void)nanosleep(&(struct timespec){.tv_nsec = LEASE_LOOK_NS}, NULL);
		again = pl_reopen(fd, flags);
	}
	return again;
}

/* The file that @p handle is for; where /proc is not there, the one that has its name by now. */
static int reopen(int handle, const char *path)
{
	int fd = open_again(handle);

	return fd < 0 && errno == ENOENT ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) : fd;
}

/* What it is comes first: to open a device can do something (a watchdog restarts the machine). */
static struct plumb_error *open_named(const char *path, int *ret)
{
	int handle = open(path, O_PATH | O_CLOEXEC);

	if (handle < 0)
		return not_opened(path);
	const struct pl_file_id id = pl_file_id(handle);
	struct plumb_error *err = pl_input_check(handle);
	if (!err) {
		*ret = reopen(handle, path);
		err = *ret < 0 ? not_opened(path) : NULL;
	}
	if (pl_file_id_is(&id, handle)) /* to open a pipe with a name may take its time */
		close(handle);
	return err;
}

static struct plumb_error *open_path(const char *path, int *ret)
{
	if (strcmp(path, "-") != 0)
		return open_named(path, ret);
	*ret = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	return *ret < 0 ? pl_error_errno(PLUMB_ERR_SYSTEM, errno, "it cannot be opened") : NULL;
}

static size_t first_bytes(const struct pl_input *in, uint8_t *ret, size_t len)
{
	ssize_t n;

	do
		n = pread(in->fd, ret, len, 0);
	while (n < 0 && errno == EINTR);
	return n > 0 ? (size_t)n : 0;
}

struct unpacking {
	int fd;
	pl_input_look *look;
	void *ctx;
	uint64_t total;
	bool looked, enough;
};

/* The beginning of what is there; whether to go on. */
static bool look_again(struct unpacking *u)
{
	char *beginning = malloc(LOOK_BYTES);
	bool go_on = true;
	struct plumb_error *err = beginning ? pl_temp_read(u->fd, beginning, LOOK_BYTES, 0) : &pl_err_no_memory;

	if (!err)
		go_on = u->look(u->ctx, (const uint8_t *)beginning, LOOK_BYTES);
	plumb_error_destroy(err);
	free(beginning);
	return go_on;
}

static struct plumb_error *write_piece(void *ctx, const void *bytes, size_t len, size_t packed)
{
	struct unpacking *u = ctx;

	u->total += len;
	if (u->total > PL_INPUT_MAX_RATIO * (uint64_t)packed + PL_INPUT_RATIO_AHEAD)
		return unpacks_too_far();
	struct plumb_error *err = pl_temp_write(u->fd, bytes, len);
	if (err || u->looked || u->total < LOOK_BYTES)
		return err;
	u->looked = true;
	u->enough = !look_again(u);
	return u->enough ? &pl_err_stale : NULL; /* ends the unpacking and is told to nobody */
}

static struct plumb_error *decompress_into(const struct pl_import_input *from, struct unpacking *u)
{
	uint64_t most = PL_INPUT_MAX_RATIO * (uint64_t)from->len + PL_INPUT_RATIO_BASE;
	struct plumb_error *err =
		pl_gunzip(from->bytes, from->len, most < MAX_BYTES ? most : MAX_BYTES, write_piece, u);

	if (u->enough)
		return NULL;
	if (err != &pl_err_limit)
		return err;
	return most < MAX_BYTES ? unpacks_too_far() : too_large("it is gzip data of more");
}

static struct plumb_error *decompress(struct pl_input *in, pl_input_look *look, void *ctx)
{
	struct unpacking u = {.fd = -1, .look = look, .ctx = ctx};
	struct pl_import_input whole = {0};
	struct plumb_error *err = pl_input_map(in, &whole);

	if (!err)
		err = pl_temp_file(&u.fd);
	if (!err)
		err = decompress_into(&whole, &u);
	if (err) {
		if (u.fd >= 0)
			close(u.fd);
		return err;
	}
	munmap(in->map, in->map_len);
	in->map = NULL;
	in->packed_len = whole.len;
	replace(in, u.fd);
	return NULL;
}

static struct plumb_error *prepare(struct pl_input *in, pl_input_look *look, void *ctx)
{
	uint8_t magic[3];
	struct stat st;
	struct plumb_error *err = pl_input_check(in->fd);

	if (err)
		return err;
	if (fstat(in->fd, &st))
		return pl_error_errno(PLUMB_ERR_SYSTEM, errno, "it cannot be read");
	if (!S_ISREG(st.st_mode) || lseek(in->fd, 0, SEEK_CUR) != 0) { /* a pipe, or standard input that was begun */
		err = make_copy(in);
		if (err)
			return err;
	}
	return pl_gzip_is(magic, first_bytes(in, magic, sizeof magic)) ? decompress(in, look, ctx) : NULL;
}

struct plumb_error *pl_input_open(const char *path, pl_input_look *look, void *ctx, struct pl_input *ret)
{
	struct pl_input in = {.fd = -1};
	struct plumb_error *err = open_path(path, &in.fd);

	if (err)
		return err;
	in.file = pl_file_id(in.fd);
	err = prepare(&in, look, ctx);
	if (!err && lseek(in.fd, 0, SEEK_SET) != 0)
		err = pl_error_errno(PLUMB_ERR_SYSTEM, errno, "it cannot be read");
	if (err) {
		pl_input_close(&in);
		return err;
	}
	*ret = in;
	return NULL;
}

bool pl_input_is_recording(const struct pl_input *in)
{
	uint8_t bytes[PL_CAPTURE_BEGINNING];

	return pl_capture_is(bytes, first_bytes(in, bytes, sizeof bytes));
}

/* With a descriptor of our own: that of standard input is somebody else's, too, and so are its locks. */
bool pl_input_is_being_written(const struct pl_input *in)
{
	int fd = in->is_copy ? -1 : open_again(in->fd);

	if (fd < 0)
		return false;
	bool is_locked = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	if (!is_locked)
		(void)flock(fd, LOCK_UN); /* a child of a fork may have the descriptor by now */
	close(fd);
	return is_locked;
}

struct plumb_error *pl_input_map(struct pl_input *in, struct pl_import_input *ret)
{
	struct stat st;
	struct plumb_error *err = make_copy(in);

	if (err)
		return err;
	if (fstat(in->fd, &st) || lseek(in->fd, 0, SEEK_END) < 0)
		return pl_error_errno(PLUMB_ERR_SYSTEM, errno, "it cannot be read");
	err = pl_temp_write(in->fd, "", 1);
	if (err)
		return err;
	in->map_len = (size_t)st.st_size + 1;
	in->map = mmap(NULL, in->map_len, PROT_READ, MAP_PRIVATE, in->fd, 0);
	if (in->map == MAP_FAILED) {
		in->map = NULL;
		return &pl_err_no_memory;
	}
	*ret = (struct pl_import_input){.bytes = in->map, .len = (size_t)st.st_size};
	return NULL;
}

void pl_input_close(struct pl_input *in)
{
	if (in->map)
		munmap(in->map, in->map_len);
	close_file(in);
	*in = (struct pl_input){.fd = -1};
}
