"""The flags under the name that older programs import; see `theano.settings`."""

from theano.settings import AddConfigVar as AddConfigVar
from theano.settings import BoolParam as BoolParam
from theano.settings import Config as TheanoConfigParser
from theano.settings import ConfigParam as ConfigParam
from theano.settings import EnumStr as EnumStr
from theano.settings import FloatParam as FloatParam
from theano.settings import IntParam as IntParam
from theano.settings import StrParam as StrParam
from theano.settings import TheanoConfigWarning as TheanoConfigWarning
from theano.settings import TypedParam as TypedParam
from theano.settings import change_flags as change_flags
from theano.settings import config as config

__all__ = [
    "AddConfigVar",
    "BoolParam",
    "ConfigParam",
    "EnumStr",
    "FloatParam",
    "IntParam",
    "StrParam",
    "TheanoConfigParser",
    "TheanoConfigWarning",
    "TypedParam",
    "change_flags",
    "config",
]
