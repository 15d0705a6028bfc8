#pragma once
// Private functions of Swift's concurrency runtime (Concurrency.h in its source) and of libdispatch (private.h). A test
// of SystemTests, "the private functions of the Swift libraries work", calls each of them.
//
// Their public replacement is the protocol ExecutorFactory: a typealias DefaultExecutorFactory in the main module
// selects the executor of the main actor and that of all other tasks. The library of Swift 6.3 contains it, but not in
// its public interface (proposed to Swift Evolution as "Custom Main and Global Executors").

#define SHIM_SWIFT_CALL __attribute__((swiftcall))

typedef SHIM_SWIFT_CALL void (*shim_enqueue_function)(void *job);

extern SHIM_SWIFT_CALL void (*swift_task_enqueueGlobal_hook)(void *job, shim_enqueue_function original);
extern SHIM_SWIFT_CALL void swift_task_enqueueMainExecutor(void *job);

static SHIM_SWIFT_CALL void shim_enqueue_on_main(void *job, shim_enqueue_function original) {
    (void)original;
    swift_task_enqueueMainExecutor(job);
}

// Runs tasks that belong to no actor on the main queue as well. Otherwise, the first such task starts the pool of
// worker threads of libdispatch, whose monitor wakes the process every second from then on.
static inline void shim_run_every_task_on_main(void) {
    swift_task_enqueueGlobal_hook = shim_enqueue_on_main;
}

// The interface for an event loop that also waits for descriptors: an eventfd that is written when work is added to the
// main queue, and the function that runs the work. Foundation's RunLoop uses them.
int dispatch_main_queue_descriptor(void) __asm__("_dispatch_get_main_queue_handle_4CF");
void dispatch_main_queue_run(void *unused) __asm__("_dispatch_main_queue_callback_4CF");
