"""What ``pyflow rest`` keeps, and what it refuses, without a program that runs."""

from __future__ import annotations

import gzip
import io
import json
import signal
import stat
import tarfile
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("fastapi")

from rest_client import TOKEN, Service, serving
from submitted import PYFLOW

from deployments import ended

HELLO = b"print('hello')\n"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    flags = ("--max-upload", str(1 << 20), "--max-artifacts", "8")
    with serving(tmp_path_factory.mktemp("service"), *flags) as started:
        yield started


@pytest.fixture
def empty(service):
    """The service without artifacts."""
    for each in service.did("GET", "/artifacts")["artifacts"]:
        service.did("DELETE", f"/artifacts/{each['id']}")
    assert service.files() == []
    return service


def zipped(files):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def zipped_link(target):
    member = zipfile.ZipInfo("link")
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    return zipped({member: target})


def tarred(*members, mode="w:gz"):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:
        for name, changes in members:
            member = tarfile.TarInfo(name)
            for key, value in changes.items():
                setattr(member, key, value)
            archive.addfile(member, io.BytesIO(bytes(member.size)))
    return file.getvalue()


def link(target, kind=tarfile.SYMTYPE):
    return {"type": kind, "linkname": target}


def overstated_header():
    """A tar file whose first header has a value of 64 MiB."""
    member = tarfile.TarInfo("file")
    member.pax_headers = {"comment": "x" * (64 << 20)}
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(member)
    return file.getvalue()


def test_an_artifact_is_uploaded_listed_and_deleted(empty):
    status, made = empty.upload("hello.py", HELLO)

    assert status == 200
    assert (made["name"], made["kind"], made["size"]) == ("hello.py", "python", len(HELLO))
    assert empty.did("GET", "/artifacts")["artifacts"] == [made]
    assert empty.did("GET", f"/artifacts/{made['id']}") == made
    assert empty.files() == [f"artifacts/{made['id']}/hello.py"]
    assert empty.did("DELETE", f"/artifacts/{made['id']}") == {}
    assert empty.did("GET", "/artifacts")["artifacts"] == []
    assert list((empty.directory / "artifacts").iterdir()) == []


def test_the_same_file_is_kept_once_and_another_of_its_name_beside_it(empty):
    first = empty.uploaded("hello.py", HELLO)

    assert empty.uploaded("hello.py", HELLO) == first
    other = empty.uploaded("hello.py", HELLO + b"\n")
    assert other != first
    assert len(empty.files()) == 2


@pytest.mark.parametrize(
    "name",
    [
        "../up.py",
        "/etc/up.py",
        "a/b.py",
        "..",
        ".py",
        "a\\b.py",
        "%2e%2e%2fup.py",
        "a,b.py",
        "é.py",
    ],
)
def test_names_that_leave_the_store_are_refused(empty, name):
    status, answer = empty.upload(name, HELLO)

    assert status in (400, 415)
    assert "name of a file" in answer["errors"][0] or "none of" in answer["errors"][0]
    assert empty.files() == []


ARCHIVES = {
    "zip_outside": ("a.zip", lambda: zipped({"../up": "x"}), "would be unpacked outside"),
    "zip_absolute": ("a.zip", lambda: zipped({"/tmp/up": "x"}), "would be unpacked outside"),
    "zip_link": ("a.zip", lambda: zipped_link("../../etc"), "is a link to '../../etc', outside"),
    "zip_bomb": ("a.zip", lambda: zipped({"big": bytes(64 << 20)}), "more than 10485760 bytes"),
    "tar_outside": ("a.tar.gz", lambda: tarred(("../up", {})), "would be unpacked outside"),
    "tar_absolute": ("a.tar", lambda: tarred(("/up", {}), mode="w"), "would be unpacked outside"),
    "tar_link": ("a.tgz", lambda: tarred(("a", link("/etc"))), "is a link to '/etc', outside"),
    "tar_hard_link": (
        "a.tar.xz",
        lambda: tarred(("a", link("../b", tarfile.LNKTYPE)), mode="w:xz"),
        "is a link to '../b', outside",
    ),
    "tar_through_link": (
        "a.tar.bz2",
        lambda: tarred(("a", link("b")), ("a/c", {}), mode="w:bz2"),
        "'a/c' would be unpacked through the link 'a'",
    ),
    "tar_device": ("a.tar.gz", lambda: tarred(("a", {"type": tarfile.CHRTYPE})), "neither a file"),
    "tar_bomb": ("a.tar.gz", lambda: tarred(("a", {"size": 64 << 20})), "more than 10485760 bytes"),
    "tar_header": ("a.tar.gz", overstated_header, "a header of it is too large"),
    "no_zip": ("a.zip", lambda: HELLO, "it is no .zip archive"),
    "no_gzip": ("a.tar.gz", lambda: HELLO, "it is no .gz archive"),
    "no_tar": ("a.tar.gz", lambda: gzip.compress(HELLO), "it is no .gz archive"),
    "cut_off": ("a.tar.gz", lambda: tarred(("a", {"size": 5000}))[:-20], "it is no .gz archive"),
    "no_python": ("a.py", lambda: b"\xff\xfe\x00", "it is no Python"),
    "null": ("a.txt", lambda: b"a\0b", "it has null characters"),
    "nothing": ("a.py", lambda: b"", "it is empty"),
}


@pytest.mark.parametrize("case", ARCHIVES)
def test_files_that_are_not_what_they_should_be_are_refused(empty, case):
    name, content, reason = ARCHIVES[case]

    status, answer = empty.upload(name, content())

    assert status == 400
    assert reason in answer["errors"][0]
    assert empty.files() == []


def test_an_environment_with_the_machine_s_python_is_taken(empty):
    content = tarred(
        ("bin/python3", link("/usr/bin/python3")),
        ("lib64", link("lib")),
        ("lib/module.py", {"size": 3}),
    )

    assert empty.upload("env.tar.gz", content)[1]["kind"] == "archive"


def test_other_types_and_forms_are_refused(empty):
    assert empty.upload("hello.exe", HELLO)[0] == 415
    status, reason = empty.refused("POST", "/artifacts", {"artifact": "hello.py"})
    assert (status, reason) == (400, "body.artifact: Field required")
    form = {"Content-Type": "multipart/form-data; boundary=x"}
    assert empty.refused("POST", "/artifacts", b"--y\r\n", **form)[0] == 400
    assert empty.files() == []


def test_size_and_number_are_limited(empty):
    status, answer = empty.upload("large.py", b"#" * ((1 << 20) + 1))
    assert (status, answer["errors"]) == (413, ["it is larger than 1048576 bytes"])
    status, answer = empty.upload("larger.py", b"#" * (3 << 20))
    assert (status, answer["errors"]) == (413, ["the request has more than 1114112 bytes"])
    assert empty.refused("PATCH", "/jobs/none", "x" * (1 << 20))[0] == 413
    for number in range(8):
        empty.uploaded(f"a{number}.py", HELLO)
    status, answer = empty.upload("a8.py", HELLO)
    assert (status, answer["errors"]) == (507, ["there are 8 artifacts already: delete some"])
    assert len(empty.files()) == 8
    empty.uploaded("a0.py", HELLO)


def test_a_body_without_a_length_is_limited(empty):
    def chunks():
        yield b'--x\r\nContent-Disposition: form-data; name="artifact"; filename="a.py"\r\n\r\n'
        for _ in range(32):
            yield b"#" * (1 << 16)

    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", empty.port, timeout=60)
    headers = {
        "Content-Type": "multipart/form-data; boundary=x",
        "Authorization": f"Bearer {TOKEN}",
    }
    connection.request("POST", "/artifacts", chunks(), headers, encode_chunked=True)
    answer = connection.getresponse()
    assert answer.status == 413, answer.read()
    connection.close()
    assert empty.files() == []


def test_unknown_ids_and_paths_are_refused(empty):
    for method, path in (
        ("GET", "/artifacts/none"),
        ("DELETE", "/artifacts/none"),
        ("POST", "/artifacts/none/run"),
        ("GET", "/artifacts/..%2F..%2Fservice.db"),
        ("GET", "/jobs/none"),
        ("GET", "/jobs/none/status"),
        ("GET", "/jobs/none/exceptions"),
        ("GET", "/jobs/none/logs"),
        ("GET", "/jobs/none/metrics"),
        ("PATCH", "/jobs/none"),
        ("POST", "/jobs/none/stop"),
        ("GET", "/jobs/none/savepoints/none"),
        ("GET", "/nothing"),
    ):
        assert empty.refused(method, path)[0] == 404, path
    assert empty.refused("PUT", "/jobs")[0] == 405


def test_a_request_needs_the_token(empty):
    for token in (None, "", "other", TOKEN[:-1], TOKEN + "x"):
        assert empty.refused("GET", "/overview", token=token)[0] == 401
        assert empty.upload("hello.py", HELLO, token=token)[0] == 401
    assert empty.refused("GET", "/docs", token=None)[0] == 401
    assert empty.files() == []


def test_a_browser_s_password_reads_and_changes_nothing(empty):
    import base64

    password = base64.b64encode(f":{TOKEN}".encode()).decode()
    basic = {"Authorization": f"Basic {password}", "token": None}

    status, text = empty.ask("GET", "/docs", **basic)

    assert status == 200
    assert "<code>/artifacts/{artifact_id}/run</code>" in text
    assert "://" not in text.replace("http://127.0.0.1", "")
    assert empty.upload("hello.py", HELLO, **basic)[0] == 401
    described = json.loads(empty.ask("GET", "/openapi.json")[1])
    assert {"get", "patch"} == described["paths"]["/jobs/{job_id}"].keys()


def test_a_short_token_is_refused(tmp_path):
    refused = ended([*PYFLOW, "rest", "--directory", tmp_path], tmp_path, PYFLOW_REST_TOKEN="short")

    assert refused.returncode == 2
    assert "a token has at least 16 characters" in refused.stdout


def test_many_clients_at_once(empty):
    starting = threading.Barrier(16)

    def upload(number):
        starting.wait(30)
        return empty.uploaded(f"a{number % 4}.py", HELLO)

    with ThreadPoolExecutor(16) as clients:
        found = list(clients.map(upload, range(16)))

    assert len(set(found)) == 4
    assert len(empty.files()) == 4


def test_artifacts_outlive_the_service_and_nothing_else_does(tmp_path):
    with serving(tmp_path) as service:
        kept = service.uploaded("hello.py", HELLO)
        lost = service.uploaded("lost.py", HELLO)
        service.end(signal.SIGKILL)
        for left in ("received/left/hello.py", "artifacts/unknown/hello.py", "work/unknown/file"):
            path = service.directory / left
            path.parent.mkdir(parents=True)
            path.touch()
        (service.directory / "artifacts" / lost / "lost.py").unlink()

        service.start()

        assert [each["id"] for each in service.did("GET", "/artifacts")["artifacts"]] == [kept]
        assert service.files() == [f"artifacts/{kept}/hello.py"]
        assert list((service.directory / "work").iterdir()) == []
        assert service.end() == -signal.SIGTERM


def test_a_directory_has_one_service_and_a_token_of_its_own(tmp_path):
    service = Service(tmp_path).start(PYFLOW_REST_TOKEN=None)
    try:
        file = service.directory / "token"
        assert file.stat().st_mode & 0o777 == 0o600
        assert f"token in {file}\n" in service.log.read_text()
        assert service.ask("GET", "/overview", token=file.read_text().strip())[0] == 200
        again = ended([*PYFLOW, "rest", "--directory", service.directory], tmp_path)
        assert again.returncode == 2
        assert f"pyflow rest: another service has {service.directory}" in again.stdout
    finally:
        service.end()
