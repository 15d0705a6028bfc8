#pragma once
#include <stddef.h>
#include <stdint.h>

// The main function of libFuzzer, for programs that define a main function of their own.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test)(const uint8_t *data, size_t size));
