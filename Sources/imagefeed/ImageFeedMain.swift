internal import Viewer

@main
enum ImageFeedMain {
    static func main() { ViewerApplication.main() }
}
