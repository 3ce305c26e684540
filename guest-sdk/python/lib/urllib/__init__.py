"""URLs: urllib.parse takes them apart, urllib.request fetches them."""
