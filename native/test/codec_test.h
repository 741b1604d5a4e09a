// The row codec's C interface, for tests that load it into a Python process without a JVM.
//
// Python objects are passed as their addresses (id()). Every function takes the GIL itself, since
// foreign-function libraries give it up around a call; the addressed objects must be alive
// meanwhile.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pyflow_codec pyflow_codec;

enum { PYFLOW_EXACT = 0, PYFLOW_INEXACT = 1, PYFLOW_FAILED = 2 };

// A codec for rows of the struct type that `descriptor` (pyflow.thread_mode.types.describe) stands
// for; `arrow`: as for Arrow-optimised functions, otherwise as for pickled ones. Null on failure.
pyflow_codec* pyflow_codec_open(uintptr_t descriptor, int arrow, int binary_as_bytes);
void pyflow_codec_close(pyflow_codec* codec);

// Encodes a tuple with a value for every field. `*row` then points to `*size` bytes that stay valid
// until the next call; after PYFLOW_INEXACT, with nulls for the values left out. After
// PYFLOW_FAILED there is no row, see pyflow_codec_error.
int pyflow_codec_encode(pyflow_codec* codec, uintptr_t values, const uint8_t** row, size_t* size);

// Decodes a row of `size` bytes, its fixed part at least, and appends the value of every field to
// the list `values`; PYFLOW_EXACT or PYFLOW_FAILED.
int pyflow_codec_decode(pyflow_codec* codec, const uint8_t* row, size_t size, uintptr_t values);

// repr() of the exception of the last call that failed.
const char* pyflow_codec_error(const pyflow_codec* codec);

#ifdef __cplusplus
}
#endif
