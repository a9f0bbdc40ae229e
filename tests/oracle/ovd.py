"""Reader of OmniPVD recordings (stream 0.3 and 0.4): the latest value of every attribute of every object.

A recording is a header of three uint32 (version) and then commands: class, enum and attribute registrations, object creation and destruction,
attribute values, list insertions, frames and messages. Pure Python, for the environment that has the real system.
"""

from __future__ import annotations

import contextlib
import struct
from typing import Any

import numpy as np

CLASS, ENUM, ATTRIBUTE, CLASS_ATTRIBUTE, LIST_ATTRIBUTE, SET, ADD, REMOVE, CREATE, DESTROY, START, STOP, MESSAGE = range(1, 14)
DTYPES = {0: "i1", 1: "i2", 2: "i4", 3: "i8", 4: "u1", 5: "u2", 6: "u4", 7: "u8", 8: "f4", 9: "f8", 11: "u8", 12: "u4", 13: "u4"}
STRING, HANDLE, ENUM_VALUE, FLAGS = 10, 11, 12, 13


class Attribute:
    """A registered attribute: its data type, lane count and the enum class of a flags value."""

    __slots__ = ("cls", "count", "enum", "name", "type")

    def __init__(self, cls: int, name: str, type_: int | None, count: int = 0, enum: int = 0) -> None:
        self.cls, self.name, self.type, self.count, self.enum = cls, name, type_, count, enum


class Object:
    """An object of the recording with its latest attribute values."""

    __slots__ = ("attributes", "cls", "handle", "lists", "name")

    def __init__(self, handle: int, cls: int, name: str) -> None:
        self.handle, self.cls, self.name = handle, cls, name
        self.attributes: dict[str, tuple[Attribute, Any]] = {}
        self.lists: dict[str, list[Any]] = {}

    def get(self, name: str, default: Any = None) -> Any:
        return self.attributes[name][1] if name in self.attributes else default


class Recording:
    """`objects` by handle; destroyed ones are removed."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.version = struct.unpack_from("<III", data, 0)
        self.classes: dict[int, str] = {}
        self.bases: dict[int, int] = {}
        self.attributes: dict[int, Attribute] = {}
        self.enums: dict[int, dict[int, str]] = {}
        self.objects: dict[int, Object] = {}
        self.messages: list[str] = []
        with contextlib.suppress(struct.error):  # a recording cut short: what stands before the cut holds
            self._parse()

    def class_name(self, obj: Object) -> str:
        return self.classes[obj.cls]

    def is_a(self, obj: Object, name: str) -> bool:
        cls = obj.cls
        while cls:
            if self.classes[cls] == name:
                return True
            cls = self.bases.get(cls, 0)
        return False

    def names(self, attribute: Attribute, value: int) -> list[str]:
        """Names of the set bits of a flags value."""
        enum = self.enums.get(attribute.enum, {})
        return [n for k, n in sorted(enum.items()) if k and k & (k - 1) == 0 and value & k]

    def _text(self, at: int) -> tuple[str, int]:
        (n,) = struct.unpack_from("<H", self.data, at)
        return self.data[at + 2 : at + 2 + n].split(b"\0")[0].decode("utf-8", "replace"), at + 2 + n

    def _value(self, a: Attribute, raw: bytes) -> Any:
        if a.type == STRING:
            return raw.split(b"\0")[0].decode("utf-8", "replace")
        if a.type is None:
            return raw.hex()
        dtype = np.dtype("<" + DTYPES[a.type])
        if len(raw) % dtype.itemsize:
            return int.from_bytes(raw, "little") if len(raw) < 8 else raw.hex()
        values = np.frombuffer(raw, dtype)
        if values.size == 1 and (a.type in (FLAGS, ENUM_VALUE) or a.count == 1):
            return values[0].item()
        return values.tolist()

    def _parse(self) -> None:
        data, at, end, get = self.data, 12, len(self.data), struct.unpack_from
        while at < end:
            command = data[at]
            at += 1
            if command == CLASS:
                (cls,) = get("<I", data, at)
                at += 4
                if self.version >= (0, 3, 0):
                    (self.bases[cls],) = get("<I", data, at)
                    at += 4
                self.classes[cls], at = self._text(at)
            elif command == ATTRIBUTE:
                cls, handle, type_, extra = get("<IIHI", data, at)
                name, at = self._text(at + 14)
                if type_ == ENUM_VALUE:
                    self.enums.setdefault(cls, {})[extra] = name
                flags = type_ in (ENUM_VALUE, FLAGS)
                self.attributes[handle] = Attribute(cls, name, type_, 0 if flags else extra, extra if type_ == FLAGS else 0)
            elif command == CLASS_ATTRIBUTE:
                cls, handle, _ = get("<III", data, at)
                name, at = self._text(at + 12)
                self.attributes[handle] = Attribute(cls, name, None)
            elif command == LIST_ATTRIBUTE:
                cls, handle, type_ = get("<IIH", data, at)
                name, at = self._text(at + 10)
                self.attributes[handle] = Attribute(cls, name, type_)
            elif command in (SET, ADD, REMOVE):
                _, handle, depth = get("<QQB", data, at)
                path = get(f"<{depth}I", data, at + 17)
                (n,) = get("<I", data, at + 17 + 4 * depth)
                at += 21 + 4 * depth
                self._assign(command, handle, self.attributes[path[-1]], data[at : at + n])
                at += n
            elif command == CREATE:
                _, cls, handle = get("<QIQ", data, at)
                name, at = self._text(at + 20)
                self.objects[handle] = Object(handle, cls, name)
            elif command == DESTROY:
                _, handle = get("<QQ", data, at)
                at += 16
                self.objects.pop(handle, None)
            elif command in (START, STOP):
                at += 16
            elif command == MESSAGE:
                text, at = self._text(at + 8)
                _, at = self._text(at)
                at += 12
                self.messages.append(text)
            else:
                raise ValueError(f"unknown command {command} at byte {at - 1} of the recording")

    def _assign(self, command: int, handle: int, attribute: Attribute, raw: bytes) -> None:
        obj = self.objects.setdefault(handle, Object(handle, attribute.cls, ""))
        value = self._value(attribute, raw)
        if command == SET:
            obj.attributes[attribute.name] = (attribute, value)
            return
        into = obj.lists.setdefault(attribute.name, [])
        for item in value if isinstance(value, list) else [value]:
            if command == ADD:
                into.append(item)
            elif item in into:
                into.remove(item)
