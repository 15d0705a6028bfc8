import Foundation
import PluginHosting
import ProviderKit
import TestSupport
import Testing

/// Control groups of plugins. `dist/development/try-package` tries those of a service manager.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct PlacementTests {
    @Test(arguments: [SandboxKind.bubblewrap, .landlock])
    func `a program starts after its plugin was placed`(_ level: SandboxKind) async throws {
        let calls = Observed<[String]>([])
        let gate = Observed(false)
        let plugin = try PluginFixture(
            "show(os.getppid())", level: level,
            place: { process, plugin, memoryBytes, tasks in
                try await gate.wait { $0 ? true : nil }
                func text(_ name: String) -> String {
                    (try? String(contentsOfFile: "/proc/\(process)/\(name)", encoding: .utf8)) ?? ""
                }
                let program = "\(text("comm"))\(text("task/\(process)/children"))"
                calls.append("\(plugin) \(memoryBytes) \(tasks) \(program)")
            })
        let call = Task { try await plugin.shown() }
        try await plugin.logged("A plugin was started")
        gate.update { $0 = true }
        // The group of the test does not limit memory: the next process has limits of its own.
        #expect(try await call.value != nil)
        // The launcher, without children.
        #expect(calls.value == ["odd \(576 << 20) 34 imagefeed-plugi\n"])
        #expect(
            plugin.log.value.contains {
                $0.contains("no control groups of their own")
                    && $0.contains("the group does not limit memory")
            })
        #expect(plugin.log.value.count { $0.contains("A plugin was started") } == 2)
        #expect(!plugin.log.value.contains { $0.contains("A plugin failed") })
        #expect(plugin.disablements.value.isEmpty)
    }

    @Test func `a plugin that cannot be placed has limits of its own`() async throws {
        let plugin = try PluginFixture(
            """
            import resource
            show(resource.getrlimit(resource.RLIMIT_AS)[0] >> 20)
            """, place: { _, _, _, _ in throw ProviderError.failed("no manager") })
        #expect(try await plugin.shown() == "576")
        try await plugin.logged("no manager")
    }
}
