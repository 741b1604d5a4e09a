"""Pages of the site that are not in docs/: hooks of MkDocs, see mkdocs.yml.

They add the README as the first page, the files of the repository that pages link to, and a page of
the API reference for each public module.
"""

import os
import re
from pathlib import Path, PurePosixPath

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

# Packages whose modules programs use, and which of these where there are internal ones beside them.
CONNECTORS = """
    base cassandra dynamic_kafka elasticsearch file_system hybrid_source jdbc kafka kinesis
    number_seq pulsar rabbitmq
"""
PACKAGES = {
    "pyflow": None,
    "pyflow.common": None,
    "pyflow.datastream": None,
    "pyflow.datastream.connectors": CONNECTORS.split(),
    "pyflow.datastream.formats": ["avro", "csv", "json", "orc", "parquet"],
    "pyflow.metrics": None,
    "pyflow.table": None,
}
# Where the site has files of the repository that are not in docs/.
SOURCE = "source"

LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)")
# What Sphinx would make a link of: its last name is shown.
ROLE = re.compile(r":[a-z]+:<code>~?[\w.]*?(\w+)</code>")


def on_config(config):
    """Add the API reference to the navigation."""
    reference = []
    for package in PACKAGES:
        pages = [{"overview": f"api/{package}.md"}]
        for module in modules_of(package):
            pages.append({module.removeprefix(f"{package}."): f"api/{module}.md"})
        reference.append({package: pages})
    config.nav.append({"API reference": reference})


def on_files(files, config):
    """Add the pages, and the files that pages link to."""
    files.append(File.generated(config, "index.md", abs_src_path=str(ROOT / "README.md")))
    for package in PACKAGES:
        for module in (package, *modules_of(package)):
            files.append(File.generated(config, f"api/{module}.md", content=reference_of(module)))
    linked = {}
    todo = [ROOT / "README.md", *DOCS.rglob("*.md")]
    while todo:
        page = todo.pop()
        for found in LINK.finditer(page.read_text()):
            path = linked_file(found, page)
            if path is None or path in linked or path.is_relative_to(DOCS):
                continue
            linked[path] = f"{SOURCE}/{path.relative_to(ROOT)}"
            if path.suffix == ".md":
                todo.append(path)
    for path, uri in linked.items():
        if path != ROOT / "README.md":
            files.append(File.generated(config, uri, abs_src_path=str(path)))


def on_page_markdown(markdown, page, **_):
    """Have links lead to where the site has what they lead to in the repository."""
    uri = PurePosixPath(page.file.src_uri)
    origin = original_of(uri)
    if origin is None:
        return markdown

    def link(found):
        path = linked_file(found, origin)
        if path is None:
            # A directory has no page.
            return found[1] if is_directory(found, origin) else found[0]
        target = uri_of(path)
        relative = os.path.relpath(target, uri.parent)
        return f"[{found[1]}]({relative}{found[3] or ''})"

    return LINK.sub(link, markdown)


def on_page_content(html, **_):
    """Show names that docstrings have roles for."""
    return ROLE.sub(r"<code>\1</code>", html)


def original_of(uri):
    """Return the file of the repository that a page is made of, None of a page of the reference."""
    if uri.parts[0] == "api":
        return None
    if str(uri) == "index.md":
        return ROOT / "README.md"
    if uri.parts[0] == SOURCE:
        return ROOT.joinpath(*uri.parts[1:])
    return DOCS / uri


def uri_of(path):
    """Return where the site has a file of the repository."""
    if path == ROOT / "README.md":
        return "index.md"
    if path.is_relative_to(DOCS):
        return str(path.relative_to(DOCS))
    return f"{SOURCE}/{path.relative_to(ROOT)}"


def target_of(found, page):
    """Return the path that a link of a page leads to, None of one that leaves the repository."""
    target = found[2]
    return None if ":" in target else (page.parent / target).resolve()


def linked_file(found, page):
    """Return the file that a link leads to, if it is one of the repository."""
    path = target_of(found, page)
    return path if path is not None and path.is_file() else None


def is_directory(found, page):
    """Return whether a link leads to a directory of the repository."""
    path = target_of(found, page)
    return path is not None and path.is_dir()


def modules_of(package):
    """Return the names of the modules of a package that programs use."""
    names = PACKAGES[package]
    if names is None:
        files = ROOT.joinpath(*package.split(".")).glob("[!_]*.py")
        names = sorted(path.stem for path in files)
    return [f"{package}.{name}" for name in names]


def reference_of(module):
    """Return the page of a module."""
    return f"# {module}\n\n::: {module}\n"
