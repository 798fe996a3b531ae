/* SPDX-License-Identifier: Apache-2.0 */
/* A library with a function that it does not export. */
__attribute__((visibility("default"))) int exported_one(int i);

__attribute__((noinline)) static int local_one(int i)
{
	__asm__ volatile("" : "+r"(i));
	return i;
}

int exported_one(int i)
{
	return local_one(i) + 1;
}
