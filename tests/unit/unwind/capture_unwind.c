/* SPDX-License-Identifier: Apache-2.0 */
/* Write what unwinding of this very process reads, as files that tests/fuzz/fuzz_unwind.c begins with:
 *
 *     capture_unwind call|signal FILE [filled]
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mem_image.h"
#include "own.h"

#define IMAGES	4
#define ANCHORS 4
#define FACTS	16u

struct facts {
	uint64_t regs[PL_X86_64_COUNT], known;
	uint64_t images[IMAGES][3];
	uint64_t anchors[ANCHORS];
	uint64_t filled;
};

static const char *path;
static bool filled;

/* The images that the frames are in. */
static void note_images(const pl_native_frame_vec *frames, const struct pl_unwind_image *images, struct facts *f)
{
	size_t n = 0;

	for (size_t i = 0; images[i].end && n < IMAGES; i++)
		for (size_t k = 0; k < frames->len; k++)
			if (frames->data[k].image == i) {
				memcpy(f->images[n++], (uint64_t[]){images[i].start, images[i].end, images[i].head},
				       sizeof f->images[0]);
				break;
			}
}

static int save(struct pl_mem_record *rec, const struct facts *f)
{
	const uint64_t at = FACTS;
	const uint32_t len = sizeof *f;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || pl_mem_record_save(rec, fd))
		return 1;
	return write(fd, &at, sizeof at) != sizeof at || write(fd, &len, sizeof len) != sizeof len ||
	       write(fd, f, len) != (ssize_t)len || close(fd);
}

static void capture(void)
{
	static struct pl_unwind_image images[OWN_IMAGES_MAX + 1];
	pl_native_frame_vec frames = {0};
	struct pl_mem_record *rec;
	struct pl_registers regs;
	struct facts f = {.filled = filled};
	ucontext_t c;

	getcontext(&c);
	own_registers(&c, &regs);
	memcpy(f.regs, regs.value, sizeof f.regs);
	f.known = regs.known;
	if (pl_mem_record_create(own_mem(), &rec))
		exit(1);
	struct pl_unwinder u = {
		pl_mem_record_mem(rec), &pl_unwind_x86_64, images, own_images(images), PL_UNWIND_STEPS, NULL, NULL};
	printf("end %d, ", (int)pl_unwind(&u, &regs, PL_NATIVE_EXACT_PC, UINT64_MAX, &frames));
	printf("%zu frames\n", frames.len);
	note_images(&frames, images, &f);
	/* Words in frames; the last ones are far apart. */
	for (size_t i = 0; i < ANCHORS && i < frames.len; i++)
		f.anchors[i] = frames.data[i].sp;
	int status = save(rec, &f);
	pl_mem_record_destroy(rec);
	pl_vec_deinit(&frames);
	if (status)
		exit(status);
}

static void on_signal(int signo)
{
	(void)signo;
	capture();
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: capture_unwind call|signal FILE [filled]\n");
		return 2;
	}
	path = argv[2];
	filled = argc > 3;
	if (strcmp(argv[1], "signal") != 0) {
		capture();
		return 0;
	}
	signal(SIGUSR1, on_signal);
	return raise(SIGUSR1);
}
