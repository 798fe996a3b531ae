/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings for tests. */
#include "recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

char *temp_file(void)
{
	const char *dir = getenv("TMPDIR");
	char *path = NULL;
	assert_true(asprintf(&path, "%s/plumb-test-XXXXXX", dir ? dir : "/tmp") > 0);
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	return path;
}

uint8_t *file_bytes(const char *path, size_t *len_ret)
{
	FILE *f = fopen(path, "rb");
	struct stat st = {0};
	assert_true(f && fstat(fileno(f), &st) == 0);
	uint8_t *bytes = malloc((size_t)st.st_size + 1);
	assert_int_equal(fread(bytes, 1, (size_t)st.st_size, f), st.st_size);
	fclose(f);
	*len_ret = (size_t)st.st_size;
	return bytes;
}

int fd_of(const void *bytes, size_t len)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

struct plumb_error *read_bytes(const void *bytes, size_t len, struct plumb_profile **p, struct pl_capture_info *info)
{
	int fd = fd_of(bytes, len);
	check(pl_profile_create(p));
	struct plumb_error *err = pl_capture_read(fd, *p, NULL, NULL, info);
	close(fd);
	return err;
}

uint64_t samples_in(const struct plumb_profile *p)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < p->cell_count; i++)
		sum += p->cells[i].samples;
	return sum;
}

/* Totals, a chunk, and what a reader should make of the file up to here. */
static void end_chunk(struct recording *r, struct generator *g, struct pl_capture_writer *w, const char *path,
		      bool last)
{
	struct stat st;
	size_t i = r->chunks++;
	random_meta(&g->rng, r->profile);
	r->profile->meta.complete = last;
	check(last ? pl_capture_finish(w, r->profile) : pl_capture_flush(w, r->profile));
	assert_int_equal(stat(path, &st), 0);
	r->end[i] = (size_t)st.st_size;
	r->samples[i] = samples_in(r->profile);
	r->dump[i] = profile_dump(r->profile);
}

static void make(struct recording *r, uint64_t seed, size_t chunks, unsigned samples_each, bool rich)
{
	*r = (struct recording){0};
	struct pl_capture_writer *w = NULL;
	char *path = temp_file();
	check(pl_profile_create(&r->profile));
	struct generator g = {
		.rng = {.state = seed}, .profile = r->profile, .depth = 8, .processes = 2, .rich = rich, .tags = rich};
	g.step_ns = 4000000;
	random_meta(&g.rng, r->profile);
	check(pl_capture_create(path, r->profile, &w));
	for (size_t i = 0; i < chunks; i++) {
		for (unsigned s = 0; s < samples_each; s++) {
			struct pl_sample sample = generate_sample(&g);
			check(pl_profile_add(r->profile, &sample));
			check(pl_capture_add(w, &sample));
		}
		if (rich) {
			generate_source(&g);
			generate_waits(&g);
			struct pl_event e = generate_event(&g);
			check(pl_capture_event(w, &e));
		}
		end_chunk(r, &g, w, path, i + 1 == chunks);
	}
	pl_capture_destroy(w);
	r->bytes = file_bytes(path, &r->len);
	unlink(path);
	free(path);
}

void recording_make(struct recording *r, uint64_t seed, size_t chunks, unsigned samples_each)
{
	make(r, seed, chunks, samples_each, false);
}

void recording_make_rich(struct recording *r, uint64_t seed, size_t chunks, unsigned samples_each)
{
	make(r, seed, chunks, samples_each, true);
}

void recording_free(struct recording *r)
{
	for (size_t i = 0; i < r->chunks; i++)
		free(r->dump[i]);
	free(r->bytes);
	pl_profile_destroy(r->profile);
}

void kept_init(struct kept *s)
{
	*s = (struct kept){.path = temp_file()};
	check(pl_profile_create(&s->p));
	check(pl_capture_create(s->path, s->p, &s->w));
}

void kept_read(struct kept *s)
{
	size_t len = 0;

	s->p->meta.complete = true;
	check(pl_capture_finish(s->w, s->p));
	uint8_t *bytes = file_bytes(s->path, &len);
	check(read_bytes(bytes, len, &s->back, &s->info));
	free(bytes);
}

void kept_deinit(struct kept *s)
{
	pl_capture_destroy(s->w);
	pl_profile_destroy(s->p);
	pl_profile_destroy(s->back);
	unlink(s->path);
	free(s->path);
}
