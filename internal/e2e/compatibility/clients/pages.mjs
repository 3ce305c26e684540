// uris gives the URIs of all pages, where the client leaves paging to its user. page asks for one of them.
export async function uris(page) {
  const all = [];
  let cursor;
  do {
    const p = await page(cursor);
    all.push(...p.resources.map(r => r.uri));
    cursor = p.nextCursor;
  } while (cursor !== undefined);
  return all;
}
