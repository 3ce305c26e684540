// A provider whose read works with objects, sorts, JSON and a regular expression: heavy://objects.
import { provider } from "wasmres";

provider({ name: "heavy", version: "1.0.0" }).resource("heavy://objects", () => {
  const notes = Array.from({ length: 1000 }, (_, i) => ({
    id: (i * 7919) % 5003,
    title: `Note ${i % 97}`,
    tags: [`t${i % 7}`, `u${i % 11}`],
  }));
  notes.sort((a, b) => a.title.localeCompare(b.title) || a.id - b.id);
  const groups = new Map();
  for (const { id, title, tags } of JSON.parse(JSON.stringify(notes))) {
    for (const tag of tags) {
      const key = `${tag}/${title}`.replace(/([a-z])(\d+)/g, "$2$1");
      groups.set(key, (groups.get(key) ?? 0) + id);
    }
  }
  let sum = 0;
  for (const value of groups.values()) sum = (sum * 31 + value) % 1000003;
  return `${groups.size} ${sum}`;
});
