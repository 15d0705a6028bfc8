#pragma once

#include <langinfo.h>
#include <libintl.h>
#include <locale.h>
#include <time.h>
