"""Archives of checkpoints, which are recorded and restored at another path."""

from __future__ import annotations

import zipfile

#: What stands in an archive for the folder.
_FOLDER = b"{folder}"


def pack(folder, archive, checkpoint="."):
    """Write a checkpoint that is in a folder into an archive, without the folder's path."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted((folder / checkpoint).rglob("*")):
            # What Hadoop's file system checks files with, if it is there.
            if file.is_file() and not file.name.endswith(".crc"):
                content = file.read_bytes().replace(str(folder).encode(), _FOLDER)
                packed.writestr(str(file.relative_to(folder)), content)


def unpack(archive, folder):
    """Write the checkpoint of an archive into a folder."""
    with zipfile.ZipFile(archive) as packed:
        for name in packed.namelist():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(packed.read(name).replace(_FOLDER, str(folder).encode()))
