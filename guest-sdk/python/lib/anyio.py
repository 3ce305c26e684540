"""asyncio by the names of anyio."""

import asyncio
from asyncio import Event, Lock, Semaphore, sleep


def run(func, *args, backend=None, backend_options=None):
    return asyncio.run(func(*args))


class to_thread:
    @staticmethod
    async def run_sync(func, *args, **_):
        return func(*args)


class _Group(asyncio.TaskGroup):
    def start_soon(self, func, *args, name=None):
        self.create_task(func(*args))


def create_task_group():
    return _Group()


fail_after = move_on_after = asyncio.timeout


async def open_file(file, *args, **named):
    import aiofiles

    return await aiofiles.open(file, *args, **named)
