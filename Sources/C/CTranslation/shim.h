#pragma once

#include <libintl.h>
#include <locale.h>

// Only messages: numbers of other formats would have a decimal comma.
static inline locale_t shim_message_locale(void) { return newlocale(LC_MESSAGES_MASK, "", (locale_t)0); }
