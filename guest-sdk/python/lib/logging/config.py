"""The configuration of logging is the operator's."""


def dictConfig(config):
    """Takes the levels of loggers."""
    from . import getLogger

    for name, options in list(config.get("loggers", {}).items()) + [("root", config.get("root", {}))]:
        if "level" in options:
            getLogger(name).setLevel(options["level"])


def fileConfig(*_, **__):
    pass
