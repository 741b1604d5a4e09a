"""Archives of checkpoints, which are recorded and restored at other paths."""

from __future__ import annotations

import zipfile


def pack(folder, archive, checkpoint=".", **folders):
    """Write a checkpoint that is in a folder into an archive, without the folder's path.

    Parameters
    ----------
    folder, archive : Path
    checkpoint : str
        The checkpoint's path in the folder.
    **folders : str or Path
        Further ones whose paths are in the checkpoint.
    """
    archive.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted((folder / checkpoint).rglob("*")):
            # What Hadoop's file system checks files with, if it is there.
            if file.is_file() and not file.name.endswith(".crc"):
                content = file.read_bytes()
                for name, path in {"folder": folder, **folders}.items():
                    content = content.replace(str(path).encode(), _marked(name))
                packed.writestr(str(file.relative_to(folder)), content)


def unpack(archive, folder, **folders):
    """Write the checkpoint of an archive into a folder; the other folders have other paths, too."""
    with zipfile.ZipFile(archive) as packed:
        for member in packed.namelist():
            file = folder / member
            file.parent.mkdir(parents=True, exist_ok=True)
            content = packed.read(member)
            for name, path in {"folder": folder, **folders}.items():
                content = content.replace(_marked(name), str(path).encode())
            file.write_bytes(content)


def _marked(name):
    """What stands in an archive for a folder."""
    return f"{{{name}}}".encode()
