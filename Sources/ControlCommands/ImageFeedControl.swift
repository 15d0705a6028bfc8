package import ArgumentParser
internal import Contract
internal import DBus
internal import Glibc
internal import Quoting
internal import System
internal import Translation

/// The command-line client `imagefeedctl`.
package struct ImageFeedControl: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "imagefeedctl",
        abstract: tr("Control the Image Feed daemon from the command line."),
        discussion: tr(
            """
            PHOTO is ACCOUNT/ID as printed by the lists, or the ID of a photo of the default account; \
            without it, most commands use the current photo of the slideshow. \
            ACCOUNT is an account ID or an unambiguous prefix of one. Output is a table on a terminal, \
            and tab-separated fields in a pipe. With --json, it is JSON.

            Exit status: 0 success, 1 failure, 64 usage error, 69 no daemon or no bus, 75 try again \
            later, 77 login required, 78 not configured.
            """),
        version: buildVersion,
        subcommands: [
            StatusCommand.self, ProvidersCommand.self, ProviderCommand.self, ConfigureCommand.self,
            AccountsCommand.self, DefaultCommand.self, LoginCommand.self, LogoutCommand.self,
            RemoveCommand.self, FeedCommand.self, SourcesCommand.self, PhotoCommand.self,
            LikeCommand.self, UnlikeCommand.self, ToggleCommand.self, LikesCommand.self,
            ProfileCommand.self, ImageCommand.self, OpenCommand.self, DownloadCommand.self,
            ShareCommand.self, RefreshCommand.self, SlideshowCommand.self, MonitorCommand.self,
            CompletionCommand.self, CompleteCommand.self,
        ])

    package init() {}

    /// Runs the command that is named on the command line, and exits.
    @MainActor package static func main() -> Never {
        // If a standard descriptor were closed, the bus connection would get its number. Writes to /dev/null, which is
        // opened for reading, fail.
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", O_RDONLY)
        }
        // If the reader of a pipe exits, `write` then returns EPIPE, which `Console.write` handles.
        signal(SIGPIPE, SIG_IGN)
        MainLoop.use()
        let words = (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            CommandLine.unsafeArgv[index].map { RawText.text(of: [UInt8](cString: $0)) }
        }
        Task { Glibc.exit(await status(of: words).rawValue) }
        MainLoop.run()
    }

    @MainActor private static func status(of words: [String]) async -> ProgramStatus {
        do {
            let words = try decoding(words)
            try checkCommand(words)
            var command = try await asyncParseAsRoot(escapingPhotoIDs(words))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return .done
        } catch is CancellationError {
            return .interrupted
        } catch {
            let failure =
                error as? CommandFailure ?? (error as? BusError).map { CommandFailure($0) }
                ?? explain(error)
            if !failure.message.isEmpty { Console.printError(failure.message) }
            return failure.status
        }
    }

    /// Checks the command that is named. For one that does not exist, the argument parser would report the option after
    /// it, or show other help.
    ///
    /// - Throws: ``CommandFailure`` for a command that does not exist.
    private static func checkCommand(_ words: [String]) throws {
        let isHelp = words.first == "help"
        let names = words.dropFirst(isHelp ? 1 : 0).prefix { !$0.hasPrefix("-") }
        var (commands, parent) = (configuration.subcommands, "imagefeedctl")
        for word in names where isHelp || !commands.isEmpty {
            guard
                let command = commands.first(where: { $0.configuration.commandName == word })
            else {
                throw CommandFailure.tr(
                    "There is no command {command}. “{parent} --help” lists the commands.",
                    ["command": word.quoted, "parent": parent], status: .usage)
            }
            parent += " \(word)"
            commands = command.configuration.subcommands
        }
    }

    /// Prints the help that was requested from the argument parser, or returns its usage error.
    @MainActor private static func explain(_ error: any Error) -> CommandFailure {
        guard exitCode(for: error) != .success else {
            do {
                try Console.write(HelpText.translated(fullMessage(for: error)) + "\n")
                return CommandFailure(.done, "")
            } catch {
                return error
            }
        }
        // An error is one line. The last line of the parser's message names the help command.
        let advice = fullMessage(for: error).split(separator: "\n").last
            .flatMap { $0.contains("--help' for") ? HelpText.translated(advice: $0) : nil }
        let message = message(for: error).split(separator: "\n").joined(separator: " ")
        return CommandFailure(.usage, HelpText.translated(error: message).sentence, advice)
    }
}
