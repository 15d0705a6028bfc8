#pragma once
// libcurl, loaded at the first request, because it loads about 25 further libraries, which a program without requests
// does not need. This file therefore uses only the types of its functions and does not refer to its symbols.

#define CURL_DISABLE_TYPECHECK
#include "../library.h"
#include <curl/curl.h>

#define SHIM_CURL_FUNCTIONS(each) \
    each(easy_cleanup) each(easy_init) each(easy_pause) each(easy_setopt) each(easy_strerror) \
    each(free) each(global_init) \
    each(multi_add_handle) each(multi_cleanup) each(multi_info_read) each(multi_init) \
    each(multi_remove_handle) each(multi_setopt) each(multi_socket_action) each(multi_strerror) \
    each(slist_append) each(slist_free_all) \
    each(url) each(url_cleanup) each(url_get) each(url_set) each(url_strerror) \
    each(version_info)

#define SHIM_CURL_FIELD(name) __typeof__(&curl_##name) name;
#define SHIM_CURL_FIND(name) SHIM_FIND_AS(name, "curl_" #name)

// The functions of libcurl, without their prefix.
SHIM_LIBRARY(shim_curl, SHIM_CURL_FUNCTIONS(SHIM_CURL_FIELD), SHIM_CURL_FUNCTIONS(SHIM_CURL_FIND))

// Options that the library or its headers may lack: the first two were added in 7.85 and 7.87. The last option is
// deprecated and is used with libraries before 7.85.
static const CURLoption SHIM_CURLOPT_PROTOCOLS_STR = (CURLoption)10318;
static const CURLoption SHIM_CURLOPT_QUICK_EXIT = (CURLoption)322;
static const CURLoption SHIM_CURLOPT_PROTOCOLS = (CURLoption)181;
// A code that was added in 8.6.
static const CURLcode SHIM_CURLE_TOO_LARGE = (CURLcode)100;

// Swift cannot call variadic functions; each of these functions sets an option of one value type.
#define SHIM_CURL_EASY_OPTION(name, type) \
    static inline CURLcode shim_curl_easy_set_##name( \
        const struct shim_curl *curl, CURL *easy, CURLoption option, type value) { \
        return curl->easy_setopt(easy, option, value); \
    }
SHIM_CURL_EASY_OPTION(long, long)
SHIM_CURL_EASY_OPTION(offset, curl_off_t)
SHIM_CURL_EASY_OPTION(string, const char *)
SHIM_CURL_EASY_OPTION(pointer, void *)
SHIM_CURL_EASY_OPTION(data_function, curl_write_callback)
SHIM_CURL_EASY_OPTION(socket_function, curl_opensocket_callback)
SHIM_CURL_EASY_OPTION(request_function, curl_prereq_callback)

#define SHIM_CURL_MULTI_OPTION(name, type) \
    static inline CURLMcode shim_curl_multi_set_##name( \
        const struct shim_curl *curl, CURLM *multi, CURLMoption option, type value) { \
        return curl->multi_setopt(multi, option, value); \
    }
SHIM_CURL_MULTI_OPTION(long, long)
SHIM_CURL_MULTI_OPTION(pointer, void *)
SHIM_CURL_MULTI_OPTION(socket_function, curl_socket_callback)
SHIM_CURL_MULTI_OPTION(timer_function, curl_multi_timer_callback)
