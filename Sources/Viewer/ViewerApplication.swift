internal import BusAPI
internal import DBus
internal import Glibc
internal import System
internal import Toolkit

/// The program: one instance per session.
package enum ViewerApplication {
    private static var mainWindow: MainWindow?
    private static var slideshow: SlideshowWindow?
    private static var service: Service?

    package static func main() {
        if CommandLine.arguments.contains("--version") {
            print("imagefeed \(programVersion)")
            return
        }
        LayerSurface.loadLibrary()
        MainLoop.use()
        let application = Application(id: "org.imagefeed.Viewer")
        application.onStart = { start(application) }
        application.onCommandLine = { open($0, application) }
        exit(application.run())
    }

    private static func start(_ application: Application) {
        application.addStyle(Style.rules)
        application.addAction("quit", keys: ["<Control>q"]) { application.quit() }
        application.addAction("open") { open([$0], application) }
        do {
            let service = Service(try BusConnection.session())
            self.service = service
            service.start()
        } catch {
            print("imagefeed: There is no session bus: \(error)")
            exit(69)
        }
    }

    private static func open(_ arguments: [String], _ application: Application) {
        guard let service else { return }
        if arguments.contains("--widget") {
            let window = slideshow ?? SlideshowWindow(application, service)
            // The window still exists while its signal is handled.
            window.onClosed = { Task { slideshow = nil } }
            slideshow = window
            return window.present()
        }
        let window = mainWindow ?? MainWindow(application, service)
        window.onClosed = { Task { mainWindow = nil } }
        mainWindow = window
        window.window.present()
        if let name = arguments.first(where: { !$0.hasPrefix("-") }) { window.open(name) }
    }
}
