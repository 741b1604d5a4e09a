// The numbers of the native side that Java and Python repeat, for a test that compares them.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// A line for each: its name, a space, the number.
const char* pyflow_shared_numbers(void);

#ifdef __cplusplus
}
#endif
