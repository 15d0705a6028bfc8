internal import CSandbox
internal import Glibc

extension SystemCallFilter {
    /// A filter for a program that only computes: memory that contains no code, threads, time, reading and writing of
    /// open descriptors, messages on open sockets, and exit.
    ///
    /// It cannot open files, start processes or connect to sockets.
    package static var computing: SystemCallFilter {
        var filter = SystemCallFilter()
        filter.allow([
            // Descriptors
            __NR_read, __NR_write, __NR_readv, __NR_writev, __NR_pread64, __NR_pwrite64, __NR_lseek,
            __NR_fstat, __NR_close, __NR_ftruncate, __NR_sendmsg, __NR_recvmsg, __NR_ppoll,
            // Memory
            __NR_munmap, __NR_mremap, __NR_madvise, __NR_brk,
            // Threads
            __NR_futex, __NR_set_robust_list, __NR_rseq, __NR_set_tid_address, __NR_sched_yield,
            __NR_sched_getaffinity, __NR_membarrier, __NR_gettid,
            // Time, and information about the process itself
            __NR_clock_gettime, __NR_clock_getres, __NR_clock_nanosleep, __NR_gettimeofday,
            __NR_nanosleep, __NR_getpid, __NR_getuid, __NR_geteuid, __NR_getgid, __NR_getegid,
            __NR_getrusage, __NR_sysinfo, __NR_uname, __NR_getrandom,
            // Signals
            __NR_rt_sigaction, __NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_sigaltstack,
            __NR_restart_syscall,
            __NR_exit, __NR_exit_group,
        ])
        #if arch(x86_64)
            filter.allow([__NR_poll, __NR_time, __NR_arch_prctl])
        #endif
        // No memory that is writable and executable.
        for call in [__NR_mmap, __NR_mprotect] {
            filter.check(allowing, call, argument: 2, mask: UInt32(PROT_EXEC), is: 0)
        }
        // The status of a descriptor: AT_EMPTY_PATH. By path, the calls would reveal files that are not open.
        filter.check(allowing, __NR_newfstatat, argument: 3, is: 0x1000)
        filter.check(allowing, __NR_statx, argument: 2, mask: 0x1000, is: 0x1000)
        filter.check(allowing, __NR_fcntl, argument: 1, is: UInt32(F_GETFL))
        filter.check(allowing, __NR_fcntl, argument: 1, is: UInt32(F_GETFD))
        // Threads, but no processes. The flags of clone3 are in memory; without it, the C library uses clone.
        filter.check(allowing, __NR_clone, argument: 0, mask: 0x10000, is: 0x10000)
        filter.refuse([__NR_clone3], with: ENOSYS)
        // The names of threads and of memory.
        filter.check(allowing, __NR_prctl, argument: 0, is: 15)
        filter.check(allowing, __NR_prctl, argument: 0, is: 0x5356_4d41)
        // abort() sends a signal to the process itself.
        filter.check(allowing, __NR_tgkill, argument: 0, is: UInt32(getpid()))
        // Reading limits without changing them: the third argument is the new limit.
        filter.check(allowing, __NR_prlimit64, argument: 2, is: 0)
        return filter
    }
}
