"""What handlers await. Nothing of it takes time in the background: a coroutine runs to its end when it is awaited, or when a
task is made of it."""


class CancelledError(BaseException):
    pass


class InvalidStateError(Exception):
    pass


class QueueEmpty(Exception):
    pass


class QueueFull(Exception):
    pass


TimeoutError = TimeoutError
FIRST_COMPLETED, FIRST_EXCEPTION, ALL_COMPLETED = "FIRST_COMPLETED", "FIRST_EXCEPTION", "ALL_COMPLETED"


def run(coroutine, *, debug=None, loop_factory=None):
    """Runs a coroutine to its end, and returns what it returns."""
    if not hasattr(coroutine, "send"):
        coroutine = _awaiting(coroutine)
    try:
        while True:
            coroutine.send(None)
    except StopIteration as end:
        return end.value


async def _awaiting(awaitable):
    return await awaitable


class Future:
    """A value that is there, or will be set by who holds it."""

    def __init__(self, *, loop=None):
        self._done = False
        self._result = self._error = None

    def done(self):
        return self._done

    def cancelled(self):
        return False

    def cancel(self, msg=None):
        return False

    def result(self):
        if not self._done:
            raise InvalidStateError("Result is not set.")
        if self._error is not None:
            raise self._error
        return self._result

    def exception(self):
        if not self._done:
            raise InvalidStateError("Exception is not set.")
        return self._error

    def set_result(self, result):
        self._result, self._done = result, True

    def set_exception(self, error):
        self._error, self._done = error() if isinstance(error, type) else error, True

    def add_done_callback(self, callback, *, context=None):
        callback(self)

    def __await__(self):
        return self.result()
        yield

    __iter__ = __await__  # of an awaited object in MicroPython


class Task(Future):
    def __init__(self, coroutine, *, loop=None, name=None, context=None):
        super().__init__()
        self._name = name or "Task-1"
        try:
            self.set_result(run(coroutine))
        except Exception as error:
            self.set_exception(error)

    def get_name(self):
        return self._name

    def set_name(self, name):
        self._name = name


def create_task(coroutine, *, name=None, context=None):
    """Runs the coroutine. What it raises is raised when the task is awaited."""
    return Task(coroutine, name=name)


def ensure_future(awaitable, *, loop=None):
    return awaitable if isinstance(awaitable, Future) else Task(awaitable)


def gather(*awaitables, return_exceptions=False):
    """Runs them one after the other; to be awaited for the list of what they return."""
    tasks = [ensure_future(a) for a in awaitables]
    gathered = Future()
    if not return_exceptions:
        for task in tasks:
            if task.exception() is not None:
                gathered.set_exception(task.exception())
                return gathered
    gathered.set_result([task.result() if task.exception() is None else task.exception() for task in tasks])
    return gathered


async def wait_for(awaitable, timeout):
    return await awaitable


async def wait(awaitables, *, timeout=None, return_when=ALL_COMPLETED):
    return {ensure_future(a) for a in awaitables}, set()


def as_completed(awaitables, *, timeout=None):
    return iter([ensure_future(a) for a in awaitables])


def shield(awaitable):
    return awaitable


async def sleep(delay, result=None):
    """Returns at once: a request that waits holds an instance."""
    return result


async def to_thread(function, *args, **named):
    return function(*args, **named)


def iscoroutine(value):
    return hasattr(value, "send") and hasattr(value, "throw")


def iscoroutinefunction(function):
    return type(function) is _generator


isfuture = iscoroutine
_generator = type(_awaiting)


class timeout:
    """A context without a bound of its own: the host bounds the time of a request."""

    def __init__(self, delay):
        pass

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        pass

    def expired(self):
        return False


timeout_at = timeout


class TaskGroup:
    async def __aenter__(self):
        self._tasks = []
        return self

    async def __aexit__(self, kind, error, traceback):
        if kind is None:
            for task in self._tasks:
                task.result()

    def create_task(self, coroutine, *, name=None, context=None):
        task = Task(coroutine, name=name)
        self._tasks.append(task)
        return task


class Lock:
    """What nothing else can hold: no two coroutines run at once."""

    def __init__(self, *_):
        self._locked = False

    def locked(self):
        return self._locked

    async def acquire(self):
        self._locked = True
        return True

    def release(self):
        self._locked = False

    async def __aenter__(self):
        self._locked = True

    async def __aexit__(self, *_):
        self._locked = False


Semaphore = BoundedSemaphore = Condition = Lock


class Event:
    def __init__(self):
        self._set = False

    def is_set(self):
        return self._set

    def set(self):
        self._set = True

    def clear(self):
        self._set = False

    async def wait(self):
        if not self._set:
            raise RuntimeError("the event is not set, and nothing can set it while this waits")
        return True


class Queue:
    def __init__(self, maxsize=0):
        self.maxsize = maxsize
        self._items = []

    def qsize(self):
        return len(self._items)

    def empty(self):
        return not self._items

    def full(self):
        return 0 < self.maxsize <= len(self._items)

    def put_nowait(self, item):
        if self.full():
            raise QueueFull()
        self._items.append(item)

    def get_nowait(self):
        if not self._items:
            raise QueueEmpty()
        return self._items.pop(0)

    async def put(self, item):
        self.put_nowait(item)

    async def get(self):
        return self.get_nowait()

    def task_done(self):
        pass

    async def join(self):
        pass


class _Loop:
    def run_until_complete(self, awaitable):
        return run(awaitable)

    def create_task(self, coroutine, *, name=None):
        return Task(coroutine, name=name)

    def create_future(self):
        return Future()

    def run_in_executor(self, executor, function, *args):
        made = Future()
        try:
            made.set_result(function(*args))
        except Exception as error:
            made.set_exception(error)
        return made

    def time(self):
        from time import monotonic

        return monotonic()

    def is_running(self):
        return True

    def is_closed(self):
        return False

    def close(self):
        pass


_loop = _Loop()


def get_running_loop():
    return _loop


get_event_loop = new_event_loop = get_running_loop


def set_event_loop(loop):
    pass


def current_task(loop=None):
    return None
