"""What handlers await. Nothing of it takes time in the background: a coroutine runs when it is awaited."""


def run(coroutine):
    """Runs a coroutine to its end, and returns what it returns."""
    try:
        while True:
            coroutine.send(None)
    except StopIteration as end:
        return end.value


async def gather(*coroutines):
    results = []
    for coroutine in coroutines:
        results.append(await coroutine)
    return results


async def wait_for(coroutine, timeout):
    return await coroutine


async def sleep(seconds, result=None):
    """Returns at once: a request that waits holds an instance."""
    return result


async def to_thread(function, *args, **named):
    return function(*args, **named)


def iscoroutine(value):
    return hasattr(value, "send") and hasattr(value, "throw")
