/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with --wrap=renameat2, --wrap=close, --wrap=poll and --wrap=fdatasync: what happens to a name in the moment in
 * which it is taken, file systems that cannot do all that is asked for, and readers of pipes. */
#include "new_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "unit.h"

#define THEIRS "what somebody else wrote"
#define OURS   "what plumb wrote"

struct scene {
	char dir[64], path[96], beside[160];
	struct pl_new_file file;
};

/* The scene that looks on; what the next renames do instead of renaming, or before. */
static struct scene *scene;
static int failing_with, failing_times;
static bool refuses_flags, intruding, taking, full, synced, disk_fails;

int __real_renameat2(int from, const char *old, int to, const char *new, unsigned flags);
int __wrap_renameat2(int from, const char *old, int to, const char *new, unsigned flags);

int __real_close(int fd);
int __wrap_close(int fd);

int __wrap_close(int fd)
{
	int r = __real_close(fd);

	if (!full)
		return r;
	full = false;
	errno = EDQUOT;
	return -1;
}

int __wrap_fdatasync(int fd);

int __wrap_fdatasync(int fd)
{
	synced = fd == scene->file.fd;
	errno = EIO;
	return disk_fails ? -1 : 0;
}

/* The reader of a pipe: it reads after so many looks in vain, and is told by then that the end was asked for. */
static struct {
	int fd, looks, reads_after, hurry_after;
	atomic_bool hurry;
} reader;

int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	char bytes[4096];

	reader.looks++;
	atomic_store(&reader.hurry, reader.looks > reader.hurry_after);
	if (reader.looks % reader.reads_after)
		return 0;
	assert_true(read(reader.fd, bytes, sizeof bytes) > 0);
	fds[0].revents = POLLOUT;
	return 1;
}

static bool on_server;

int __real_fstatfs64(int fd, struct statfs *ret);
int __wrap_fstatfs64(int fd, struct statfs *ret);
int __wrap_fstatfs64(int fd, struct statfs *ret)
{
	int status = __real_fstatfs64(fd, ret);

	if (on_server)
		ret->f_type = NFS_SUPER_MAGIC;
	return status;
}

static void put_bytes(const char *path, const char *bytes, size_t len)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	fclose(f);
}

static void put(const char *path, const char *text)
{
	put_bytes(path, text, strlen(text));
}

static void put_link(const char *path)
{
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("elsewhere", path), 0);
}

int __wrap_renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
	if (taking) {
		taking = false;
		put_link(scene->beside);
	}
	if (intruding) {
		intruding = false;
		put(scene->path, THEIRS);
	}
	if (failing_times && failing_times--) {
		errno = failing_with;
		return -1;
	}
	if (refuses_flags && flags) {
		errno = EINVAL;
		return -1;
	}
	return __real_renameat2(from, old, to, new, flags);
}

static void assert_holds(const char *path, const char *expected)
{
	char text[64] = "";
	FILE *f = fopen(path, "re");

	assert_non_null(f);
	text[fread(text, 1, sizeof text - 1, f)] = '\0';
	fclose(f);
	assert_string_equal(text, expected);
}

static void begin_to_write(struct scene *s, enum pl_replace replace)
{
	assert_ok(pl_new_file_open(s->path, replace, &s->file));
	assert_int_equal(write(s->file.fd, OURS, strlen(OURS)), strlen(OURS));
	assert_non_null(s->file.beside);
	snprintf(s->beside, sizeof s->beside, "%s", s->file.beside);
}

/* An empty file has the name, and what plumb writes lies beside it. */
static void begin(struct scene *s, enum pl_replace replace)
{
	*s = (struct scene){.dir = "/tmp/plumb-test-new-file-XXXXXX"};
	scene = s;
	failing_times = 0;
	refuses_flags = intruding = taking = full = synced = disk_fails = false;
	assert_non_null(mkdtemp(s->dir));
	snprintf(s->path, sizeof s->path, "%s/out", s->dir);
	put(s->path, "");
	begin_to_write(s, replace);
}

/* The name is free, too. */
static void begin_anew(struct scene *s)
{
	const enum pl_replace replace = s->file.replace;

	pl_new_file_discard(&s->file);
	assert_int_equal(unlink(s->path), 0);
	begin_to_write(s, replace);
}

static void end(struct scene *s)
{
	pl_new_file_discard(&s->file);
	(void)unlink(s->path);
	(void)unlink(s->beside);
	assert_int_equal(rmdir(s->dir), 0);
}

static void what_is_written_takes_the_name(void **state)
{
	struct scene s;

	for (int old = 0; old < 2; old++) {
		for (enum pl_replace replace = PL_REPLACE_OURS; replace <= PL_REPLACE_ALL; replace++) {
			begin(&s, replace);
			refuses_flags = old;
			assert_string_equal(pl_new_file_path(&s.file), s.path);
			assert_ok(pl_new_file_publish(&s.file));
			assert_holds(s.path, OURS);
			assert_int_equal(access(s.beside, F_OK), -1);
			end(&s);
		}
	}
}

static void what_comes_when_the_name_is_taken_stays(void **state)
{
	struct scene s;

	begin(&s, PL_REPLACE_NAMED);
	intruding = true;
	assert_code(pl_new_file_publish(&s.file), PLUMB_ERR_EXISTS);
	assert_string_equal(pl_new_file_path(&s.file), s.beside);
	pl_new_file_discard(&s.file);
	assert_holds(s.path, THEIRS);
	assert_holds(s.beside, OURS);
	end(&s);
}

/* When plumb begins, or when it ends; who only reads it loses nothing. */
static void assert_stays_while_written(struct scene *s, int flags)
{
	enum plumb_error_code expected = flags == O_RDONLY ? PLUMB_OK : PLUMB_ERR_EXISTS;
	int theirs = open(s->path, flags | O_CLOEXEC);
	struct pl_new_file other;
	struct stat before, now;

	assert_int_equal(fstat(theirs, &before), 0);
	assert_code(pl_new_file_open(s->path, PL_REPLACE_NAMED, &other), expected);
	pl_new_file_discard(&other);
	assert_code(pl_new_file_publish(&s->file), expected);
	assert_int_equal(stat(s->path, &now), 0);
	assert_int_equal(now.st_ino == before.st_ino, flags != O_RDONLY);
	close(theirs);
}

static void an_empty_file_that_somebody_is_to_write_stays(void **state)
{
	struct scene s;

	for (int flags = O_RDONLY; flags <= O_RDWR; flags++) {
		begin(&s, PL_REPLACE_NAMED);
		assert_stays_while_written(&s, flags);
		end(&s);
	}
}

static void what_plumb_wrote_and_somebody_adds_to_stays(void **state)
{
	const int flags[] = {O_RDONLY, O_WRONLY | O_APPEND, O_RDWR};
	struct scene s;

	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		begin(&s, PL_REPLACE_NAMED);
		pl_new_file_discard(&s.file);
		put_bytes(s.path, PL_FILE_MAGIC, PL_FILE_MAGIC_LEN);
		begin_to_write(&s, PL_REPLACE_NAMED);
		assert_stays_while_written(&s, flags[i]);
		end(&s);
	}
}

/* A server grants a lease or not, whoever has the file open. */
static void on_a_server_what_plumb_wrote_is_replaced(void **state)
{
	struct scene s;

	begin(&s, PL_REPLACE_NAMED);
	pl_new_file_discard(&s.file);
	put_bytes(s.path, PL_FILE_MAGIC, PL_FILE_MAGIC_LEN);
	int theirs = open(s.path, O_WRONLY | O_CLOEXEC); /* so that no lease is granted */
	on_server = true;
	begin_to_write(&s, PL_REPLACE_NAMED);
	assert_ok(pl_new_file_publish(&s.file));
	on_server = false;
	assert_holds(s.path, OURS);
	close(theirs);
	end(&s);
}

static void a_name_that_has_become_free_is_taken(void **state)
{
	struct scene s;

	begin(&s, PL_REPLACE_NAMED);
	assert_int_equal(unlink(s.path), 0);
	assert_ok(pl_new_file_publish(&s.file));
	assert_holds(s.path, OURS);
	end(&s);
}

static void a_name_that_comes_to_be_taken_in_that_moment_stays(void **state)
{
	struct scene s;

	begin(&s, PL_REPLACE_NAMED);
	assert_int_equal(unlink(s.path), 0);
	intruding = true;
	assert_code(pl_new_file_publish(&s.file), PLUMB_ERR_EXISTS);
	assert_holds(s.path, THEIRS);
	end(&s);
}

static void without_the_name_what_was_written_stays_and_is_tried_again(void **state)
{
	struct scene s;

	for (enum pl_replace replace = PL_REPLACE_NAMED; replace <= PL_REPLACE_ALL; replace++) {
		begin(&s, replace);
		failing_with = EBUSY;
		failing_times = 1;
		struct plumb_error *err = pl_new_file_publish(&s.file);
		assert_int_equal(plumb_error_code(err), PLUMB_ERR_WRITE_FAILED);
		assert_non_null(strstr(plumb_error_message(err), s.beside));
		assert_non_null(strstr(plumb_error_message(err), "busy"));
		plumb_error_destroy(err);
		assert_holds(s.beside, OURS);
		assert_ok(pl_new_file_publish(&s.file));
		assert_string_equal(pl_new_file_path(&s.file), s.path);
		assert_holds(s.path, OURS);
		end(&s);
	}
	begin(&s, PL_REPLACE_NAMED);
	failing_times = 1;
	assert_code(pl_new_file_publish(&s.file), PLUMB_ERR_WRITE_FAILED);
	pl_new_file_discard(&s.file);
	assert_holds(s.beside, OURS);
	end(&s);
}

/* In a directory where others may write: before it is to be renamed, or in the moment in which that is refused. */
static void what_is_a_link_of_anothers_by_now_is_neither_named_nor_told(void **state)
{
	char target[16];
	struct scene s;

	for (int in_that_moment = 0; in_that_moment < 2; in_that_moment++) {
		begin(&s, PL_REPLACE_NAMED);
		taking = in_that_moment;
		failing_with = EBUSY;
		failing_times = in_that_moment;
		if (!in_that_moment)
			put_link(s.beside);
		struct plumb_error *err = pl_new_file_publish(&s.file);
		assert_int_equal(plumb_error_code(err), PLUMB_ERR_WRITE_FAILED);
		assert_non_null(strstr(plumb_error_message(err), "taken away"));
		plumb_error_destroy(err);
		assert_string_equal(pl_new_file_path(&s.file), s.path);
		assert_holds(s.path, "");
		assert_int_equal(readlink(s.beside, target, sizeof target), strlen("elsewhere"));
		assert_ok(pl_new_file_finish(&s.file));
		assert_ok(pl_new_file_publish(&s.file));
		assert_holds(s.path, OURS);
		end(&s);
	}
}

/* A server that becomes an ordinary user while it records itself: it may look into the directory no more, or not change
 * it. */
static void who_has_dropped_rights_is_told_where_it_is(void **state)
{
	struct scene s;

	for (mode_t mode = 0; mode <= 0555; mode += 0555) {
		for (int published = 0; published < 2; published++) {
			begin(&s, PL_REPLACE_NAMED);
			if (published)
				assert_ok(pl_new_file_publish(&s.file));
			assert_int_equal(chmod(s.dir, mode), 0);
			bool root = geteuid() == 0;
			assert_int_equal(root ? seteuid(65534) : 0, 0);
			struct plumb_error *finished = pl_new_file_finish(&s.file);
			struct plumb_error *err = pl_new_file_publish(&s.file);
			assert_int_equal(root ? seteuid(0) : 0, 0);
			assert_int_equal(chmod(s.dir, 0700), 0);
			assert_ok(finished);
			assert_int_equal(plumb_error_code(err), published ? PLUMB_OK : PLUMB_ERR_WRITE_FAILED);
			assert_true(published || (strstr(plumb_error_message(err), s.beside) &&
						  strstr(plumb_error_message(err), "Permission denied")));
			plumb_error_destroy(err);
			assert_string_equal(pl_new_file_path(&s.file), published ? s.path : s.beside);
			assert_holds(pl_new_file_path(&s.file), OURS);
			end(&s);
		}
	}
}

static void what_replaces_a_file_is_on_the_disk_before(void **state)
{
	struct scene s;

	for (enum pl_replace replace = PL_REPLACE_NAMED; replace <= PL_REPLACE_ALL; replace++) {
		for (int old = 0; old < 2; old++) {
			begin(&s, replace);
			refuses_flags = old;
			disk_fails = true;
			assert_code(pl_new_file_publish(&s.file), PLUMB_ERR_WRITE_FAILED);
			assert_true(synced);
			assert_holds(s.path, "");
			assert_holds(s.beside, OURS);
			disk_fails = false;
			assert_ok(pl_new_file_publish(&s.file));
			assert_holds(s.path, OURS);
			end(&s);
		}
		begin(&s, replace);
		assert_int_equal(unlink(s.path), 0);
		assert_ok(pl_new_file_publish(&s.file));
		assert_false(synced);
		end(&s);
	}
}

static void what_is_discarded_is_gone(void **state)
{
	struct scene s;

	begin(&s, PL_REPLACE_NAMED);
	pl_new_file_discard(&s.file);
	assert_int_equal(access(s.beside, F_OK), -1);
	assert_holds(s.path, "");
	end(&s);
}

/* Whoever has the name by then: only what is still plumb's is taken away. */
static void a_disk_that_turns_out_to_be_full_in_the_end_costs_others_nothing(void **state)
{
	struct scene s;

	for (int theirs = 0; theirs < 2; theirs++) {
		begin(&s, PL_REPLACE_NAMED);
		if (theirs) {
			assert_int_equal(unlink(s.beside), 0);
			put(s.beside, THEIRS);
		}
		full = true;
		assert_code(pl_new_file_finish(&s.file), PLUMB_ERR_WRITE_FAILED);
		pl_new_file_discard(&s.file);
		assert_int_equal(access(s.beside, F_OK), theirs ? 0 : -1);
		assert_holds(s.path, "");
		end(&s);
	}
}

static void what_somebody_has_taken_away_is_there_again(void **state)
{
	struct scene s;

	for (int published = 0; published < 2; published++) {
		begin(&s, PL_REPLACE_NAMED);
		if (published)
			assert_ok(pl_new_file_publish(&s.file));
		assert_int_equal(unlink(published ? s.path : s.beside), 0);
		assert_ok(pl_new_file_finish(&s.file));
		assert_ok(pl_new_file_publish(&s.file));
		assert_holds(s.path, OURS);
		end(&s);
	}
}

/* Be it empty: they are about to write it. */
/* Who insists has done so for what was there. */
static void what_another_has_put_in_its_place_stays(void **state)
{
	const char *theirs[] = {THEIRS, ""};
	struct scene s;

	for (int i = 0; i < 4; i++) {
		begin(&s, i < 2 ? PL_REPLACE_NAMED : PL_REPLACE_ALL);
		assert_ok(pl_new_file_publish(&s.file));
		assert_int_equal(unlink(s.path), 0);
		put(s.path, theirs[i % 2]);
		assert_ok(pl_new_file_finish(&s.file));
		assert_code(pl_new_file_publish(&s.file), PLUMB_ERR_EXISTS);
		snprintf(s.beside, sizeof s.beside, "%s", pl_new_file_path(&s.file));
		assert_holds(s.path, theirs[i % 2]);
		assert_holds(s.beside, OURS);
		end(&s);
	}
}

/* Over what both have found there, and where the name was free. */
static void assert_finished_meanwhile_stays(enum pl_replace replace, bool old, bool is_free)
{
	struct scene s;
	struct pl_new_file other;

	begin(&s, replace);
	refuses_flags = old;
	if (is_free)
		begin_anew(&s);
	assert_ok(pl_new_file_open(s.path, replace, &other));
	assert_int_equal(write(other.fd, THEIRS, strlen(THEIRS)), strlen(THEIRS));
	assert_ok(pl_new_file_publish(&other));
	pl_new_file_discard(&other);
	assert_code(pl_new_file_publish(&s.file), PLUMB_ERR_EXISTS);
	assert_holds(s.path, THEIRS);
	assert_holds(s.beside, OURS);
	end(&s);
}

static void what_another_plumb_has_finished_meanwhile_stays(void **state)
{
	for (enum pl_replace replace = PL_REPLACE_NAMED; replace <= PL_REPLACE_ALL; replace++)
		for (int way = 0; way < 4; way++)
			assert_finished_meanwhile_stays(replace, way & 1, way & 2);
}

/* Whatever becomes of it until then. */
static void who_insists_replaces_what_was_there(void **state)
{
	struct scene s;

	for (int old = 0; old < 2; old++) {
		begin(&s, PL_REPLACE_ALL);
		refuses_flags = old;
		int theirs = open(s.path, O_WRONLY | O_CLOEXEC);
		assert_int_equal(write(theirs, THEIRS, strlen(THEIRS)), strlen(THEIRS));
		assert_ok(pl_new_file_publish(&s.file));
		close(theirs);
		assert_holds(s.path, OURS);
		end(&s);
	}
}

static void what_is_being_written_is_not_replaced(void **state)
{
	struct scene s;
	struct pl_new_file other;

	begin(&s, PL_REPLACE_NAMED);
	assert_ok(pl_new_file_publish(&s.file));
	assert_code(pl_new_file_open(s.path, PL_REPLACE_NAMED, &other), PLUMB_ERR_EXISTS);
	pl_new_file_discard(&s.file);
	assert_ok(pl_new_file_open(s.path, PL_REPLACE_NAMED, &other));
	pl_new_file_discard(&other);
	assert_holds(s.path, OURS);
	end(&s);
}

/* The program that plumb is in has closed all descriptors there are, and has files of its own under these numbers. */
static void what_is_anothers_by_now_is_not_touched(void **state)
{
	struct scene s;
	struct stat st;
	char marked[8], other[160];

	for (int dir = 0; dir < 2; dir++) {
		begin(&s, PL_REPLACE_NAMED);
		snprintf(other, sizeof other, "%s/other", s.dir);
		int fd = dir ? s.file.dir : s.file.fd, theirs = open(other, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		assert_int_equal(dup3(theirs, fd, O_CLOEXEC), fd);
		assert_code(pl_new_file_check(&s.file), PLUMB_ERR_WRITE_FAILED);
		assert_code(pl_new_file_finish(&s.file), PLUMB_ERR_WRITE_FAILED);
		assert_code(pl_new_file_publish(&s.file), PLUMB_ERR_WRITE_FAILED);
		assert_string_equal(pl_new_file_path(&s.file), s.beside);
		assert_false(pl_new_file_rename(&s.file, s.path));
		pl_new_file_discard(&s.file);
		assert_true(fstat(fd, &st) == 0 && st.st_size == 0 &&
			    fgetxattr(fd, "user.plumb", marked, sizeof marked) < 0);
		assert_holds(s.beside, OURS);
		close(fd);
		close(theirs);
		unlink(other);
		end(&s);
	}
}

/* A pipe that is full. */
static void begin_pipe(struct scene *s, int reads_after, int hurry_after)
{
	*s = (struct scene){.dir = "/tmp/plumb-test-new-file-XXXXXX"};
	assert_non_null(mkdtemp(s->dir));
	snprintf(s->path, sizeof s->path, "%s/pipe", s->dir);
	assert_int_equal(mkfifo(s->path, 0600), 0);
	reader.fd = open(s->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(reader.fd >= 0);
	reader.looks = 0;
	reader.reads_after = reads_after;
	reader.hurry_after = hurry_after;
	assert_ok(pl_new_file_open(s->path, PL_REPLACE_NAMED, &s->file));
	pl_new_file_heed(&s->file, &reader.hurry);
	char *bytes = calloc(1, 1 << 20);
	assert_true(pl_new_file_write(&s->file, bytes, 1 << 20) > 0);
	free(bytes);
	assert_int_equal(reader.looks, 0);
}

static void end_pipe(struct scene *s)
{
	close(reader.fd);
	end(s);
}

static void who_reads_a_pipe_is_waited_for(void **state)
{
	struct scene s;

	begin_pipe(&s, 1000, 1000);
	assert_int_equal(pl_new_file_write(&s.file, "x", 1), 1);
	assert_int_equal(reader.looks, 1000);
	assert_false(s.file.deserted);
	end_pipe(&s);
}

static void who_still_reads_is_waited_for_when_the_end_was_asked_for(void **state)
{
	struct scene s;

	begin_pipe(&s, 20, 0);
	while (reader.looks < 200)
		assert_int_equal(pl_new_file_write(&s.file, "x", 1), 1);
	assert_false(s.file.deserted);
	end_pipe(&s);
}

static void who_reads_nothing_more_is_given_up_when_the_end_was_asked_for(void **state)
{
	struct scene s;

	begin_pipe(&s, 1000, 500);
	assert_int_equal(pl_new_file_write(&s.file, "x", 1), -1);
	assert_true(s.file.deserted);
	assert_in_range(reader.looks, 501, 600);
	end_pipe(&s);
}

static int entries(const char *dir)
{
	struct dirent **found;
	int n = scandir(dir, &found, NULL, NULL);

	for (int i = 0; i < n; i++)
		free(found[i]);
	free(found);
	return n - 2;
}

static void trying_leaves_what_is_there_and_nothing_else(void **state)
{
	struct scene s;

	begin(&s, PL_REPLACE_NAMED);
	pl_new_file_discard(&s.file);
	assert_int_equal(unlink(s.path), 0);
	assert_ok(pl_new_file_try_open(s.path, PL_REPLACE_NAMED));
	assert_int_equal(entries(s.dir), 0);
	put(s.path, THEIRS);
	assert_code(pl_new_file_try_open(s.path, PL_REPLACE_NAMED), PLUMB_ERR_EXISTS);
	assert_ok(pl_new_file_try_open(s.path, PL_REPLACE_ALL));
	assert_holds(s.path, THEIRS);
	assert_int_equal(entries(s.dir), 1);
	assert_code(pl_new_file_try_open(s.dir, PL_REPLACE_NAMED), PLUMB_ERR_WRITE_FAILED);
	end(&s);
}

/* Who reads it would come to its end, and who is yet to read it is not waited for. */
static void trying_opens_no_pipe(void **state)
{
	struct scene s;

	begin(&s, PL_REPLACE_NAMED);
	pl_new_file_discard(&s.file);
	assert_int_equal(unlink(s.path), 0);
	assert_int_equal(mkfifo(s.path, 0600), 0);
	struct pollfd from = {.fd = open(s.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), .events = POLLIN};
	assert_true(from.fd >= 0);
	assert_ok(pl_new_file_try_open(s.path, PL_REPLACE_NAMED));
	assert_int_equal(__real_poll(&from, 1, 0), 0);
	close(from.fd);
	assert_ok(pl_new_file_try_open(s.path, PL_REPLACE_NAMED));
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_takes_the_name),
		cmocka_unit_test(what_comes_when_the_name_is_taken_stays),
		cmocka_unit_test(an_empty_file_that_somebody_is_to_write_stays),
		cmocka_unit_test(what_plumb_wrote_and_somebody_adds_to_stays),
		cmocka_unit_test(on_a_server_what_plumb_wrote_is_replaced),
		cmocka_unit_test(a_name_that_has_become_free_is_taken),
		cmocka_unit_test(a_name_that_comes_to_be_taken_in_that_moment_stays),
		cmocka_unit_test(without_the_name_what_was_written_stays_and_is_tried_again),
		cmocka_unit_test(what_is_a_link_of_anothers_by_now_is_neither_named_nor_told),
		cmocka_unit_test(who_has_dropped_rights_is_told_where_it_is),
		cmocka_unit_test(what_replaces_a_file_is_on_the_disk_before),
		cmocka_unit_test(what_is_discarded_is_gone),
		cmocka_unit_test(a_disk_that_turns_out_to_be_full_in_the_end_costs_others_nothing),
		cmocka_unit_test(what_somebody_has_taken_away_is_there_again),
		cmocka_unit_test(what_another_has_put_in_its_place_stays),
		cmocka_unit_test(what_another_plumb_has_finished_meanwhile_stays),
		cmocka_unit_test(who_insists_replaces_what_was_there),
		cmocka_unit_test(what_is_being_written_is_not_replaced),
		cmocka_unit_test(what_is_anothers_by_now_is_not_touched),
		cmocka_unit_test(who_reads_a_pipe_is_waited_for),
		cmocka_unit_test(who_still_reads_is_waited_for_when_the_end_was_asked_for),
		cmocka_unit_test(who_reads_nothing_more_is_given_up_when_the_end_was_asked_for),
		cmocka_unit_test(trying_leaves_what_is_there_and_nothing_else),
		cmocka_unit_test(trying_opens_no_pipe),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
