#pragma once
// GLib 2.88 marks enumerations of flags with an attribute, for which Swift imports them under other names. Without the
// attribute, the names are the same in all versions. Include this file before the first header of GLib.

#define __GLIB_H_INSIDE__
#include <glib/gmacros.h>
#undef __GLIB_H_INSIDE__
#undef G_GNUC_FLAG_ENUM
#define G_GNUC_FLAG_ENUM
