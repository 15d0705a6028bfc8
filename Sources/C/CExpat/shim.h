#pragma once
// libexpat, loaded at its first use, because only some services need it. This file therefore does not refer to its
// symbols. Every system with a D-Bus daemon has the library.

#include "../library.h"
#include <expat.h>

#define SHIM_EXPAT_FUNCTIONS(each) \
    each(ErrorString) each(GetCurrentByteIndex) each(GetErrorCode) each(Parse) each(ParserCreate) \
    each(ParserFree) each(SetCharacterDataHandler) each(SetElementHandler) \
    each(SetStartDoctypeDeclHandler) each(SetUserData) each(StopParser)

#define SHIM_EXPAT_FIELD(name) __typeof__(&XML_##name) name;
#define SHIM_EXPAT_FIND(name) SHIM_FIND_AS(name, "XML_" #name)

// The functions of libexpat, without their prefix.
SHIM_LIBRARY(shim_expat, SHIM_EXPAT_FUNCTIONS(SHIM_EXPAT_FIELD), SHIM_EXPAT_FUNCTIONS(SHIM_EXPAT_FIND))
