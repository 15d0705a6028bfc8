internal import CSandbox
internal import Glibc

extension SystemCallFilter {
    /// For a program in whatever language that works with what it has open: everything but network, other
    /// processes, memory that nobody counts, and what only rulers of the machine need. What no such program tries
    /// is reported.
    ///
    /// - Parameter refusesSignals: Whether it may not send signals: where nothing else keeps it from those that
    ///   are not its own.
    /// - Returns: The filter.
    package static func program(refusesSignals: Bool) -> SystemCallFilter {
        var filter = SystemCallFilter(allowsOthers: true)
        filter.report(reported.map(\.call))
        filter.refuse([
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
        filter.report(__NR_clone, argument: 0, mask: 0x10000, is: 0)
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
            filter.refuse([__NR_iopl, __NR_ioperm, __NR_kexec_file_load])
        #endif
        return filter
    }

    /// The name of a call that is reported.
    static func name(_ call: Int32) -> String {
        if call == __NR_clone { return "clone" }
        return reported.first { $0.call == call }?.name ?? "\(call)"
    }

    /// What no program tries that works with what it has open.
    private static let reported: [(name: String, call: Int32)] = {
        var calls: [(String, Int32)] = [
            // Network, and the sockets of others
            ("socket", __NR_socket), ("connect", __NR_connect), ("bind", __NR_bind),
            ("listen", __NR_listen), ("accept", __NR_accept), ("accept4", __NR_accept4),
            // Memory that no limit counts: System V and named memory, queues; those of others, too
            ("memfd_create", __NR_memfd_create), ("shmget", __NR_shmget), ("shmat", __NR_shmat),
            ("shmctl", __NR_shmctl), ("msgget", __NR_msgget), ("msgsnd", __NR_msgsnd),
            ("msgrcv", __NR_msgrcv), ("msgctl", __NR_msgctl), ("semget", __NR_semget),
            ("semop", __NR_semop), ("semtimedop", __NR_semtimedop), ("semctl", __NR_semctl),
            ("mq_open", __NR_mq_open), ("mq_unlink", __NR_mq_unlink),
            // Other processes
            ("ptrace", __NR_ptrace), ("process_vm_readv", __NR_process_vm_readv),
            ("process_vm_writev", __NR_process_vm_writev), ("kcmp", __NR_kcmp),
            ("process_madvise", __NR_process_madvise), ("pidfd_open", __NR_pidfd_open),
            ("pidfd_getfd", __NR_pidfd_getfd), ("pidfd_send_signal", __NR_pidfd_send_signal),
            // Namespaces and mounts
            ("unshare", __NR_unshare), ("setns", __NR_setns), ("mount", __NR_mount),
            ("umount2", __NR_umount2), ("pivot_root", __NR_pivot_root), ("chroot", __NR_chroot),
            ("open_tree", __NR_open_tree), ("move_mount", __NR_move_mount), ("fsopen", __NR_fsopen),
            ("fsconfig", __NR_fsconfig), ("fsmount", __NR_fsmount), ("fspick", __NR_fspick),
            ("name_to_handle_at", __NR_name_to_handle_at),
            ("open_by_handle_at", __NR_open_by_handle_at), ("fanotify_init", __NR_fanotify_init),
            // Keys of the kernel's
            ("add_key", __NR_add_key), ("request_key", __NR_request_key), ("keyctl", __NR_keyctl),
        ]
        #if arch(x86_64)
            calls += [("fork", __NR_fork), ("vfork", __NR_vfork)]
        #endif
        return calls
    }()
}
