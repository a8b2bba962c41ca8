"""A network cable that is slow and loses packets: `python wire.py ONE OTHER SECONDS LOSS`, as root.

It makes two network devices with these names, and passes on what is sent into one of them at the other, after this
delay, in both directions. A share of the packets is lost. It prints a line when the devices are there, and ends when
its standard input is closed.
"""

from __future__ import annotations

import fcntl
import os
import random
import select
import struct
import sys
import time
from collections import deque

MAKE = 0x400454CA
"""The request TUNSETIFF of Linux."""
ETHERNET, WITHOUT_FACTS = 0x0002, 0x1000
LARGEST = 2**16


def device(name: str) -> int:
    """Make a network device, and return the file of what is sent into it."""
    file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(file, MAKE, struct.pack("16sH22x", name.encode(), ETHERNET | WITHOUT_FACTS))
    return file


def main(one: str, other: str, delay: float, loss: float) -> None:
    ends = device(one), device(other)
    chance = random.Random(0)
    under_way: deque[tuple[float, int, bytes]] = deque()
    print("ready", flush=True)
    while True:
        wait = max(0.0, under_way[0][0] - time.monotonic()) if under_way else None
        ready, _, _ = select.select([sys.stdin, *ends], [], [], wait)
        if sys.stdin in ready:
            return
        for end in ready:
            packet = os.read(end, LARGEST)
            if chance.random() >= loss:
                under_way.append((time.monotonic() + delay, ends[end == ends[0]], packet))
        while under_way and under_way[0][0] <= time.monotonic():
            _, end, packet = under_way.popleft()
            try:
                os.write(end, packet)
            except OSError:  # the device is not up, or is full: the packet is lost
                continue


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4]))
