"""What the tables of calls are written with."""

#: Patterns of up to three and four dimensions.
UP_TO_3 = ["", "0", "1", "00", "01", "10", "11", "000", "001", "010", "011", "100", "101", "110", "111"]
UP_TO_4 = [*UP_TO_3, "0000", "0101", "1111", "1000"]


def words(text):
    """Return the words of a text; a lambda is one."""
    return [word.replace("\0", " ") for word in text.replace("lambda ", "lambda\0").split()]
