"""From a rewritten graph to something the machine can run.

Read in this order: ``link`` (what computes each node), ``program`` (in which slots, with which memory),
``failure`` (what the user reads when a call fails), ``profile`` (where the time goes).
"""

from __future__ import annotations
