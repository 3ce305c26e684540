"""The environment is the operator's to grant: files of variables are not read."""

from os import environ


def load_dotenv(*_, **__):
    """Does nothing: wasmres grants variables with --env."""
    return False


def find_dotenv(*_, **__):
    return ""


def dotenv_values(*_, **__):
    return {}


def get_key(dotenv_path, key_to_get):
    return environ.get(key_to_get)
