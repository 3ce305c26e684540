"""What the host is told of changes."""

from . import abi
from .service import ask


def notify_updated(uri):
    """Tells the clients that are subscribed to a resource that it has changed."""
    ask(abi.SERVICE_NOTIFY_UPDATED, "s", "", (uri,), "a notification")


def notify_list_changed():
    """Tells clients that the list has changed."""
    ask(abi.SERVICE_NOTIFY_LIST, "s", "", (None,), "a notification")
