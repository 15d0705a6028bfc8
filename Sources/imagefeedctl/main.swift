internal import ControlCommands

ImageFeedControl.main()
