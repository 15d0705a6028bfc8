package import ArgumentParser
internal import BusAPI
internal import DBus
internal import Glibc
internal import Quoting
internal import System

/// `imagefeedctl`, the command line of the daemon.
package struct ImageFeedControl: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "imagefeedctl",
        abstract: "Photo feeds on the desktop, from the command line.",
        discussion: """
            PHOTO is ACCOUNT/ID as the lists print it, or the ID of a photo of the default account. \
            ACCOUNT is an ID or the beginning of one. Answers are tables on a terminal and \
            tab-separated fields in a pipe; --json makes them JSON.

            Exit status: 0 done, 1 failed, 64 wrong usage, 69 no daemon or no bus, 75 try later, \
            77 log in first, 78 not configured.
            """,
        version: programVersion,
        subcommands: [
            StatusCommand.self, ProvidersCommand.self, ConfigureCommand.self,
            AccountsCommand.self, DefaultCommand.self, LoginCommand.self, LogoutCommand.self,
            RemoveCommand.self, FeedCommand.self, SourcesCommand.self, PhotoCommand.self,
            LikeCommand.self, UnlikeCommand.self, ToggleCommand.self, LikesCommand.self,
            ProfileCommand.self, ImageCommand.self, OpenCommand.self, DownloadCommand.self,
            ShareCommand.self, RefreshCommand.self, MonitorCommand.self, CompletionCommand.self,
            CompleteCommand.self,
        ])

    package init() {}

    /// Runs the command that the words of the command line name, and ends the program.
    @MainActor package static func main() -> Never {
        // A closed one would become the number of the connection to the bus. Writing to this one fails.
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", O_RDONLY)
        }
        // A reader that went away is then seen by who writes: see `Console.write`.
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
            let words = try ArgumentList.decoding(words)
            var command = try await asyncParseAsRoot(ArgumentList.shieldingPhotos(words))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return .done
        } catch let failure as CommandFailure {
            if !failure.message.isEmpty { Console.complain(failure.message) }
            return failure.status
        } catch let error as BusError {
            let failure = CommandFailure(error)
            Console.complain(failure.message)
            return failure.status
        } catch is CancellationError {
            return .interrupted
        } catch {
            return explain(error)
        }
    }

    /// Prints what the parser has to say: help that was asked for, or what is wrong with the words.
    @MainActor private static func explain(_ error: any Error) -> ProgramStatus {
        guard exitCode(for: error) != .success else {
            do {
                try Console.write(fullMessage(for: error) + "\n")
                return .done
            } catch {
                Console.complain(error.message)
                return error.status
            }
        }
        // One line: the message, and the command that tells more, which the parser names on the last.
        let advice = fullMessage(for: error).split(separator: "\n").last
            .flatMap { $0.contains("--help' for") ? $0.drop { $0 == " " } : nil }
        let message = CommandFailure.sentence(
            message(for: error).split(separator: "\n").joined(separator: " "))
        Console.complain(
            [message, advice.map(String.init)].compactMap(\.self).joined(separator: " "))
        return .usage
    }
}
