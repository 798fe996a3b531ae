/* SPDX-License-Identifier: Apache-2.0 */
/* The symbols by which an interpreter is found, in a program or library that is none. */
#ifdef HIDDEN
#define VISIBLE __attribute__((visibility("hidden"), used))
#else
#define VISIBLE __attribute__((visibility("default"), used))
#endif
#ifdef IN_SECTION
#define PLACE VISIBLE __attribute__((section(".PyRuntime")))
#else
#define PLACE VISIBLE
#endif

void fake_addresses(unsigned long ret[3]);
int fake_host(void);
extern char _PyRuntime[512], PyCode_Type[64];
extern const unsigned long Py_Version;

PLACE char _PyRuntime[512] = {1};
VISIBLE char PyCode_Type[64] = {1};
VISIBLE const unsigned long Py_Version = 0x03090100;

/* Where these symbols are for this file: an executable may have been given copies of them. */
VISIBLE void fake_addresses(unsigned long ret[3])
{
	ret[0] = (unsigned long)_PyRuntime;
	ret[1] = (unsigned long)PyCode_Type;
	ret[2] = (unsigned long)&Py_Version;
}

#ifdef HOST
VISIBLE int fake_host(void)
{
	return 0;
}
#endif
