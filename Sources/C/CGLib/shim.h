#pragma once
#include "../glib-flags.h"

#include <glib.h>
