/* SPDX-License-Identifier: Apache-2.0 */
#include "pieces.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format.h"

static void must(struct plumb_error *err)
{
	if (err)
		abort();
}

/* Returns how long the piece is. */
static size_t add_piece(const uint8_t *data, size_t size, struct pl_chunk_header *h, struct pl_buf *file)
{
	size_t len = (size_t)(data[3] | data[4] << 8);
	struct pl_buf raw = PL_BUF_INIT(1 << 16);

	if (len > size - 5)
		len = size - 5;
	h->kind = data[0] & 1 ? PL_CHUNK_LAST : PL_CHUNK_MORE;
	h->sequence += data[0] & 2 ? 1 : 0;
	h->samples = (uint32_t)(data[1] | data[2] << 8);
	must(pl_buf_add(&raw, data + 5, len));
	must(pl_chunk_seal(h, &raw, file));
	pl_buf_deinit(&raw);
	h->sequence++;
	h->samples_before += h->samples;
	return 5 + len;
}

void recording_of_pieces(const uint8_t *data, size_t size, struct pl_buf *file)
{
	uint8_t header[PL_FILE_HEADER_LEN];
	struct pl_chunk_header h = {0};

	if (size >= PL_FILE_MAGIC_LEN && memcmp(data, PL_FILE_MAGIC, PL_FILE_MAGIC_LEN) == 0) {
		must(pl_buf_add(file, data, size));
		return;
	}
	pl_file_header_encode(header, PL_RECORDING_VERSION);
	must(pl_buf_add(file, header, sizeof header));
	while (size >= 5) {
		size_t len = add_piece(data, size, &h, file);

		data += len;
		size -= len;
	}
}

int recording_file(const struct pl_buf *file)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, file->data, file->len) != (ssize_t)file->len || lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}
