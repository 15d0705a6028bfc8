internal import Glibc
internal import ImageMetadata
internal import ImageProtocol
internal import ProviderKit

/// An executor of jobs that uses the loaded libraries.
struct JobExecutor {
    private let pixbuf: Result<PixbufLibrary, ImageFailure>
    private let drawing: DrawingLibrary?

    init(_ role: HelperRole) {
        switch role {
        case .decode:
            pixbuf = Result { () throws(ImageFailure) in try PixbufLibrary() }
            drawing = nil
        case .draw:
            pixbuf = .failure(.misunderstood)
            drawing = DrawingLibrary()
        }
    }

    /// Performs the job in a message.
    func reply(to message: MessageSocket.Message) -> ImageReply {
        guard let job = ImageJob(message: message.bytes),
            message.descriptors.count == job.inputs + job.outputs
        else { return .failure(.misunderstood) }
        do {
            return try perform(job, message.descriptors)
        } catch {
            return .failure(error)
        }
    }

    private func perform(
        _ job: ImageJob, _ descriptors: [Int32]
    ) throws(ImageFailure) -> ImageReply {
        switch job {
        case .probe: return .facts(try probe(descriptors[0]))
        case .scale(let pixels, let output):
            let image = try image(descriptors[0])
            try image.scaled(within: pixels).write(output, to: descriptors[1])
        case .square(let pixels):
            let image = try image(descriptors[0])
            try image.squared(pixels).write(.png([:]), to: descriptors[1])
        case .initials(let name, let pixels):
            let avatar = InitialsAvatar(name: name, pixels: pixels)
            if let drawing {
                try avatar.draw(drawing, to: descriptors[0])
            } else {
                try avatar.fill(to: descriptors[0])
            }
        }
        return .done
    }

    private func probe(_ descriptor: Int32) throws(ImageFailure) -> ImageFindings {
        let file = FileBytes(descriptor: descriptor)
        guard let header = ImageHeader(file, format: try Self.format(file)) else {
            throw .damaged
        }
        let (width, height) = header.shownSize
        return ImageFindings(
            width: width, height: height, taken: header.taken.map { Int($0.seconds) },
            takenOffset: header.taken?.offset, camera: header.camera,
            latitude: header.location?.latitude, longitude: header.location?.longitude)
    }

    private func image(_ descriptor: Int32) throws(ImageFailure) -> EncodedImage {
        let file = FileBytes(descriptor: descriptor)
        let format = try Self.format(file)
        guard let header = ImageHeader(file, format: format), header.isWhole else {
            throw .damaged
        }
        return EncodedImage(
            library: try pixbuf.get(), descriptor: descriptor, format: format, header: header)
    }

    private static func format(_ file: FileBytes) throws(ImageFailure) -> ImageFormat {
        let count = min(file.count, ImageFormat.prefixBytes)
        guard let prefix = file.bytes(at: 0, count), let format = ImageFormat(prefix: prefix.array)
        else { throw .damaged }
        return format
    }
}
