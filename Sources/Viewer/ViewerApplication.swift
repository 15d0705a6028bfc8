internal import Configuration
internal import Contract
internal import DBus
internal import Glibc
internal import System
internal import Toolkit
internal import Translation

/// The program: one instance per session.
package enum ViewerApplication {
    private static var mainWindow: MainWindow?
    private static var service: Service?

    private static let usage = tr(
        """
        Usage: imagefeed [FILE... | PHOTO | ACCOUNT]

        Shows files, or the photos of the accounts of imagefeedd(1), in a window.

          --version  print the version and exit
          --help     print this help and exit

        """)

    package static func main() {
        let options = CommandLine.arguments.dropFirst().prefix { $0 != "--" }
            .filter { $0.hasPrefix("-") && $0 != "-" }
        if options.contains("--version") { return print("imagefeed \(buildVersion)") }
        if options.contains("--help") || options.contains("-h") {
            return print(usage, terminator: "")
        }
        // The bus starts the program with the option of GApplication.
        if let unknown = options.first(where: { $0 != "--gapplication-service" }) {
            fail(
                tr("Unknown option {option}. Use --help for the options.", ["option": unknown]),
                EX_USAGE)
        }
        UserFolders.removeRelativeVariables()
        MainLoop.use()
        let application = Application(id: "org.imagefeed.Viewer")
        application.onStart = { start(application) }
        application.onCommandLine = { open($0, application, folder: $1) }
        exit(application.run())
    }

    private static func fail(_ message: String, _ status: Int32) -> Never {
        let line = Array("imagefeed: \(message)\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
        exit(status)
    }

    private static func start(_ application: Application) {
        application.addStyle(String(decoding: PackageResources.Style_css, as: UTF8.self))
        application.addAction("quit", key: "<Control>q") { _ in mainWindow?.window.close() }
        application.addAction("open", hasText: true) { open([$0], application, folder: "/") }
        do {
            let service = Service(try BusConnection.session())
            self.service = service
            service.start()
        } catch {
            fail(Problem(error).sentence, EX_UNAVAILABLE)
        }
    }

    /// Shows the main window, and opens in it what an invocation names.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the invocation.
    ///   - application: The application.
    ///   - folder: The folder to which paths are relative.
    private static func open(_ arguments: [String], _ application: Application, folder: String) {
        guard let service else { fatalError("the application has not started") }
        let window = mainWindow ?? MainWindow(application, service)
        window.onClosed = { Task { mainWindow = nil } }
        mainWindow = window
        window.window.present()
        let names = arguments.filter { !$0.hasPrefix("-") }
        let paths = names.map { $0.hasPrefix("/") ? $0 : "\(folder)/\($0)" }
        // The ID of a photo or an account does not begin like a path.
        if let name = names.first, !["/", "./", "../"].contains(where: name.hasPrefix),
            access(paths[0], F_OK) != 0
        {
            window.open(name)
        } else if !paths.isEmpty {
            window.open(files: paths)
        }
    }
}
