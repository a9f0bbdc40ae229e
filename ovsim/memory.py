"""Memory by its address, for kernels that work on any number of columns: their addresses stand in one table, so the kernel compiles once.

Compiled, `floats`, `codes`, `words`, `ids`, `doubles` and `offsets` are bare pointers: no reference is counted and no index looked at. Interpreted,
they are NumPy views of as many elements as are named. Whoever takes an address keeps its array alive and sees to its type, order and length.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ovsim.interpreted import interpreted

LINE = 64  # bytes of a cache line


def _view(address: int, count: int, dtype: Any) -> Any:
    size = count * np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_char * size).from_address(int(address)), dtype) if size else np.empty(0, dtype)


def _interpreted() -> tuple[Any, ...]:
    def floats(address: int, count: int) -> Any:
        """float32 elements at an address."""
        return _view(address, count, np.float32)

    def codes(address: int, count: int) -> Any:
        """uint8 elements at an address."""
        return _view(address, count, np.uint8)

    def words(address: int, count: int) -> Any:
        """uint32 elements at an address."""
        return _view(address, count, np.uint32)

    def ids(address: int, count: int) -> Any:
        """uint64 elements at an address."""
        return _view(address, count, np.uint64)

    def doubles(address: int, count: int) -> Any:
        """float64 elements at an address."""
        return _view(address, count, np.float64)

    def offsets(address: int, count: int) -> Any:
        """int64 elements at an address."""
        return _view(address, count, np.int64)

    def copy(to: int, source: int, size: int) -> None:
        """Copy bytes that do not overlap."""
        ctypes.memmove(int(to), int(source), int(size))

    def put_line(to: int, source: int) -> None:
        """Write one whole cache line, whose address is a multiple of `LINE`, without reading it first; see `settle`."""
        ctypes.memmove(int(to), int(source), LINE)

    def put_part(to: int, source: int, size: int) -> None:
        """Copy bytes that do not overlap, no more than a cache line holds."""
        ctypes.memmove(int(to), int(source), int(size))

    def ahead(address: int) -> None:
        """Ask for the cache line of an address, which need not be there, before it is written; changes no result."""

    def soon(address: int) -> None:
        """The same, before it is read."""

    def prefetch(pointer: Any, place: int) -> None:
        """The same for element `place` of what a pointer points at."""

    def settle() -> None:
        """Make what `put_line` wrote visible to other threads."""

    return floats, codes, words, ids, doubles, offsets, copy, put_line, put_part, ahead, soon, prefetch, settle


def _masks() -> bool:
    """Whether the machine writes some bytes of a cache line at once."""
    from llvmlite import binding
    from numba import config

    if getattr(config, "CPU_NAME", None):  # code for another machine than this one
        return False
    return bool(binding.get_host_cpu_features().get("avx512bw"))


def _compiled() -> tuple[Any, ...]:
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    line = ir.VectorType(ir.FloatType(), LINE // 4)
    byte = ir.IntType(8).as_pointer()

    def pointer(element: Any) -> Any:
        @intrinsic
        def at_address(_: Any, address: Any, count: Any) -> Any:
            def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

            return types.CPointer(element)(address, count), build

        return at_address

    @intrinsic
    def copy(_: Any, to: Any, source: Any, size: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            cgutils.raw_memcpy(builder, builder.inttoptr(args[0], byte), builder.inttoptr(args[1], byte), args[2], 1)
            return context.get_dummy_value()

        return types.void(to, source, size), build

    @intrinsic
    def put_line(_: Any, to: Any, source: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            held = builder.load(builder.inttoptr(args[1], line.as_pointer()), align=1)
            stored = builder.store(held, builder.inttoptr(args[0], line.as_pointer()), align=LINE)
            stored.set_metadata("nontemporal", builder.module.add_metadata([ir.IntType(32)(1)]))
            return context.get_dummy_value()

        return types.void(to, source), build

    if not _masks():
        put_part = copy
    else:

        @intrinsic
        def put_part(_: Any, to: Any, source: Any, size: Any) -> Any:
            octets, flags, number = ir.VectorType(ir.IntType(8), LINE), ir.VectorType(ir.IntType(1), LINE), ir.IntType(64)

            def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                where = octets.as_pointer()
                # the lowest `size` of 64 bits; a shift by 64 is none, so nothing at all is asked for apart
                some = builder.lshr(number(-1), builder.and_(builder.sub(number(LINE), args[2]), number(LINE - 1)))
                mask = builder.bitcast(builder.select(builder.icmp_signed("==", args[2], number(0)), number(0), some), flags)
                word = ir.IntType(32)
                reads, writes = ir.FunctionType(octets, [where, word, flags, octets]), ir.FunctionType(ir.VoidType(), [octets, where, word, flags])
                read = cgutils.get_or_insert_function(builder.module, reads, f"llvm.masked.load.v{LINE}i8.p0")
                write = cgutils.get_or_insert_function(builder.module, writes, f"llvm.masked.store.v{LINE}i8.p0")
                held = builder.call(read, [builder.inttoptr(args[1], where), word(1), mask, octets(ir.Undefined)])
                builder.call(write, [held, builder.inttoptr(args[0], where), word(1), mask])
                return context.get_dummy_value()

            return types.void(to, source, size), build

    def ask(builder: Any, address: Any, writes: int) -> None:
        word = ir.IntType(32)
        asked = builder.module.declare_intrinsic("llvm.prefetch", (byte,), ir.FunctionType(ir.VoidType(), [byte, word, word, word]))
        builder.call(asked, [address, word(writes), word(3), word(1)])  # into the nearest cache, data

    def asking(writes: int) -> Any:
        @intrinsic
        def at_address(_: Any, address: Any) -> Any:
            def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                ask(builder, builder.inttoptr(args[0], byte), writes)
                return context.get_dummy_value()

            return types.void(address), build

        return at_address

    @intrinsic
    def prefetch(_: Any, pointer: Any, place: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            address = builder.gep(args[0], [context.cast(builder, args[1], signature.args[1], types.intp)])
            ask(builder, builder.bitcast(address, byte), 0)
            return context.get_dummy_value()

        return types.void(pointer, place), build

    @intrinsic
    def settle(_: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            builder.fence("seq_cst")
            return context.get_dummy_value()

        return types.void(), build

    kinds = (types.float32, types.uint8, types.uint32, types.uint64, types.float64, types.int64)
    return (*(pointer(kind) for kind in kinds), copy, put_line, put_part, asking(1), asking(0), prefetch, settle)


_made = _interpreted() if interpreted() else _compiled()
floats, codes, words, ids, doubles, offsets, copy, put_line, put_part, ahead, soon, prefetch, settle = _made
