internal import CSandbox
internal import Glibc

extension SystemCallFilter {
    /// Creates a filter for a program in any language that uses only its open descriptors. It allows all calls except
    /// network, other processes, memory that no limit counts, and calls for administrators. Calls that no such program
    /// needs fail. `imagefeed-plugin-launcher` adds a filter for the calls that it uses itself: they pass
    /// descriptors to other processes.
    ///
    /// - Parameters:
    ///   - seesOthers: True if the program can see processes outside its sandbox.
    ///   - refusesSignals: True if sending signals is refused, because no other mechanism restricts signals to the
    ///     program's own processes.
    ///   - consultsAboutThreads: True if the ``SystemCallListener`` limits the number of threads.
    /// - Returns: The filter.
    package static func program(
        seesOthers: Bool, refusesSignals: Bool, consultsAboutThreads: Bool
    ) -> SystemCallFilter {
        var filter = SystemCallFilter(allowsOthers: true)
        filter.refuse(unneeded)
        filter.refuse([
            // Complex parts of the kernel that the program does not need
            __NR_bpf, __NR_perf_event_open, __NR_userfaultfd, __NR_io_uring_setup,
            __NR_io_uring_enter, __NR_io_uring_register, __NR_quotactl, __NR_acct,
            // The state of the machine
            __NR_kexec_load, __NR_init_module, __NR_finit_module, __NR_delete_module,
            __NR_reboot, __NR_swapon, __NR_swapoff, __NR_syslog, __NR_settimeofday,
            __NR_clock_settime, __NR_adjtimex, __NR_clock_adjtime, __NR_sethostname,
            __NR_setdomainname, __NR_vhangup,
            // Load on the disks of all processes
            __NR_sync, __NR_syncfs,
            // Resource limits
            __NR_setrlimit,
        ])
        // Pages of files that no limit counts while a pipe holds them. Libraries copy the bytes instead.
        filter.refuse([__NR_sendfile], with: ENOSYS)
        // Landlock rules use kernel memory that no limit counts. Libraries expect systems without Landlock.
        filter.refuse(landlock, with: EOPNOTSUPP)
        // Only pairs of connected stream sockets. A datagram can be sent to any socket that has a path, also from a
        // pair; SOCK_RAW is an alias of SOCK_DGRAM. Sockets of other families are not restricted to this computer.
        filter.check(
            failure(EPERM), __NR_socketpair, argument: 1, mask: 0xf, is: UInt32(SOCK_DGRAM.rawValue)
        )
        filter.check(
            failure(EPERM), __NR_socketpair, argument: 1, mask: 0xf, is: UInt32(SOCK_RAW.rawValue))
        filter.check(allowing, __NR_socketpair, argument: 0, is: UInt32(AF_UNIX))
        filter.refuse([__NR_socketpair])
        // Shared memory can be allocated without being counted and written later; a mapping that grows downwards counts
        // as a stack.
        filter.check(failure(EPERM), __NR_mmap, argument: 3, mask: 1, is: 1)
        filter.check(failure(EPERM), __NR_mmap, argument: 3, mask: 0x100, is: 0x100)
        // One table of descriptors of limited length: CLOSE_RANGE_UNSHARE, and threads without CLONE_FILES.
        filter.check(failure(EPERM), __NR_close_range, argument: 2, mask: 2, is: 2)
        filter.check(failure(EPERM), __NR_clone, argument: 0, mask: 0x400, is: 0)
        // A listener of its own could allow the refused calls: SECCOMP_FILTER_FLAG_NEW_LISTENER.
        filter.check(failure(EPERM), __NR_seccomp, argument: 1, mask: 8, is: 8)
        // The program must end with its parent: PR_SET_PDEATHSIG.
        filter.check(failure(EPERM), __NR_prctl, argument: 0, is: 1)
        // Reading limits without changing them: the third argument points to the new limit.
        filter.allow(__NR_prlimit64, argumentIsZero: 2)
        filter.refuse([__NR_prlimit64])
        // Signals sent by the kernel to other processes, delays of other processes, pipe memory of the user, and locks,
        // which use kernel memory that no limit counts: F_SETOWN, F_SETSIG and F_SETOWN_EX; F_SETLEASE and F_NOTIFY;
        // F_SETPIPE_SZ; F_SETLK, F_SETLKW, F_OFD_SETLK and F_OFD_SETLKW.
        for command: UInt32 in [8, 10, 15, 1024, 1026, 1031, 6, 7, 37, 38] {
            filter.check(failure(EPERM), __NR_fcntl, argument: 1, is: command)
        }
        // FIOASYNC, FIOSETOWN and SIOCSPGRP.
        for command: UInt32 in [0x5452, 0x8901, 0x8902] {
            filter.check(failure(EPERM), __NR_ioctl, argument: 1, is: command)
        }
        // The requests that C libraries make for any descriptor; the others change files or are for devices: TCGETS and
        // TCGETS2, TIOCGPGRP, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX and FIOCLEX.
        for command: UInt32 in [
            0x5401, 0x802c_542a, 0x540f, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451,
        ] {
            filter.check(allowing, __NR_ioctl, argument: 1, is: command)
        }
        filter.refuse([__NR_ioctl], with: ENOTTY)
        // Extended attributes contain private metadata that the desktop stores about files.
        filter.refuse(
            [
                __NR_getxattr, __NR_lgetxattr, __NR_fgetxattr, __NR_listxattr, __NR_llistxattr,
                __NR_flistxattr, 464, 465,
            ], with: EOPNOTSUPP)
        // The processor and disk priorities of other processes. One number selects all processes of the user.
        filter.check(failure(EPERM), __NR_setpriority, argument: 0, is: 2)
        filter.check(failure(EPERM), __NR_ioprio_set, argument: 0, is: 3)
        if seesOthers {
            for call in [
                __NR_sched_setaffinity, __NR_sched_setscheduler, __NR_sched_setparam,
                __NR_sched_setattr,
            ] {
                filter.check(allowing, call, argument: 0, is: 0)
                filter.refuse([call])
            }
            for call in [__NR_setpriority, __NR_ioprio_set] {
                filter.check(allowing, call, argument: 1, is: 0)
                filter.refuse([call])
            }
        }
        // Threads, but no processes. The flags of clone3 are in memory; without it, C libraries use clone.
        filter.check(failure(EPERM), __NR_clone, argument: 0, mask: 0x10000, is: 0)
        filter.refuse([__NR_clone3], with: ENOSYS)
        if consultsAboutThreads {
            filter.check(consulting, __NR_clone, argument: 0, mask: 0x10000, is: 0x10000)
        }
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

    /// The calls of Landlock.
    private static let landlock: [Int32] = [444, 445, 446]

    /// The calls that no program needs that uses only its open descriptors.
    private static let unneeded: [Int32] = {
        var calls: [Int32] = [
            // Network and other processes' sockets
            __NR_socket, __NR_connect, __NR_bind, __NR_listen, __NR_accept, __NR_accept4,
            // Memory that no limit counts: System V and named memory, queues; also shared with other processes
            __NR_memfd_create, __NR_shmget, __NR_shmat, __NR_shmctl, __NR_msgget, __NR_msgsnd,
            __NR_msgrcv, __NR_msgctl, __NR_semget, __NR_semop, __NR_semtimedop, __NR_semctl,
            __NR_mq_open, __NR_mq_unlink,
            // Pages that no limit counts while a pipe holds them
            __NR_vmsplice, __NR_splice, __NR_tee,
            // Locks, which use kernel memory that no limit counts
            __NR_flock,
            // Other processes
            __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, __NR_kcmp,
            __NR_process_madvise, __NR_pidfd_open, __NR_pidfd_getfd, __NR_pidfd_send_signal,
            __NR_migrate_pages, __NR_move_pages,
            // Namespaces and mounts
            __NR_unshare, __NR_setns, __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot,
            __NR_open_tree, __NR_move_mount, __NR_fsopen, __NR_fsconfig, __NR_fsmount, __NR_fspick,
            __NR_name_to_handle_at, __NR_open_by_handle_at, __NR_fanotify_init,
            // Modes, owners, times, attributes and lengths of files, which Landlock does not control or not in every
            // version, and file activity of other processes. C libraries do not yet define the numbers of the last
            // ones: mount_setattr, memfd_secret, fchmodat2, setxattrat, removexattrat, open_tree_attr, file_setattr.
            __NR_fchmod, __NR_fchmodat, __NR_fchown, __NR_fchownat, __NR_setxattr, __NR_lsetxattr,
            __NR_fsetxattr, __NR_removexattr, __NR_lremovexattr, __NR_fremovexattr, __NR_utimensat,
            __NR_truncate, __NR_inotify_init1, __NR_inotify_add_watch, __NR_io_setup, 442, 447, 452,
            463, 466, 467, 469,
            // Kernel keys
            __NR_add_key, __NR_request_key, __NR_keyctl,
        ]
        #if arch(x86_64)
            calls += [
                __NR_fork, __NR_vfork, __NR_chmod, __NR_chown, __NR_lchown, __NR_utime, __NR_utimes,
                __NR_futimesat, __NR_inotify_init,
            ]
        #endif
        return calls
    }()
}
