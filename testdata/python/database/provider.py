"""Greets people, and knows some."""

from wasmres import NotFound, Provider

app = Provider(
    "hello",
    version="1.0.0",
    description=__doc__,
    prefixes=["greeting://", "db://users/"],
    asks=[{"name": "sql", "reason": "reads the users"}],
)


@app.resource("greeting://{name}", mime_type="text/plain")
def greet(name: str) -> str:
    """Greets people."""
    return f"Hello, {name}!"


@app.resource("db://users/{user_id}")
def user(user_id: str) -> dict:
    rows = app.sql("main").query("select name from users where id = ?1", user_id)
    if not rows:
        raise NotFound(f"user {user_id} not found")
    return {"name": rows[0]["name"]}


@app.resource("db://users/all")
def everybody() -> list:
    rows = app.sql("main").query("select name from users order by name")
    return [len(rows)] + [row["name"] for row in rows]


@app.resource("db://users/rows")
def rows():
    return app.sql("main").query("select id, name from users")
