import Contract
import DBus
import Foundation
import TestSupport

/// A fake login that ends at once, or when the test ends it.
@MainActor final class FakeLogin {
    nonisolated static let address = "https://service.example/authorize?client_id=1&state=2"

    let options: [String: Variant]
    /// The content of the passed descriptor.
    let password: String?
    let code = Observed<String?>(nil)
    let browsers = Observed(0)
    let result: Observed<Result<ObjectPath, ErrorReply>?>
    private var addresses: [String]
    private unowned let object: ExportedObject

    /// - Parameters:
    ///   - addresses: The successive values of `AuthorizationUrl`; reading one announces the next as a change. A single
    ///     empty value means a login without a browser, which ends at once.
    ///   - options: The options of the login.
    ///   - object: The D-Bus object of the login.
    init(addresses: [String], _ options: [String: Variant], _ object: ExportedObject) {
        self.addresses = addresses
        self.options = options
        self.object = object
        result = Observed(
            addresses == [""] ? .success(ServiceName.accounts.appending("local_ada")) : nil)
        if case .fileDescriptor(let descriptor)? = options["password"] {
            let file = FileHandle(fileDescriptor: descriptor.rawValue, closeOnDealloc: false)
            password = String(decoding: file.readDataToEndOfFile(), as: UTF8.self)
        } else {
            password = nil
        }
    }

    /// Fails the login unless the passed password is `right`.
    func checkPassword(_ right: String) {
        guard password != right else { return }
        result.update {
            $0 = .failure(ErrorReply(ServiceError.wrongPassword.name, "The password is wrong."))
        }
    }

    /// Returns the current address, and announces the next one as a change.
    private func nextAddress() -> String {
        let address = addresses[0]
        guard addresses.count > 1 else { return address }
        addresses.removeFirst()
        object.announceChanges()
        return address
    }

    func succeed() {
        result.update { $0 = .success(ServiceName.accounts.appending("unsplash_bob")) }
    }

    static let interface = BusInterface<FakeLogin>(
        .login,
        [
            .method("OpenBrowser") { login in login.browsers.update { $0 += 1 } },
            .method("SubmitCode", in: ["code"]) { (login, code: String) in
                guard code != "wrong" else {
                    throw ErrorReply(.invalidArgs, "The code is empty; copy it again.")
                }
                login.code.update { $0 = code }
                login.succeed()
            },
            .asyncMethod("Wait", out: ["account"]) { (login) -> ObjectPath in
                try await login.result.wait { $0 }.get()
            },
            .method("Cancel") { login in
                login.result.update {
                    $0 = .failure(ErrorReply(ServiceError.cancelled.name, "It was cancelled."))
                }
            },
            .property("State") { _ in "waiting" },
            .property("AuthorizationUrl") { $0.nextAddress() },
        ])
}
