internal import ControlCommands

@main
enum ImageFeedControlMain {
    static func main() { ImageFeedControl.main() }
}
