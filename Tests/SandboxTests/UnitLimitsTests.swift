import Sandbox
import Testing

struct UnitLimitsTests {
    private static let limited =
        "Name:\timagefeedd\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t9\n"
    private static let ownNamespace = "      1000       1000          1\n"
    /// The mounts of the unit under systemd, with the home directory on a separate disk.
    private static let mounts = """
        600 599 8:1 / / ro,relatime shared:1 master:1 - ext4 /dev/sda1 rw
        601 600 0:5 / /dev rw,nosuid shared:2 - tmpfs tmpfs rw
        602 600 8:2 / /home ro,relatime shared:3 - ext4 /dev/sda2 rw
        603 602 8:2 /ada/.cache/imagefeed /home/ada/.cache/imagefeed rw,relatime shared:4 - ext4 /dev/sda2 rw
        604 602 8:3 / /home/ada\\040b rw,relatime shared:5 - ext4 /dev/sda3 rw

        """

    private func missing(
        status: String = limited, identities: String = ownNamespace, mounts: String = mounts,
        home: String = "/home/ada", memory: String? = "1073741824\n", tasks: String? = "128\n"
    ) -> [String] {
        UnitLimits.missing(
            status: status, identities: identities, mounts: mounts, home: home,
            groupLimits: (memory, tasks))
    }

    @Test func `no limit is missing if all are in force`() {
        #expect(missing() == [])
    }

    /// The state with `kernel.apparmor_restrict_unprivileged_userns=1`: systemd gets a user namespace but may not mount
    /// in it.
    @Test func `a namespace without mounts lacks the limits on files`() {
        let mounts = """
            30 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
            31 30 8:2 / /home rw,relatime shared:2 - ext4 /dev/sda2 rw
            """
        #expect(missing(mounts: mounts) == ["ProtectSystem", "ProtectHome"])
    }

    @Test func `a later mount hides the ones before it`() {
        let over = Self.mounts + "605 600 8:9 / /home rw - ext4 /dev/sdb rw\n"
        #expect(missing(mounts: over) == ["ProtectHome"])
        let usr = Self.mounts + "605 600 8:9 / /usr rw - ext4 /dev/sdb rw\n"
        #expect(missing(mounts: usr) == ["ProtectSystem"])
    }

    @Test func `a mount point can contain spaces`() {
        #expect(missing(home: "/home/ada b") == ["ProtectHome"])
        #expect(missing(home: "/home/ada bc") == [])
    }

    @Test func `everything is missing for a process without limits`() {
        #expect(
            missing(
                status: "NoNewPrivs:\t0\nSeccomp:\t0\n",
                identities: "         0          0 4294967295\n",
                mounts: "30 1 8:1 / / rw - ext4 /dev/sda1 rw\n", memory: "max\n", tasks: nil)
                == [
                    "PrivateUsers", "ProtectSystem", "ProtectHome", "NoNewPrivileges",
                    "SystemCallFilter", "MemoryMax", "TasksMax",
                ])
    }

    @Test func `the limits of this process can be read`() {
        #expect(UnitLimits.missing(home: "/root").contains("SystemCallFilter"))
    }
}
