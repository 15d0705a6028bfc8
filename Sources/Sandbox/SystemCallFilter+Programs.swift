internal import CSandbox
internal import Glibc

extension SystemCallFilter {
    /// For a program in whatever language that works with what it has open: everything but network, other
    /// processes, memory that nobody counts, and what only rulers of the machine need.
    ///
    /// - Parameter refusesSignals: Whether it may not send signals: where nothing else keeps it from those that
    ///   are not its own.
    /// - Returns: The filter.
    package static func program(refusesSignals: Bool) -> SystemCallFilter {
        var filter = SystemCallFilter(allowsOthers: true)
        filter.refuse([
            // Network, and the sockets of others
            __NR_socket, __NR_connect, __NR_bind, __NR_listen, __NR_accept, __NR_accept4,
            // Memory that no limit counts: System V and named memory, queues; those of others, too
            __NR_memfd_create, __NR_shmget, __NR_shmat, __NR_shmctl, __NR_msgget, __NR_msgsnd,
            __NR_msgrcv, __NR_msgctl, __NR_semget, __NR_semop, __NR_semtimedop, __NR_semctl,
            __NR_mq_open, __NR_mq_unlink,
            // Other processes
            __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, __NR_kcmp,
            __NR_process_madvise, __NR_pidfd_open, __NR_pidfd_getfd, __NR_pidfd_send_signal,
            // Namespaces and mounts
            __NR_unshare, __NR_setns, __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot,
            __NR_open_tree, __NR_move_mount, __NR_fsopen, __NR_fsconfig, __NR_fsmount,
            __NR_fspick, __NR_name_to_handle_at, __NR_open_by_handle_at, __NR_fanotify_init,
            // Keys of the kernel's
            __NR_add_key, __NR_request_key, __NR_keyctl,
            // Parts of the kernel with many errors and no use here
            __NR_bpf, __NR_perf_event_open, __NR_userfaultfd, __NR_io_uring_setup,
            __NR_io_uring_enter, __NR_io_uring_register, __NR_quotactl, __NR_acct,
            // The machine
            __NR_kexec_load, __NR_init_module, __NR_finit_module, __NR_delete_module,
            __NR_reboot, __NR_swapon, __NR_swapoff, __NR_syslog, __NR_settimeofday,
            __NR_clock_settime, __NR_adjtimex, __NR_clock_adjtime, __NR_sethostname,
            __NR_setdomainname, __NR_vhangup,
            // More than it was given
            __NR_setrlimit,
        ])
        // Memory that is shared can be had without being counted, and written later.
        filter.refuse(__NR_mmap, argument: 3, mask: 1, is: 1)
        // Looks at limits, and changes none: the third argument is the new one.
        filter.allow(__NR_prlimit64, argument: 2, is: 0)
        filter.refuse([__NR_prlimit64])
        // Threads, but no processes. clone3 hides its flags in memory; C libraries then take the other.
        filter.refuse(__NR_clone, argument: 0, mask: 0x10000, is: 0)
        filter.refuse(__NR_clone3, with: ENOSYS)
        // What is typed into a terminal, in somebody's name.
        filter.refuse(__NR_ioctl, argument: 1, is: 0x5412)
        filter.refuse(__NR_ioctl, argument: 1, is: 0x541c)
        if refusesSignals {
            filter.refuse([
                __NR_kill, __NR_tkill, __NR_tgkill, __NR_rt_sigqueueinfo, __NR_rt_tgsigqueueinfo,
            ])
        }
        #if arch(x86_64)
            filter.refuse([__NR_fork, __NR_vfork, __NR_iopl, __NR_ioperm, __NR_kexec_file_load])
        #endif
        return filter
    }
}
