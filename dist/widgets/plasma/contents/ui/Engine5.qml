// SPDX-License-Identifier: Apache-2.0
import org.kde.plasma.core 2.0 as PlasmaCore

PlasmaCore.DataSource { engine: "executable" }
