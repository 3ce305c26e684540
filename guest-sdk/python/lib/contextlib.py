"""Context managers."""


class AbstractContextManager:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


class AbstractAsyncContextManager:
    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        return None


class _Generated:
    """The context that a generator has around its yield. An async one is run as one that is not: nothing that it awaits
    takes time."""

    def __init__(self, function, args, named):
        self._make = function, args, named
        self._generator = function(*args, **named)

    def __enter__(self):
        try:
            return next(self._generator)
        except StopIteration:
            pass
        raise RuntimeError("generator didn't yield")

    def __exit__(self, kind, error, traceback):
        if kind is None:
            try:
                next(self._generator)
            except StopIteration:
                return False
            raise RuntimeError("generator didn't stop")
        error = kind() if error is None else error
        try:
            self._generator.throw(error)
        except StopIteration as stopped:
            return stopped is not error
        except BaseException as raised:
            if raised is error:
                return False
            raise
        raise RuntimeError("generator didn't stop after throw()")

    async def __aenter__(self):
        return self.__enter__()

    async def __aexit__(self, kind, error, traceback):
        return self.__exit__(kind, error, traceback)

    def __call__(self, function):
        """Decorates a function that runs in the context."""
        make, args, named = self._make

        def inside(*a, **n):
            with _Generated(make, args, named):
                return function(*a, **n)

        return inside


def contextmanager(function):
    return lambda *args, **named: _Generated(function, args, named)


asynccontextmanager = contextmanager


class ContextDecorator:
    def __call__(self, function):
        def inside(*args, **named):
            with self:
                return function(*args, **named)

        return inside


class suppress:
    def __init__(self, *exceptions):
        self._exceptions = exceptions

    def __enter__(self):
        return None

    def __exit__(self, kind, error, traceback):
        return kind is not None and issubclass(kind, self._exceptions)


class closing:
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing

    def __exit__(self, *_):
        self.thing.close()


class aclosing:
    def __init__(self, thing):
        self.thing = thing

    async def __aenter__(self):
        return self.thing

    async def __aexit__(self, *_):
        await self.thing.aclose()


class nullcontext:
    def __init__(self, enter_result=None):
        self.enter_result = enter_result

    def __enter__(self):
        return self.enter_result

    def __exit__(self, *_):
        pass

    async def __aenter__(self):
        return self.enter_result

    async def __aexit__(self, *_):
        pass


class ExitStack:
    """Leaves contexts in the reverse order of their entry."""

    def __init__(self):
        self._exits = []

    def enter_context(self, manager):
        result = manager.__enter__()
        self.push(manager)
        return result

    def push(self, exit):
        self._exits.append(exit.__exit__ if hasattr(exit, "__exit__") else exit)
        return exit

    def callback(self, function, *args, **named):
        def exit(kind, error, traceback):
            function(*args, **named)

        self._exits.append(exit)
        return function

    def pop_all(self):
        other = type(self)()
        other._exits, self._exits = self._exits, []
        return other

    def close(self):
        self.__exit__(None, None, None)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        first = error
        while self._exits:
            exit = self._exits.pop()
            try:
                if exit(kind, error, traceback):
                    kind = error = traceback = None
            except BaseException as raised:
                kind, error = type(raised), raised
        if error is not None and error is not first:
            raise error
        return first is not None and error is None


class AsyncExitStack(ExitStack):
    async def enter_async_context(self, manager):
        result = await manager.__aenter__()
        self.push_async_exit(manager)
        return result

    def push_async_exit(self, exit):
        leave = exit.__aexit__ if hasattr(exit, "__aexit__") else exit
        self._exits.append(lambda *details: _finished(leave(*details)))
        return exit

    def push_async_callback(self, function, *args, **named):
        self._exits.append(lambda *_: _finished(function(*args, **named)) and False)
        return function

    async def aclose(self):
        self.close()

    async def __aenter__(self):
        return self

    async def __aexit__(self, kind, error, traceback):
        return self.__exit__(kind, error, traceback)


def _finished(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration as end:
        return end.value
