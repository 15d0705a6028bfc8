import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ProgramTests {
    @Test func `the program prints the settings and serves requests`() async throws {
        let folder = try TemporaryDirectory()
        let program = try ChildProcess(
            BuiltProducts.path("unsplash-simulator"), ["com.example.program:/callback"],
            environment: folder.environment)
        let settings = try await program.standardOutput.wait { output in
            let lines = output.text.split(separator: "\n").map { $0.split(separator: "=") }
            let settings = lines.filter { $0.count == 2 }.map { (String($0[0]), String($0[1])) }
            return output.text.contains("secret: ") || output.isComplete
                ? Dictionary(uniqueKeysWithValues: settings) : nil
        }
        let (api, web) = try (#require(settings["ApiUrl"]), #require(settings["WebUrl"]))
        let id = try #require(settings["ClientId"])
        let photos = try await LoopbackClient.send(
            "GET", "\(api)/photos", headers: [("Authorization", "Client-ID \(id)")])
        #expect(photos.status == 200)
        for address in ["http://127.0.0.1:43117/callback", "com.example.program:/callback"] {
            let page = try await LoopbackClient.send(
                "GET",
                "\(web)/oauth/authorize?client_id=\(id)&response_type=code&redirect_uri=\(address)")
            #expect(page.text.contains("<option selected>ada</option>"))
        }
        program.kill(2)
        #expect(try await program.exitStatus() == .signal(2))
    }

    @Test func `the program prints its usage`() async throws {
        let folder = try TemporaryDirectory()
        for (argument, status) in [("--help", Int32(0)), ("--nonsense", 64)] {
            let program = try ChildProcess(
                BuiltProducts.path("unsplash-simulator"), [argument],
                environment: folder.environment)
            let result = try await program.result()
            #expect(result.output.hasPrefix("Usage: unsplash-simulator"))
            #expect(result.exit == .code(status))
        }
    }
}
