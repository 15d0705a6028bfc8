// SPDX-License-Identifier: Apache-2.0
// Loads the first of the files that the installed version of Plasma supports.
import QtQuick 2.15

Loader {
    property var files
    property int attempt: 0

    source: files[attempt]
    onStatusChanged: if (status === Loader.Error && attempt + 1 < files.length) attempt += 1
}
