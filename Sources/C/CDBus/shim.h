#pragma once
#include <dbus/dbus.h>

// The type codes are cast macros, which Swift does not import: `((int) 's')`.
enum { SHIM_DBUS_TYPE_INVALID = DBUS_TYPE_INVALID };
