"""Snapshots: a stage as a directory of Arrow IPC files, memory-mapped on load; it appears whole or not at all.

Layout: `snapshot.json` (manifest: format, versions, metadata, files with sizes), `tokens.arrow`, `paths.arrow`, `diagnostics.arrow`,
and for each archetype `NNNNN.arrow` with `NNNNN.provenance.arrow` beside it. All is written into a sibling directory,
the manifest last, which is then renamed.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ovsim.diagnostics import Diagnostic, Diagnostics
from ovsim.errors import SnapshotError
from ovsim.files import umask
from ovsim.stage import columns as col
from ovsim.stage.archetype import PATH, PROVENANCE, Archetype
from ovsim.stage.paths import PathDictionary
from ovsim.stage.stage import Stage

FORMAT = "ovsim-snapshot"
FORMAT_VERSION = 1
MANIFEST = "snapshot.json"
_PATHS = pa.schema([pa.field("parent", pa.uint32()), pa.field("name", pa.uint32())])
_TOKENS = pa.schema([pa.field("token", pa.large_string())])
_DIAGNOSTICS = Diagnostics().to_arrow().schema


def is_snapshot(directory: str | os.PathLike[str]) -> bool:
    """Whether a directory holds a snapshot's manifest."""
    return (Path(directory) / MANIFEST).is_file()


def save(stage: Stage, directory: str | os.PathLike[str]) -> None:
    """Write a snapshot. An older snapshot at the same place is replaced; SnapshotError when something else stands there or writing fails."""
    target = Path(directory)
    if target.exists() and not is_snapshot(target) and (not target.is_dir() or any(target.iterdir())):
        raise SnapshotError(f"{target} exists and is not a snapshot; choose another directory or remove it")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            _write(stage, aside)
            aside.chmod(0o777 & ~umask())
            if target.exists():
                old = aside.with_name(aside.name + ".old")
                target.rename(old)
                aside.rename(target)
                shutil.rmtree(old)
            else:
                aside.rename(target)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    except OSError as e:
        raise SnapshotError(f"cannot write the snapshot {target}: {e}") from e


def load(directory: str | os.PathLike[str]) -> Stage:
    """Open a snapshot without reading its columns into memory; SnapshotError names the file that is missing, truncated, foreign or inconsistent."""
    root = Path(directory)
    manifest = _manifest(root)
    files = manifest["files"]
    paths = _paths(_read(root, "tokens.arrow", files, _TOKENS), _read(root, "paths.arrow", files, _PATHS))
    diagnostics = _read(root, "diagnostics.arrow", files, _DIAGNOSTICS)
    archetypes = tuple(_archetype(root, files, paths, entry) for entry in manifest["archetypes"])
    rows = [Diagnostic(**r) for r in diagnostics.to_pylist()]
    _distinct_rows(root, paths, archetypes)
    return Stage(paths, archetypes, Diagnostics(rows), manifest["metadata"])


def _write(stage: Stage, root: Path) -> None:
    sizes: dict[str, int] = {}

    def put(name: str, table: pa.Table) -> None:
        with pa.OSFile(str(root / name), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        sizes[name] = (root / name).stat().st_size

    put("tokens.arrow", pa.table([pa.array(stage.paths.token_strings(), pa.large_string())], schema=_TOKENS))
    put("paths.arrow", pa.table([pa.array(stage.paths.parents), pa.array(stage.paths.names)], schema=_PATHS))
    put("diagnostics.arrow", stage.diagnostics.to_arrow())
    entries = []
    for i, a in enumerate(stage.archetypes):
        put(f"{i:05d}.arrow", pa.Table.from_batches([a.batch]))
        put(f"{i:05d}.provenance.arrow", pa.table({n: pa.array(c, pa.uint8()) for n, c in a.provenance.items()}))
        entries.append({"name": f"{i:05d}", "type": a.type_name, "schemas": list(a.schemas), "rows": len(a)})
    manifest = {"format": FORMAT, "version": FORMAT_VERSION, "metadata": stage.metadata, "archetypes": entries, "files": sizes}
    (root / MANIFEST).write_text(json.dumps(manifest, indent=1), "utf-8")


def _manifest(root: Path) -> dict[str, Any]:
    if not root.is_dir():
        raise SnapshotError(f"{root} is not a directory; a snapshot is one")
    try:
        manifest = json.loads((root / MANIFEST).read_text("utf-8"))
    except FileNotFoundError:
        raise SnapshotError(f"{root} holds no {MANIFEST}, so it is not a snapshot") from None
    except (OSError, ValueError) as e:
        raise SnapshotError(f"{root / MANIFEST} cannot be read: {e}") from e
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise SnapshotError(f"{root / MANIFEST} is not an ovsim snapshot manifest")
    if manifest.get("version") != FORMAT_VERSION:
        raise SnapshotError(f"{root} is a snapshot of format {manifest.get('version')}, this ovsim reads {FORMAT_VERSION}; populate it again")
    entries = manifest.get("archetypes")
    good = (
        isinstance(manifest.get("files"), dict)
        and isinstance(manifest.get("metadata"), dict)
        and isinstance(entries, list)
        and all(
            isinstance(e, dict)
            and isinstance(e.get("name"), str)
            and e["name"].isdigit()
            and isinstance(e.get("type"), str)
            and isinstance(e.get("rows"), int)
            and isinstance(e.get("schemas"), list)
            and all(isinstance(s, str) for s in e["schemas"])
            for e in entries
        )
    )
    if not good:
        raise SnapshotError(f"{root / MANIFEST} lacks its lists of files and archetypes")
    return manifest


def _read(root: Path, name: str, files: dict[str, int], schema: pa.Schema | None = None) -> pa.Table:
    where = root / name
    if name not in files:
        raise SnapshotError(f"{root / MANIFEST} does not list {name}")
    try:
        size = where.stat().st_size
        if size != files[name]:
            raise SnapshotError(f"{where} has {size} bytes, the manifest says {files[name]}: truncated or foreign; populate again")
        table = pa.ipc.open_file(pa.memory_map(str(where))).read_all()
        table.validate(full=True)
    except FileNotFoundError:
        raise SnapshotError(f"{where} is missing from the snapshot; populate again") from None
    except (OSError, pa.ArrowException) as e:
        raise SnapshotError(f"{where} is not a readable Arrow file: {e}") from e
    if schema is not None and not table.schema.equals(schema):
        raise SnapshotError(f"{where} has the columns {table.schema.names} of other types than a snapshot's")
    if any(c.null_count for c in table.columns):
        raise SnapshotError(f"{where} holds nulls; columns of a stage have none")
    return table


def _paths(tokens: pa.Table, paths: pa.Table) -> PathDictionary:
    texts = tokens.column(0).to_pylist()
    parent, name = (paths.column(i).to_numpy() for i in (0, 1))
    if not texts or texts[0] != "" or len(set(texts)) != len(texts):
        raise SnapshotError("tokens.arrow does not hold distinct tokens after the empty one")
    keys = parent[2:].astype(np.uint64) << np.uint64(32) | name[2:]
    ids = np.arange(2, parent.size)
    if parent.size < 2 or (parent[2:] >= ids).any() or (parent[2:] < 1).any() or (name[2:] >= len(texts)).any() or (name[2:] == 0).any():
        raise SnapshotError("paths.arrow holds a path before its parent or with an unknown name")
    keys.sort()  # far cheaper than np.unique, which hashes
    if (keys[1:] == keys[:-1]).any():
        raise SnapshotError("paths.arrow holds the same path twice")
    out = PathDictionary()
    out.token_many(texts)
    out.append(parent[2:], name[2:])
    return out


def _archetype(root: Path, files: dict[str, int], paths: PathDictionary, entry: dict[str, Any]) -> Archetype:
    name = f"{entry['name']}.arrow"
    table = _read(root, name, files)
    batches = table.to_batches()
    if len(batches) != 1 or table.schema.names[0] != PATH or table.num_rows != entry["rows"]:
        raise SnapshotError(f"{root / name} is not one batch of {entry['rows']} rows led by {PATH}")
    for f, c in zip(table.schema, batches[0].columns):
        try:
            _check_ids(f, col.view(c), paths)
        except (SnapshotError, pa.ArrowException, AttributeError, ValueError) as e:
            raise SnapshotError(f"{root / name}, column {f.name}: {e}") from e
    raw = _read(root, f"{entry['name']}.provenance.arrow", files)
    if raw.num_columns and raw.num_rows != table.num_rows:
        raise SnapshotError(f"{root / name}: its provenance has {raw.num_rows} rows")
    provenance = {n: raw.column(n).to_numpy() for n in raw.schema.names}
    if any(c.dtype != np.uint8 or (c.size and c.max() >= len(PROVENANCE)) for c in provenance.values()):
        raise SnapshotError(f"{root / name}: its provenance holds unknown codes")
    return Archetype(paths, entry["type"], tuple(entry["schemas"]), batches[0], provenance)


def _check_ids(f: pa.Field, view: Any, paths: PathDictionary) -> None:
    kind = col.semantic(f)
    limit = {col.TOKEN_ID: paths.token_count, col.PATH_ID: paths.path_count, col.RELATIONSHIP: paths.path_count}.get(kind)
    values = view.values if isinstance(view, col.Ragged) else view
    if f.name == PATH and (kind != col.PATH_ID or values.dtype != np.uint64 or (values.size and values.min() < 1)):
        raise SnapshotError("paths are not ids")
    if limit is not None and (values.dtype != np.uint64 or (values.size and int(values.max()) >= limit)):
        raise SnapshotError(f"an id is not one of the {limit} known")


def _distinct_rows(root: Path, paths: PathDictionary, archetypes: tuple[Archetype, ...]) -> None:
    taken = np.zeros(paths.path_count, np.bool_)
    for a in archetypes:
        taken[a.path_ids] = True
    if np.count_nonzero(taken) < sum(len(a) for a in archetypes):
        count = np.zeros(paths.path_count, np.int64)
        for a in archetypes:
            np.add.at(count, a.path_ids, 1)
        raise SnapshotError(f"{root}: {paths.path_string(int(np.argmax(count)))} has {int(count.max())} rows")
