/* SPDX-License-Identifier: Apache-2.0 */
/* A minimal D-Bus service with sd-bus: the reference for the start-up time of the daemon in
 * dist/development/benchmark. */
#include <systemd/sd-bus.h>

static int reply(sd_bus_message *call, void *context, sd_bus_error *error) {
    (void)context;
    (void)error;
    return sd_bus_reply_method_return(call, "s", "Hello");
}

static const sd_bus_vtable interface[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("Hello", "", "s", reply, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};

int main(void) {
    sd_bus *bus = NULL;
    if (sd_bus_open_user(&bus) < 0) return 1;
    if (sd_bus_add_object_vtable(bus, NULL, "/", "org.imagefeed.Reference", interface, NULL) < 0) return 1;
    if (sd_bus_request_name(bus, "org.imagefeed.Reference", 0) < 0) return 1;
    for (;;) {
        int count = sd_bus_process(bus, NULL);
        if (count < 0) return 1;
        if (count == 0 && sd_bus_wait(bus, UINT64_MAX) < 0) return 1;
    }
}
