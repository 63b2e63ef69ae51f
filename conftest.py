"""For the tests of all layers: they press Ctrl-C, which a shell lets be ignored by what it starts in the background."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
