/* isphpbd.c - the implementation of all three headers, which the Makefile compiles once for many programs. */
#define ISPHPBD_IMPLEMENTATION
#include "isphpbd.h"
