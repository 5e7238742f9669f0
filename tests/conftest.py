"""What all tests share."""

import signal


def pytest_configure() -> None:
    """Take Ctrl-C, as at a terminal, so that tests can send it.

    A shell that starts something in the background has it ignore SIGINT, and its children inherit that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
