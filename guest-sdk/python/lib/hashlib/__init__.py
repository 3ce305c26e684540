"""Digests. SHA-256 is the interpreter's; the others are written in Python, and slow: some 100 KB/s or less."""

from binascii import hexlify

from uhashlib import sha256 as _native

algorithms_guaranteed = {"md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "sha3_512", "sha3_224", "sha3_384"}
algorithms_available = algorithms_guaranteed


class _Hash:
    def __init__(self, name, digest_size, block_size, function, data):
        self.name, self.digest_size, self.block_size = name, digest_size, block_size
        self._function = function
        self._parts = []
        self.update(data)

    def update(self, data):
        if isinstance(data, str):
            raise TypeError("Strings must be encoded before hashing")
        self._parts.append(bytes(data))

    def digest(self):
        return self._function(self._parts)

    def hexdigest(self):
        return hexlify(self.digest()).decode()

    def copy(self):
        other = _Hash(self.name, self.digest_size, self.block_size, self._function, b"")
        other._parts = list(self._parts)
        return other

    def __repr__(self):
        return "<" + self.name + " _hashlib.HASH object>"


def _sha256(parts):
    h = _native()
    for part in parts:
        h.update(part)
    return h.digest()


def sha256(data=b"", *, usedforsecurity=True):
    return _Hash("sha256", 32, 64, _sha256, data)


def md5(data=b"", *, usedforsecurity=True):
    from .short import md5

    return _Hash("md5", 16, 64, md5, data)


def sha1(data=b"", *, usedforsecurity=True):
    from .short import sha1

    return _Hash("sha1", 20, 64, sha1, data)


def sha224(data=b"", *, usedforsecurity=True):
    from .short import sha224

    return _Hash("sha224", 28, 64, sha224, data)


def sha384(data=b"", *, usedforsecurity=True):
    from .long import sha384

    return _Hash("sha384", 48, 128, sha384, data)


def sha512(data=b"", *, usedforsecurity=True):
    from .long import sha512

    return _Hash("sha512", 64, 128, sha512, data)


def _sha3(bits, data):
    from .long import sha3

    return _Hash("sha3_" + str(bits), bits // 8, 200 - bits // 4, lambda parts: sha3(bits, parts), data)


def sha3_224(data=b"", *, usedforsecurity=True):
    return _sha3(224, data)


def sha3_256(data=b"", *, usedforsecurity=True):
    return _sha3(256, data)


def sha3_384(data=b"", *, usedforsecurity=True):
    return _sha3(384, data)


def sha3_512(data=b"", *, usedforsecurity=True):
    return _sha3(512, data)


def new(name, data=b"", *, usedforsecurity=True):
    name = name.lower().replace("-", "_") if "3" in name[:5] else name.lower().replace("-", "").replace("_", "")
    if name not in algorithms_guaranteed:
        raise ValueError("unsupported hash type " + name)
    return globals()[name](data)


def file_digest(fileobj, digest):
    made = new(digest) if isinstance(digest, str) else digest()
    while True:
        data = fileobj.read(65536)
        if not data:
            return made
        made.update(data)


def pbkdf2_hmac(hash_name, password, salt, iterations, dklen=None):
    from hmac import new as mac

    size = new(hash_name).digest_size
    dklen, key, number = dklen or size, b"", 1
    while len(key) < dklen:
        part = mac(password, salt + number.to_bytes(4, "big"), hash_name).digest()
        total = int.from_bytes(part, "big")
        for _ in range(iterations - 1):
            part = mac(password, part, hash_name).digest()
            total ^= int.from_bytes(part, "big")
        key += total.to_bytes(size, "big")
        number += 1
    return key[:dklen]


def __getattr__(name):
    raise AttributeError("module 'hashlib' has no attribute '" + name + "': there are " + ", ".join(sorted(algorithms_guaranteed)))
