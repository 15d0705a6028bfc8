// SPDX-License-Identifier: Apache-2.0
// The properties of Plasma 6's PlasmoidItem that the widget uses, for Plasma 5.
import QtQuick 2.15
import org.kde.plasma.plasmoid 2.0

Item {
    property int switchWidth
    property int switchHeight
    property string toolTipSubText
    property Component fullRepresentation

    Plasmoid.switchWidth: switchWidth
    Plasmoid.switchHeight: switchHeight
    Plasmoid.toolTipSubText: toolTipSubText
    Plasmoid.fullRepresentation: fullRepresentation
}
