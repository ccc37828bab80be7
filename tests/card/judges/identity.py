# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""What ibv_devinfo shows of a card, against what a real one of that kind shows.

The values are those of public listings of real cards, and the arithmetic that the kernel's mlx5_ib does before it
answers. What differs among firmware settings is left open.
"""

from card import Failed

# What ibv_devinfo calls vendor_part_id is the PCI device id. The major version of the firmware belongs to it.
PARTS = {
    "bluefield-3": {41692},
    "bluefield-2": {41686},
    "connectx-7": {4129},
    "connectx-5": {4119, 4121},  # ConnectX-5, ConnectX-5 Ex
    "infiniband": {4115, 4119, 4121, 4123, 4129, 41686, 41692},  # any, on a port of InfiniBand
}
FIRMWARE = {4115: 12, 4119: 16, 4121: 16, 4123: 20, 4129: 28, 41686: 24, 41692: 32}

# Of each device, whatever the profile.
DEVICE = {
    "transport": "InfiniBand (0)",
    "vendor_id": "0x02c9",
    "phys_port_cnt": "1",
    "max_mr_size": "0xffffffffffffffff",
    "page_size_cap": "0xfffffffffffff000",
    "max_qp_wr": "32768",
    "max_sge": "30",
    "max_sge_rd": "30",
    "max_cqe": "4194303",
    "max_qp_rd_atom": "16",
    "max_qp_init_rd_atom": "16",
    "atomic_cap": "ATOMIC_HCA (1)",
    "max_ah": "2147483647",
    "max_srq_wr": "32767",
    "max_srq_sge": "31",
    "max_pkeys": "128",
    "local_ca_ack_delay": "16",
    "max_mcast_grp": "0",  # a real card reports 2097152, but here multicast is not modelled
    "max_mcast_qp_attach": "0",
    "memory": "131072Bytes",  # maximum available device memory
    "timestamp_mask": "0x7fffffffffffffff",
}
AT_LEAST = {"max_qp": 1 << 17, "max_cq": 1 << 20, "max_mr": 1 << 20, "max_pd": 1 << 20, "max_srq": 1 << 16}
# All of them: a capability that is reported has to be there.
FLAGS = {"CHANGE_PHY_PORT", "PORT_ACTIVE_EVENT", "SYS_IMAGE_GUID", "RC_RNR_NAK_GEN", "MEM_WINDOW",
         "XRC", "MEM_MGT_EXTENSIONS", "MEM_WINDOW_TYPE_2B"}

PORT = {
    "max_mtu": "4096 (5)",
    "max_msg_sz": "0x40000000",
    "port_lmc": "0x00",
}
ROCE_PORT = {
    "link_layer": "Ethernet",
    "sm_lid": "0",
    "port_lid": "0",
    "port_cap_flags": "0x04010000",
    "pkey_tbl_len": "1",
}
INFINIBAND_PORT = {
    "link_layer": "InfiniBand",
    "active_mtu": "4096 (5)",
    "pkey_tbl_len": "128",
}


def _compare(what, values, expected):
    return [f"{what}: {name} is {values.get(name)}, not {value}"
            for name, value in expected.items() if values.get(name) != value]


def _require(faults):
    if faults:
        raise Failed("\n".join(faults))


def _number(device, name):
    return int(device.values.get(name, "-1"), 0)


def check_part(profile, devices):
    if not devices:
        raise Failed("ibv_devinfo shows no device")
    faults = []
    for device in devices:
        part = _number(device, "vendor_part_id")
        if part not in PARTS[profile]:
            faults.append(f"{device.name}: vendor_part_id is {part}, not one of {sorted(PARTS[profile])}")
        major = device.values["fw_ver"].partition(".")[0]
        if major != str(FIRMWARE.get(part)):
            faults.append(f"{device.name}: fw_ver is {device.values['fw_ver']}, which is not of part {part}")
        for name in ("node_guid", "sys_image_guid"):
            if device.values[name] == "0000:0000:0000:0000":
                faults.append(f"{device.name}: {name} is 0")
    _require(faults)


def check_limits(devices):
    faults = []
    for device in devices:
        faults += _compare(device.name, device.values, DEVICE)
        faults += [f"{device.name}: {name} is {_number(device, name)}, less than {least}"
                   for name, least in AT_LEAST.items() if _number(device, name) < least]
        if device.flags != FLAGS:
            faults.append(f"{device.name}: device_cap_flags are {sorted(device.flags)}, not {sorted(FLAGS)}")
        for product, factors in {"max_res_rd_atom": ("max_qp", "max_qp_rd_atom"), "max_mw": ("max_mr",),
                                 "max_total_mcast_qp_attach": ("max_mcast_grp", "max_mcast_qp_attach")}.items():
            expected = 1
            for factor in factors:
                expected *= _number(device, factor)
            if _number(device, product) != expected:
                faults.append(f"{device.name}: {product} is {_number(device, product)}, not {' * '.join(factors)}")
    _require(faults)


def check_ports(profile, devices):
    faults = []
    for device in devices:
        for port in device.ports:
            what = f"{device.name} port {port.number}"
            faults += _compare(what, port.values, PORT)
            if profile == "infiniband":
                faults += _check_infiniband(what, device, port)
            else:
                faults += _compare(what, port.values, ROCE_PORT)
                faults += _check_roce_gids(what, port)
    _require(faults)


def _check_infiniband(what, device, port):
    faults = _compare(what, port.values, INFINIBAND_PORT)
    if port.is_active and (port.values["port_lid"] == "0" or port.values["sm_lid"] == "0"):
        faults.append(f"{what} is active, with port_lid {port.values['port_lid']} and sm_lid {port.values['sm_lid']}")
    gid = port.gids.get(0, ("none", None))
    if gid != (f"fe80:0000:0000:0000:{device.values['node_guid']}", None):
        faults.append(f"{what}: GID 0 is {gid}, not of node_guid {device.values['node_guid']}")
    return faults


def _check_roce_gids(what, port):
    """An address gives two GIDs, of RoCE v1 and, next to it, of RoCE v2."""
    return [f"{what}: GID {index} is of type {kind}" for index, (_, kind) in port.gids.items()
            if kind != ("RoCE v2" if index % 2 else "RoCE v1")]


def check_sides(host, dpu):
    """The two sides of a DPU are functions of one card."""
    if host[0].values["sys_image_guid"] != dpu[0].values["sys_image_guid"]:
        raise Failed(f"sys_image_guid differs: {host[0].values['sys_image_guid']} of the host,"
                     f" {dpu[0].values['sys_image_guid']} of the DPU")
    guids = [device.values["node_guid"] for device in host + dpu]
    if len(set(guids)) != len(guids):
        raise Failed(f"functions share a node_guid: {guids}")
