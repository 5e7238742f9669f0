"""A real kernel in virtual time: built on this machine, booted as a process, given a scenario to run."""
