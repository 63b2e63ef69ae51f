import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # helpers of these tests


def pytest_terminal_summary(terminalreporter):
    """Say over how much the rules have been proved."""
    reports = [r for outcome in ("passed", "failed") for r in terminalreporter.stats.get(outcome, ())]
    proofs = [found for r in reports for what, found in getattr(r, "user_properties", ()) if what == "proof"]
    if proofs:
        made, taken, values = (sum(p.get(what, 0) for p in proofs) for what in ("made", "taken", "values"))
        terminalreporter.write_line(
            f"rules proved: {len(proofs)}, over {taken:,} instances that they take of {made:,} made, {values:,} values"
        )
