import Configuration
import Testing

@Suite struct UserFoldersTests {
    @Test(arguments: [
        ("/srv/Photos", "/srv/Photos"), ("Photos", "/home/ada/Photos"),
        ("~/Photos", "/home/ada/Photos"),
        ("~", "/home/ada/~"), ("", "/home/ada/"),
    ])
    func `a relative path is relative to the home directory`(path: String, expected: String) {
        let folders = UserFolders(environment: ["HOME": "/home/ada"])
        #expect(folders.absolutePath(Array(path.utf8)) == Array(expected.utf8))
    }

    @Test func `relative paths in the environment are ignored`() {
        let folders = UserFolders(environment: ["HOME": "/home/ada", "XDG_DATA_HOME": "data"])
        #expect(folders.data == "/home/ada/.local/share/imagefeed")
    }
}
