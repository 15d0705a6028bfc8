import Testing
import Toolkit

@testable import Viewer

@Suite struct ShortcutTests {
    /// The entries of a list in the section of keys of the manual page: the label and the text.
    private func manual() -> [[String]] {
        let path = "\(#filePath)".split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
        let lines = UserFile.read("\(path)/man/imagefeed.1").split(separator: "\n")
        let section = lines.drop { $0 != ".Sh KEYS" }.dropFirst().prefix {
            !$0.hasPrefix(".Sh")
        }
        var entries: [[String]] = []
        var isInEntry = false
        for line in section {
            if line.hasPrefix(".It ") {
                entries.append([String(line.dropFirst(4)).replacing("\\-", with: "-"), ""])
                isInEntry = true
            } else if line.hasPrefix(".") {
                isInEntry = false
            } else if isInEntry {
                let last = entries.count - 1
                entries[last][1] += (entries[last][1].isEmpty ? "" : " ") + line
            }
        }
        return entries
    }

    @Test func `the manual page has the keys of the program`() {
        let rows = Shortcuts.allCases.flatMap { $0.help.map { [$0.key, $0.value] } }
        #expect(manual() == rows)
    }

    @Test(arguments: Shortcuts.allCases)
    func `each key of the help has a command`(shortcuts: Shortcuts) {
        // The names of the keyboard for those of users.
        let names = [
            "Enter": "Return", "Space": "space", "Backspace": "BackSpace", "+": "plus",
            "-": "minus",
            "Arrow keys": "Up", "Control+Comma": "Control+comma", "Control+?": "Control+question",
            "Shift+Space": "Shift+space", "Control++": "Control+plus", "Control+-": "Control+minus",
            "Control+Shift+C": "Control+Shift+C",
        ]
        // GTK performs the action of this key.
        let keys = shortcuts.help.flatMap { $0.key.split(separator: ", ") }.filter {
            $0 != "Control+Q"
        }
        for key in keys {
            let isLetter =
                key.hasPrefix("Control+") && key.count == 9 && key.last?.isLetter == true
            let plain = isLetter ? "Control+\(key.suffix(1).lowercased())" : "\(key)"
            let name = names[plain] ?? plain.replacing(" ", with: "_")
            #expect(shortcuts.command(name) != nil, "\(key)")
        }
    }

    @Test func `a key with modifiers has its own command`() {
        #expect(Shortcuts.photo.command("Shift+F10") == .menu)
        #expect(Shortcuts.photo.command("R") == .rotateLeft)
        #expect(Shortcuts.photo.command("Control+Left") == .previous)
        #expect(Shortcuts.photo.command("F10") == nil)
    }
}
