"""Columnar reader of .usdc files: every table of the file as arrays, values gathered by type, without pxr.

File layout (facts of the format, versions 0.4.0 to 0.14.0; all little-endian): an 88-byte bootstrap with the offset of a table of contents,
six sections (TOKENS, STRINGS, FIELDS, FIELDSETS, PATHS, SPECS), and stored values anywhere in between, reached by 48-bit offsets in value reps.

Kernels (`ovsim.jit.serial`) take arrays and plain ints, check every index themselves, and report a bad place as a number instead of raising.
Integers inside are int64 throughout, so that the interpreted run (`NUMBA_DISABLE_JIT=1`) gives the same results.
"""
