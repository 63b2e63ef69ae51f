"""Hostile tests: random attacks of many kinds on what is installed, for as long as wanted: ``nox -s hostile``.

    nox -s hostile                                      an hour, all kinds, a seed from the clock
    nox -s hostile -- --minutes 5 --only graphs,threads
    nox -s hostile -- --seed 42 --attacks 20            the same attacks each time: 20 of each kind
    nox -s hostile -- --repeat graphs:123456            one attack again

Each module of ``hostile.attacks`` is a kind of attack: ``attack(rng)`` makes one up, carries it out, and returns a
`Finding` where the answer differs from that of an independent oracle. Attacks run in child processes (``attacker``),
so that a crash or a hang is a finding, too. ``campaign`` shares the time among the kinds, ``command`` is what users
type, and ``faults`` are planted to see that each kind can find something.
"""
