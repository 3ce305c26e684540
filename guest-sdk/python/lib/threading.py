"""Locks of a provider that has one thread."""


class Lock:
    def __init__(self):
        self._held = 0

    def acquire(self, blocking=True, timeout=-1):
        self._held += 1
        return True

    def release(self):
        if not self._held:
            raise RuntimeError("release unlocked lock")
        self._held -= 1

    def locked(self):
        return self._held > 0

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *_):
        self.release()


RLock = Semaphore = BoundedSemaphore = Condition = Lock


class Event:
    _set = False

    def is_set(self):
        return self._set

    def set(self):
        self._set = True

    def clear(self):
        self._set = False

    def wait(self, timeout=None):
        return self._set


class local:
    pass


class Thread:
    name = "MainThread"
    daemon = False
    ident = 1

    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None):
        self.name = name or "Thread-1"

    def start(self):
        raise RuntimeError("a provider has no threads: call the function itself")

    def is_alive(self):
        return False


_main = object.__new__(Thread)


def current_thread():
    return _main


main_thread = current_thread


def get_ident():
    return 1


def active_count():
    return 1
