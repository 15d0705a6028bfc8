internal import ArgumentParser
internal import Translation

/// The commands for authors of plugins.
struct ProviderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provider", abstract: tr("Test a plugin, or show its messages."),
        discussion:
            tr("A plugin is a provider that is a program of its own: see imagefeed-providers(7)."),
        subcommands: [ProviderTestCommand.self, ProviderTraceCommand.self])
}
