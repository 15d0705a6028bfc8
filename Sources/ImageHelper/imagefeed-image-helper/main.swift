internal import Glibc
internal import ImageHelper

exit(ImageHelper.run(Array(CommandLine.arguments.dropFirst())))
