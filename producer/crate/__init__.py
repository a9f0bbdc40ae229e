"""Columnar reader of .usdc files: every table of the file as arrays, values gathered by type, without pxr.

File layout (facts of the format, versions 0.4.0 to 0.14.0; all little-endian): an 88-byte bootstrap with the offset of a table of contents,
six sections (TOKENS, STRINGS, FIELDS, FIELDSETS, PATHS, SPECS), and stored values anywhere in between, reached by 48-bit offsets in value reps.
"""
