internal import ControlCommands

@main
enum ImageFeedControlMain {
    static func main() async { await ImageFeedControl.main() }
}
