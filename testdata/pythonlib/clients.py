"""Clients that CPython has not of itself. Each function raises where something is wrong."""

import asyncio
import json
import os

import aiofiles
import aiohttp
import aiosqlite
import httpx
import requests

url = ""


def check():
    global url
    url = os.environ["LIBRARY_URL"]
    for use in (use_httpx, use_requests):
        use()
    for use in (use_async_httpx, use_aiohttp, use_aiosqlite, use_aiofiles):
        asyncio.run(use())


def same(got, want):
    if got != want:
        raise ValueError(f"got {got!r}, want {want!r}")


def use_httpx():
    same(httpx.get(url + "/a", params={"q": "x y", "n": [1, 2], "b": True}).json()["uri"], "/a?q=x+y&n=1&n=2&b=true")
    sent = httpx.post(url + "/a", json={"é": 1}, auth=("u", "p"), cookies={"k": "v"}, headers={"X-A": "1"}).json()
    same(sent["body"], '{"é":1}')
    same(sent["headers"], {"authorization": "Basic dTpw", "content-type": "application/json", "cookie": "k=v", "x-a": "1"})
    same(httpx.post(url + "/a", data={"a": "b c"}).json()["body"], "a=b+c")
    same(list(httpx.get(url + "/lines").iter_lines()), ["a", "bé", "c"])
    try:
        httpx.get(url + "/status/404").raise_for_status()
    except httpx.HTTPStatusError as error:
        same((error.response.status_code, str(error)), (404, f"Client error '404 Not Found' for url '{url}/status/404'"))
    try:
        httpx.get("http://example.org/")
    except httpx.RequestError as error:
        same(str(error), "GET http://example.org/: it is not granted")
    try:
        httpx.get("nope")
    except httpx.UnsupportedProtocol as error:
        same(str(error), "Request URL is missing an 'http://' or 'https://' protocol.")


async def use_async_httpx():
    async with httpx.AsyncClient(base_url=url + "/api/", headers={"X-A": "z"}, timeout=10.0) as client:
        answer = await client.get("/q", params={"a": 1})
        same(answer.raise_for_status().json()["uri"], "/api/q?a=1")
        same([a.json()["uri"] for a in await asyncio.gather(client.get("1"), client.get("2"))], ["/api/1", "/api/2"])
        same((answer.headers["content-type"], answer.is_success, str(answer.url)),
             ("application/json", True, url + "/api/q?a=1"))


def use_requests():
    answer = requests.get(url + "/a", params={"q": 1}, timeout=5)
    same((answer.json()["uri"], answer.ok, answer.reason), ("/a?q=1", True, "OK"))
    try:
        requests.get(url + "/status/500").raise_for_status()
    except requests.HTTPError as error:
        same(str(error), f"500 Server Error: Internal Server Error for url: {url}/status/500")
    with requests.Session() as session:
        session.headers.update({"X-A": "s"})
        sent = session.post(url + "/p", json=[1]).json()
    same((sent["body"], sent["headers"]["x-a"]), ("[1]", "s"))


async def use_aiohttp():
    async with aiohttp.ClientSession() as session:
        async with session.get(url + "/a") as answer:
            same((answer.status, (await answer.json())["uri"], len(await answer.text()) > 5), (200, "/a", True))
        answer = await session.post(url + "/b", json={"a": 1})
        same(json.loads((await answer.json())["body"]), {"a": 1})


async def use_aiosqlite():
    async with aiosqlite.connect("main.db") as db:
        db.row_factory = aiosqlite.Row
        names = []
        async with db.execute("select name from users order by id") as cursor:
            async for row in cursor:
                names.append(row["name"])
        same(names, ["Ada", "Bob"])
        cursor = await db.execute("select 1")
        same(tuple(await cursor.fetchone()), (1,))


async def use_aiofiles():
    async with aiofiles.open("/data/a.txt", mode="r") as file:
        same(await file.readline(), "one\n")
        same(await file.read(), "twö\n")
    try:
        async with aiofiles.open("/data/none") as file:
            pass
    except FileNotFoundError as error:
        same(error.filename, "/data/none")
