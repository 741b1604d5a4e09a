"""Plugin jars with faults."""

from __future__ import annotations

import hashlib
import re
import zipfile
from pathlib import Path


def without_code(jar: Path | str, copy: Path) -> Path:
    """Writes a copy of a jar whose first native library the system does not load.

    The jar's own digest of it is right: it was built so, as it were.
    """
    damaged = b"\x7fELF but no library"
    digest = hashlib.sha256(damaged).hexdigest()
    with zipfile.ZipFile(jar) as original, zipfile.ZipFile(copy, "w") as changed:
        for entry in original.infolist():
            content = original.read(entry)
            if entry.filename.endswith("/libpyflow-loader.so"):
                content = damaged
            elif entry.filename == "META-INF/pyflow.properties":
                line = rb"(?m)^(sha256\.libpyflow-loader\.so=).*$"
                content = re.sub(line, rb"\g<1>" + digest.encode(), content)
            changed.writestr(entry, content)
    return copy
