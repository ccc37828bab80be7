# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Reads what `ibv_devinfo -v` prints."""

import dataclasses
import re


@dataclasses.dataclass
class Port:
    device: str
    number: int
    values: dict = dataclasses.field(default_factory=dict)
    gids: dict = dataclasses.field(default_factory=dict)  # (address, type) of each index

    @property
    def is_active(self):
        return self.values["state"] == "PORT_ACTIVE (4)"

    @property
    def is_ethernet(self):
        return self.values["link_layer"] == "Ethernet"

    @property
    def roce_v2_gid(self):
        """The index of a GID of RoCE v2, of an IPv4 address if there is one, or None."""
        indices = [index for index, (_, kind) in self.gids.items() if kind == "RoCE v2"]
        indices.sort(key=lambda index: (not self.gids[index][0].startswith("::ffff:"), index))
        return indices[0] if indices else None


@dataclasses.dataclass
class Device:
    name: str
    values: dict = dataclasses.field(default_factory=dict)
    flags: set = dataclasses.field(default_factory=set)  # of device_cap_flags
    ports: list = dataclasses.field(default_factory=list)


def parse(output):
    devices = []
    last = None
    for line in output.splitlines():
        line = line.strip()
        if match := re.match(r"GID\[\s*(\d+)\]:\s+([^,]+)(?:, (.*))?$", line):
            devices[-1].ports[-1].gids[int(match[1])] = (match[2].strip(), match[3])
        elif match := re.match(r"(?:\w+ )*(\w+):\s*(.*)$", line):
            last = match[1]
            if last == "hca_id":
                devices.append(Device(match[2]))
            elif last == "port":
                devices[-1].ports.append(Port(devices[-1].name, int(match[2])))
            elif devices and devices[-1].ports:
                devices[-1].ports[-1].values[last] = match[2]
            elif devices:
                devices[-1].values[last] = match[2]
        elif last == "device_cap_flags" and line.isupper():
            devices[-1].flags.add(line)
    return devices
