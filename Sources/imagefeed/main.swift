internal import Viewer

ViewerApplication.main()
