"""python -m tarry: what Tarry finds on this machine."""

import sys

from . import describe_system

if sys.argv[1:] not in ([], ["info"]):
    sys.exit("usage: python -m tarry [info]")
print(describe_system(), end="")
