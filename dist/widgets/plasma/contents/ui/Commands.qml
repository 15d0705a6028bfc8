// SPDX-License-Identifier: Apache-2.0
// Runs commands with Plasma's executable engine, which reports a command when it ends.
import QtQuick 2.15

FirstOf {
    id: commands

    property var slideshow
    property var callbacks: ({})

    // Runs a command, which must be a constant: Plasma passes it to the shell. A command that is still running is not
    // started again. `done` is called with the exit status, the standard output and the standard error.
    function run(command, done) {
        if (callbacks[command]) return
        callbacks[command] = done
        item.connectSource(command)
    }

    // Returns the command for a setting. The values are the constants in Settings.qml.
    function setter(name, value) {
        if (name === "shuffle") return "imagefeedctl slideshow set " + (value ? "--shuffle" : "--no-shuffle")
        return "imagefeedctl slideshow set --" + name + " " + value + (name === "interval" ? "s" : "")
    }

    files: ["Engine6.qml", "Engine5.qml"]
    Connections {
        target: commands.item
        function onNewData(command, data) {
            const done = commands.callbacks[command]
            delete commands.callbacks[command]
            commands.item.disconnectSource(command)
            if (done) done(data["exit code"], data["stdout"], data["stderr"].trim())
        }
    }
}
