"""Rules of choices and checks."""
