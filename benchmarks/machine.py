"""The machine, in words."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path


def _field(path: str, key: str) -> str:
    try:
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            if line.startswith(key):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return ""


def _caches() -> str:
    found = []
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, kind, size = ((folder / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        if kind != "Instruction":
            found.append(f"L{level} {size[:-1]} KiB" if size.endswith("K") else f"L{level} {size}")
    return ", ".join(found)


def _compiler() -> str:
    command = shutil.which(os.environ.get("CC", "").split(" ")[-1] or "cc") or shutil.which("gcc")
    if command is None:
        return "no C compiler"
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    return (done.stdout.splitlines() or ["?"])[0]


def describe() -> dict[str, str]:
    """Return what matters about this machine."""
    flags = _field("/proc/cpuinfo", "flags").split()
    widest = next((label for flag, label in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags), "")
    memory = _field("/proc/meminfo", "MemTotal").split(" ")[0]
    return {
        "processor": " ".join(filter(None, [_field("/proc/cpuinfo", "model name") or platform.machine(), widest])),
        "cores": str(len(os.sched_getaffinity(0))),
        "caches": _caches(),
        "memory": f"{int(memory) / 2**20:.0f} GiB" if memory else "",
        "system": f"{platform.system()} {platform.release()}" + (", virtual machine" if "hypervisor" in flags else ""),
        "compiler": _compiler(),
        "python": platform.python_version(),
    }
