"""Old spelling; what ``theano.configparser`` shows is in :mod:`theano.settings`, :mod:`theano.legacy.settings`, :mod:`theano.legacy.gone`."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from theano.errors import TheanoConfigWarning as TheanoConfigWarning
from theano.settings import AddConfigVar as AddConfigVar, change_flags as change_flags, config as config
from theano.settings.config import Config as TheanoConfigParser
from theano.settings.kinds import (
    BoolParam as BoolParam, ConfigParam as ConfigParam, EnumStr as EnumStr, FloatParam as FloatParam, IntParam as
    IntParam, StrParam as StrParam, TypedParam as TypedParam,
)


