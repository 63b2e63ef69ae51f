"""TheanoLM 1.3.2: its command line trains an LSTM on sentences that count, and says how well it foretells others."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
ARCHITECTURE = """\
input type=class name=word_input
layer type=projection name=projection_layer input=word_input size=16
layer type=lstm name=hidden_layer input=projection_layer size=24
layer type=softmax name=output_layer input=hidden_layer
"""


def called(*arguments: str | Path) -> str:
    """Return what a call of theanolm writes."""
    script = Path(sys.executable).parent / "theanolm"
    command = [sys.executable, "-W", "ignore", str(script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    counting = [" ".join(WORDS[(start + i) % 8] for i in range(length)) for start in range(8) for length in (4, 5, 6)]
    (folder / "train").write_text("\n".join(counting * 30) + "\n")
    (folder / "valid").write_text("\n".join(counting) + "\n")
    (folder / "back").write_text("\n".join(" ".join(reversed(line.split())) for line in counting) + "\n")
    (folder / "words").write_text("\n".join(WORDS) + "\n")
    (folder / "net.arch").write_text(ARCHITECTURE)
    called("train", folder / "model.h5", "--training-set", folder / "train", "--validation-file", folder / "valid",
           "--vocabulary", folder / "words", "--vocabulary-format", "words", "--architecture", folder / "net.arch",
           "--optimization-method", "adam", "--learning-rate", "0.01", "--max-epochs", "80", "--batch-size", "8",
           "--validation-frequency", "1",
           "--random-seed", "1", "--log-level", "warn")  # fmt: skip
    perplexity = {}
    for text in ("valid", "back"):
        said = called("score", folder / "model.h5", folder / text, "--output", "perplexity", "--log-level", "warn")
        perplexity[text] = float(re.search(r"[Pp]erplexity:\s*([\d.e+]+)", said)[1])  # type: ignore[index]
    sampled = called("sample", folder / "model.h5", "--num-sentences", "5", "--random-seed", "1",
                     "--seed-sequence", "one")  # fmt: skip
print(f"perplexity {perplexity['valid']:.2f} of sentences that count, {perplexity['back']:.0f} of those counting back")
print("sampled:", sampled.strip().splitlines()[0])
# The start is one of 8, and the end comes after 4, 5 or 6 words: 3.2 nats in 6 predictions, so at best about 1.7.
assert perplexity["valid"] < 2.2 and perplexity["back"] > 10
