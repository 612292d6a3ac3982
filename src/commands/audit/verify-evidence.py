#!/usr/bin/env python3
"""Checks evidence files of Tracebook without its service and its code. The README beside it says how to run it, and what a file proves."""
import argparse
import base64
import hashlib
import json
import re
import subprocess
import sys
import unicodedata

# Ed25519 (RFC 8032). A point of the curve is (X, Y, Z, T), with x = X/Z, y = Y/Z and xy = T/Z.
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def decompress(encoded):
    """The point that 32 bytes stand for, None if there is none."""
    number = int.from_bytes(encoded, "little")
    sign, y = number >> 255, number % 2**255 % P
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * v**3 * pow(u * v**7, (P - 5) // 8, P) % P
    if (v * x * x - u) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (v * x * x - u) % P:
        return None
    x = x if x % 2 == sign else -x % P
    return x, y, 1, x * y % P


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]), (p[1] + p[0]) * (q[1] + q[0])
    c, d = 2 * D * p[3] * q[3], 2 * p[2] * q[2]
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(number, point):
    product = (0, 1, 1, 0)
    for bit in f"{number:b}":
        product = add(product, product)
        if bit == "1":
            product = add(product, point)
    return product


# The seven ways to write points of small order, but for their sign. OpenSSL refuses them as keys and in signatures, other libraries do not.
Y8 = "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"
SMALL = {0, 1, P - 1, P, P + 1, *(int.from_bytes(bytes.fromhex(y), "little") for y in Y8)}


def is_small(encoded):
    return int.from_bytes(encoded, "little") % 2**255 in SMALL


BASE = decompress((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def is_signature(key, text, signature):
    a, s = decompress(key), int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or a is None or s >= ORDER or is_small(key) or is_small(signature[:32]):
        return False
    challenge = hashlib.sha512(signature[:32] + key + text).digest()
    minus_a = (-a[0] % P, a[1], 1, -a[3] % P)
    x, y, z, _ = add(multiply(s, BASE), multiply(int.from_bytes(challenge, "little") % ORDER, minus_a))
    x, y = x * pow(z, -1, P) % P, y * pow(z, -1, P) % P
    return (y | x % 2 << 255).to_bytes(32, "little") == signature[:32]


class Refused(Exception):
    """A step fails."""


def must(holds, reason):
    if not holds:
        raise Refused(reason)


class Number:
    """A number of JSON, as it is written."""

    def __init__(self, text):
        self.text = text


def well_formed(text):
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def unique(pairs):
    members = {well_formed(name): value for name, value in pairs}
    must(len(members) == len(pairs), "its JSON has a member twice")
    return members


def as_text(value, depth=0):
    """A value of JSON whose strings can be written as UTF-8."""
    must(depth <= 1000, "its JSON is nested deeper than 1,000")
    must(type(value) is not float, f"{value} is no JSON")
    if type(value) is dict:
        return {name: as_text(item, depth + 1) for name, item in value.items()}
    if type(value) is list:
        return [as_text(item, depth + 1) for item in value]
    return well_formed(value) if type(value) is str else value


def parse(text):
    return as_text(json.loads(text, object_pairs_hook=unique, parse_int=Number, parse_float=Number))


def string(value):
    must(type(value) is str, f"{value!r:.90} is not a string")
    return value


def listed(value):
    must(type(value) is list, f"{value!r:.90} is not a list")
    return value


def whole(value):
    must(type(value) is Number and re.fullmatch("0|[1-9][0-9]{0,15}", value.text), "it does not have a whole number")
    must(int(value.text) < 2**53, f"{value.text} is too large")
    return int(value.text)


def from_base64(text):
    found = base64.b64decode(string(text), validate=True)
    must(base64.b64encode(found).decode() == text, f"{text!r:.90} is not base64")
    return found


def hashes(values):
    found = [from_base64(text) for text in listed(values)]
    must(all(len(one) == 32 for one in found), "a hash does not have 32 bytes")
    return found


def node(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


def half(size):
    """The largest power of two below a size: there a tree has its two subtrees (RFC 6962, 2.1)."""
    return 1 << (size - 1).bit_length() - 1


def root_of(leaf, index, size, proof):
    """The root that an inclusion proof leads to (RFC 6962, 2.1.1)."""
    must(index < size and (size == 1) == (proof == []), "its proof does not have the right length")
    if size == 1:
        return leaf
    if index < half(size):
        return node(root_of(leaf, index, half(size), proof[:-1]), proof[-1])
    return node(proof[-1], root_of(leaf, index - half(size), size - half(size), proof[:-1]))


def roots_of(older, size, proof, root):
    """The roots of the older and of this tree that a consistency proof leads to (RFC 6962, 2.1.2); of a subtree on the right without `root`."""
    if older == size:
        must(len(proof) == (0 if root else 1), "its proof does not have the right length")
        return (root or proof[0],) * 2
    must(0 < older < size and proof, "its proof does not have the right length, or it is empty or newer")
    if older <= half(size):
        old, new = roots_of(older, half(size), proof[:-1], root)
        return old, node(new, proof[-1])
    old, new = roots_of(older - half(size), size - half(size), proof[:-1], None)
    return node(proof[-1], old), node(proof[-1], new)


SPACE = "\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
NAME = f"([^+\0-\x1f\x7f-\x9f{SPACE}]+)"


def open_key(text):
    """Name, hash and bytes of a key."""
    found = re.fullmatch(rf"{NAME}\+([0-9a-f]{{8}})\+([A-Za-z0-9+/]{{44}})", text)
    must(found, f"{text!r} is not a key")
    name, key = found[1], from_base64(found[3])
    key_hash = hashlib.sha256(f"{name}\n".encode() + key).digest()[:4]
    must(key[0] == 1 and key_hash.hex() == found[2], f"{text!r} is not a key")
    return name, key_hash, key[1:]


def open_checkpoint(note, name, key_hash, key):
    """Size and root of the tree of a checkpoint that the key has signed."""
    text, end, block = string(note).rpartition("\n\n")
    must(end and block.endswith("\n") and not re.search("[\0-\x09\x0b-\x1f]", note), "it is not a signed note")
    lines = [re.fullmatch(f"\u2014 {NAME} (.+)", line) for line in block[:-1].split("\n")]
    must(all(lines) and len(lines) <= 100, "it has a malformed signature, or too many")
    signatures = [(line[1], from_base64(line[2])) for line in lines]
    ours = [signature[4:] for signer, signature in signatures if (signer, signature[:4]) == (name, key_hash)]
    must(len(ours) == 1 and len(set(signatures)) == len(signatures), "the key has not signed it, or it is signed twice")
    must(all(len(signature) > 4 for _, signature in signatures) and is_signature(key, f"{text}\n".encode(), ours[0]), "a signature is wrong")
    lines = text.split("\n")
    must(lines[0] == name and "" not in lines, f"it is not a checkpoint of {name}")
    return whole(Number(lines[1])), hashes([lines[2]])[0]


def compared(text):
    """The lines of a text as they are compared: without white space, and with one U+FFFD for all that is not UTF-8."""
    lines = text.split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    return [re.sub("\ufffd+", "\ufffd", re.sub(f"[{SPACE}]+", "", line)) for line in lines]


def is_weak(line):
    kinds = "".join("x" if unicodedata.category(letter)[0] in "LN" else "-" for letter in line)
    return not 8 <= len(line.encode("utf-16-le")) // 2 <= 4096 or "xxx" not in kinds


def strings(value):
    if type(value) is str:
        yield value
    elif type(value) in (list, dict):
        for item in value.values() if type(value) is dict else value:
            yield from strings(item)


class File:
    """An evidence file. `step` is what is being checked; whatever is raised refuses the file there."""

    def __init__(self, repo):
        self.step, self.repo, self.taken, self.found = "format", repo, {}, {}

    def check(self, content, given):
        file = parse(content.decode("utf-8"))
        log = file["log"]
        must(file["format"] == "tracebook-evidence/1" and whole(file["madeAt"]) >= 0, "it has another format")
        string(file["madeBy"]), string(log["key"])
        self.step = "step 1, checkpoint"
        key = open_key(log["key"] if given is None else given)
        size, root = open_checkpoint(log["checkpoint"], *key)
        must(log["origin"] == key[0], f"the file has the origin {log['origin']!r}")
        self.read_events(listed(file["events"]), size, root)
        self.sessions = listed(file["sessions"])
        for i, session in enumerate(self.sessions):
            self.step = f"step 4, session {i}"
            self.check_session(session)
        for commit in listed(file["commits"]):
            self.check_commit(commit)
        if "previous" in log:
            self.step = "step 6, previous checkpoint"
            older, old = open_checkpoint(log["previous"]["checkpoint"], *key)
            must(roots_of(older, size, hashes(log["previous"]["proof"]), old) == (old, root), "its proof does not lead to this one")
        deleted = 0
        for i, deletion in enumerate(listed(file["deletions"])):
            self.step = f"step 7, deletion {i}"
            stream, event = "trace-" + string(deletion["traceId"]), self.events[whole(deletion["event"])]
            must(event is None or event[:2] == (stream, "TraceDeleted"), "it is not this event")
            deleted += event is not None
        lines, withheld = sum(self.found.values()), self.events.count(None)
        counts = ", ".join(sorted(f"{session} ({count} lines)" for session, count in self.found.items()))
        whose = "which nobody but the file has named" if given is None else "which you have given"
        return (
            f"these {lines} lines were in recorded calls of these {len(self.found)} sessions before this checkpoint: {counts}\n"
            f"{withheld} events are withheld, {deleted} sessions deleted; "
            f"this holds if the key of the log is {log['key'] if given is None else given}, {whose}"
        )

    def read_events(self, items, size, root):
        """Steps 2 and 3. Of each event stream, type and data; None of one that is withheld."""
        self.events, before, latest = [], -1, {}
        for i, item in enumerate(items):
            self.step = f"step 2, event {i}"
            index = whole(item["index"])
            must(index > before and ("entry" in item) != ("leaf" in item), "it is out of order, or has not one of entry and leaf")
            before = index
            leaf = hashes([item["leaf"]])[0] if "leaf" in item else hashlib.sha256(b"\0" + string(item["entry"]).encode()).digest()
            must(root_of(leaf, index, size, hashes(item["proof"])) == root, "its proof does not lead to the root of the checkpoint")
            self.step = f"step 3, event {i}"
            self.events.append(None)
            if "entry" in item:
                _, stream, kind, metadata, data = [string(part) for part in listed(parse(item["entry"]))]
                at = whole(parse(metadata)["at"])
                must(at >= latest.get(stream, 0), "it is earlier than the one before it in its stream")
                latest[stream] = at
                self.events[i] = (stream, kind, parse(data))

    def check_session(self, session):
        string(session["namespace"]), string(session["agentId"])
        stream, name, event = "trace-" + string(session["traceId"]), string(session["externalId"]), self.events[whole(session["begins"])]
        if event:
            must(event[0] == stream and event[1] in ("TraceCreated", "HistoryErased"), "it does not begin with this event")
            must(event[2]["externalId"] == name, "it begins with another session")

    def check_commit(self, commit):
        sha = string(commit["sha"])
        self.step = f"step 5, commit {sha!r}"
        must(re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", sha) and sha not in self.taken, "it is not the name of a commit, or there twice")
        is_commit = self.repo is None or self.git("rev-parse", f"{sha}^{{commit}}") == f"{sha}\n".encode()
        must(is_commit, "it is not a commit, or not by its whole name")
        must(type(commit.get("repository", "")) is str, "its repository is not a string")
        self.taken[sha] = []
        for lines in listed(commit["ranges"]):
            self.check_range(lines, self.check_lines(lines, sha), self.sessions[whole(lines["session"])]["traceId"])
        for lines in listed(commit["unknown"]):
            self.check_lines(lines, sha)

    def check_lines(self, lines, sha):
        """Lines stand nowhere else in the file. Returns the name that git has for their file."""
        name, start, end = f"{sha}:{string(lines['path'])}", whole(lines["start"]), whole(lines["end"])
        self.step = f"step 5, lines {start} to {end} of {name!r}"
        must(not re.search(r"\0|(^|/)\.{0,2}(/|\Z)", lines["path"]) and len(lines["path"]) <= 4096 and 1 <= start <= end, "there are no such lines")
        others = self.taken.setdefault(name, [])
        must(all(end < first or last < start for first, last in others), "some of them stand there twice")
        others.append((start, end))
        return name

    def check_range(self, lines, name, trace):
        """Weak lines say nothing, and an event that is withheld may have any line."""
        events = [self.events[whole(place)] for place in listed(lines["events"])]
        must(events and lines["evidence"] in ("replaced", "run"), "it has no events, or no kind")
        must(all(event is None or event[0] == f"trace-{trace}" for event in events), "an event is of another session")
        if self.repo is None:
            return
        written = {line for event in events if event for text in strings(event[2]) for line in compared(text)}
        written |= {line[1:] for line in written if line.startswith("+")}
        file = compared(self.git("cat-file", "blob", name).decode("utf-8", "replace"))
        for number in range(whole(lines["start"]), whole(lines["end"]) + 1):
            line = file[number - 1]
            must(line in written or is_weak(line) or None in events, f"line {number} is in none of its events")
            if line in written and not is_weak(line):
                self.found[trace] = self.found.get(trace, 0) + 1

    def git(self, *command):
        command = ["git", "--no-replace-objects", "-C", self.repo, *(part.encode() for part in command)]
        return subprocess.run(command, check=True, capture_output=True).stdout


def main():
    options = argparse.ArgumentParser(description="Checks evidence files. Exit code 3 if a step fails.")
    options.add_argument("--key", help="the key of the log, as you know it from elsewhere")
    options.add_argument("--repo", help="a clone of the repository that has the commits")
    options.add_argument("files", nargs="+", metavar="FILE")
    given, code = options.parse_args(), 0
    if "" in (given.key, given.repo):
        options.error("--key and --repo must not be empty")
    sys.setrecursionlimit(20_000)
    sys.stdout.reconfigure(errors="backslashreplace")
    for path in given.files:
        file = File(given.repo)
        try:
            with open(path, "rb") as opened:
                print(f"{path}: {file.check(opened.read(), given.key)}")
        except Exception as reason:
            print(f"{path}: REFUSED, {file.step}: {reason}")
            code = 3
    sys.exit(code)


main()
