internal import ImageMetadata
internal import ImageProtocol

/// The jobs, which use the loaded libraries.
extension ImageDecoders {
    /// Performs the job in a message.
    func reply(to message: [UInt8], _ descriptors: [Int32]) -> ImageReply {
        guard let job = try? ImageJob(message: message),
            descriptors.count == 1 + job.outputs
        else { return .failure(.misunderstood) }
        do {
            return try perform(job, descriptors)
        } catch {
            return .failure(error)
        }
    }

    private func perform(
        _ job: ImageJob, _ descriptors: [Int32]
    ) throws(ImageFailure) -> ImageReply {
        switch job {
        case .probe: return .facts(try probe(descriptors[0]))
        case .make(.scaled(let pixels, let texts)):
            try writePNG(descriptors, .fit(width: pixels, height: pixels), texts)
        case .make(.square(let pixels)): try writePNG(descriptors, .square(pixels), [:])
        case .pixels(let width, let height):
            // The memory is unmapped before the reply, because the receiver seals it.
            let image = try decode(
                descriptors[0], .fit(width: width, height: height), sharedIn: descriptors[1])
            return .pixels(image.size)
        }
        return .done
    }

    private func probe(_ descriptor: Int32) throws(ImageFailure) -> ImageFacts {
        let bytes = FileBytes(descriptor: descriptor)
        guard let format = ImageFormat(bytes),
            let header = ImageHeader(bytes, format: format, decompressor)
        else { throw .damaged }
        let (width, height) = header.shownSize
        var facts = ImageFacts(width: width, height: height)
        (facts.clockSeconds, facts.details) = (header.taken?.seconds, header.details)
        facts.clockOffset = header.taken?.offset.map(Int64.init)
        facts.isAnimated = header.isAnimated
        return facts
    }

    private func writePNG(
        _ descriptors: [Int32], _ size: ImageSizeRequest, _ texts: [String: String]
    ) throws(ImageFailure) {
        try decode(descriptors[0], size, sharedIn: nil)
            .writePNG(texts, try png.get(), to: descriptors[1])
    }
}
