"""The flags under the name that older programs import; see `theano.settings`."""

from theano.settings import config as config

__all__ = ["config"]
