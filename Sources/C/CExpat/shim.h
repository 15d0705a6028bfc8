#pragma once
// libexpat, which every system with a D-Bus daemon has. It is loaded when it is first needed, so that accounts of
// other services do not pay for it: nothing here refers to its symbols.

#include "../library.h"
#include <expat.h>

#define SHIM_EXPAT_FUNCTIONS(each) \
    each(ErrorString) each(GetErrorCode) each(Parse) each(ParserCreateNS) each(ParserFree) \
    each(SetCharacterDataHandler) each(SetElementHandler) each(SetStartDoctypeDeclHandler) \
    each(SetUserData) each(StopParser)

#define SHIM_EXPAT_FIELD(name) __typeof__(&XML_##name) name;
#define SHIM_EXPAT_FIND(name) SHIM_FIND_AS(name, "XML_" #name)

// The functions of libexpat, without their prefix.
SHIM_LIBRARY(shim_expat, SHIM_EXPAT_FUNCTIONS, SHIM_EXPAT_FIELD, SHIM_EXPAT_FIND)
