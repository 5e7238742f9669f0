"""Configuration of real routers: what to type for an answer. Pure: it reads and writes nothing.

docs/configure.md has the platforms and their sources.
"""

from bufferlab.configure.bounds import Allowed as Allowed
from bufferlab.configure.lines import Configuration as Configuration
from bufferlab.configure.lines import Direction as Direction
from bufferlab.configure.lines import configuration as configuration
from bufferlab.configure.lines import configuration_of_both as configuration_of_both
from bufferlab.configure.linklayer import read_linklayer as read_linklayer
from bufferlab.configure.platform import Default as Default
from bufferlab.configure.platform import Platform as Platform
from bufferlab.configure.platforms import NOT_KNOWN as NOT_KNOWN
from bufferlab.configure.platforms import PLATFORMS as PLATFORMS
from bufferlab.configure.platforms import find_platform as find_platform
