"""What the service answers: Flink's paths for jobs, and paths of its own for artifacts."""

from __future__ import annotations

import asyncio
import errno
import sqlite3
import sys
import time
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import FastAPI, File, Query, Request, UploadFile
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, StreamingResponse
from starlette.exceptions import HTTPException

import pyflow
from pyflow.cli.service import logs, page
from pyflow.cli.service.bodies import MODULE, Run, Savepoint, Stop
from pyflow.cli.service.database import Artifact, Database, JobRow
from pyflow.cli.service.errors import RefusedError
from pyflow.cli.service.jobs import Jobs
from pyflow.cli.service.limits import Limits
from pyflow.cli.service.metrics import metrics_of
from pyflow.cli.service.plans import Plans
from pyflow.cli.service.store import Store

_REFRESH_SECONDS = 5
_STATES = {"running": ("CREATED", "RUNNING"), "finished": ("FINISHED",)}
_STATES |= {"cancelled": ("CANCELED",), "failed": ("FAILED",)}


def made(database: Database, store: Store, jobs: Jobs, plans: Plans, limits: Limits) -> FastAPI:
    """Return the application."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        watching = asyncio.create_task(_watch(jobs))
        yield
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        database.close()

    app = FastAPI(
        title="PyFlow",
        version=pyflow.__version__,
        description="Uploads Python programs, runs them on Spark, and operates their jobs.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    _add_errors(app)
    _add_artifacts(app, store, jobs, plans)
    _add_jobs(app, jobs)
    _add_service(app, jobs, limits)
    return app


async def _watch(jobs: Jobs) -> None:
    while True:
        await asyncio.sleep(_REFRESH_SECONDS)
        try:
            await asyncio.to_thread(jobs.refresh)
        except (OSError, sqlite3.Error) as error:
            print(f"pyflow rest: {error}", file=sys.stderr)


def _refusal(status: int, *reasons: str) -> JSONResponse:
    return JSONResponse({"errors": list(reasons)}, status)


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(RefusedError)
    async def refused(_request: Request, error: RefusedError) -> JSONResponse:
        return _refusal(error.status, error.reason)

    @app.exception_handler(RequestValidationError)
    async def invalid(_request: Request, error: RequestValidationError) -> JSONResponse:
        told = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        return _refusal(400, *told)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        # What interrupts the reading of a body.
        cause = error.__cause__
        if isinstance(cause, RefusedError):
            return _refusal(cause.status, cause.reason)
        if isinstance(cause, OSError):
            return await unexpected(request, cause)
        return _refusal(error.status_code, str(error.detail))

    @app.exception_handler(OSError)
    @app.exception_handler(sqlite3.OperationalError)
    async def unexpected(_request: Request, error: Exception) -> JSONResponse:
        is_full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
        if is_full or "disk is full" in str(error):
            return _refusal(507, "the disk is full")
        traceback.print_exception(error)
        return _refusal(500, str(error))

    @app.exception_handler(UnicodeEncodeError)
    async def undecodable(_request: Request, _error: UnicodeEncodeError) -> JSONResponse:
        return _refusal(400, "the request has characters that UTF-8 does not have")

    @app.exception_handler(Exception)
    async def other(_request: Request, error: Exception) -> JSONResponse:
        return _refusal(500, f"{type(error).__name__}: {error}")


def _milliseconds(seconds: float | None) -> int:
    return -1 if seconds is None else int(seconds * 1000)


def _described(artifact: Artifact) -> dict[str, Any]:
    return {
        "id": artifact.id,
        "name": artifact.name,
        "kind": artifact.kind,
        "size": artifact.size,
        "sha256": artifact.digest,
        "uploaded": _milliseconds(artifact.uploaded),
    }


def _add_artifacts(app: FastAPI, store: Store, jobs: Jobs, plans: Plans) -> None:
    @app.post("/artifacts", tags=["artifacts"])
    def upload(artifact: Annotated[UploadFile, File()]) -> dict[str, Any]:
        """Upload a program or what it needs: .py, .zip, .whl, .jar, .tar.gz and others, .txt.

        The same file again has the same id.
        """
        return _described(store.add(artifact.filename, artifact.file))

    @app.get("/artifacts", tags=["artifacts"])
    def list_artifacts() -> dict[str, Any]:
        """List the artifacts, the oldest first."""
        return {"artifacts": [_described(each) for each in store.all()]}

    @app.get("/artifacts/{artifact_id}", tags=["artifacts"])
    def artifact(artifact_id: str) -> dict[str, Any]:
        """Describe an artifact."""
        return _described(store.get(artifact_id))

    @app.delete("/artifacts/{artifact_id}", tags=["artifacts"])
    def delete_artifact(artifact_id: str) -> dict[str, Any]:
        """Delete an artifact; it is refused while a job needs it that runs."""
        store.remove(artifact_id)
        return {}

    @app.get("/artifacts/{artifact_id}/plan", tags=["artifacts"])
    def plan(
        artifact_id: str,
        module: Annotated[str | None, Query(alias="entryModule", pattern=MODULE)] = None,
        arguments: Annotated[list[str] | None, Query(alias="programArg")] = None,
        parallelism: Annotated[int | None, Query(ge=1)] = None,
        files: Annotated[list[str] | None, Query(alias="pyFiles")] = None,
    ) -> dict[str, Any]:
        """Return the plan of a program's first job, which is not run."""
        body = Run(
            entryModule=module,
            programArgsList=arguments or [],
            parallelism=parallelism,
            pyFiles=files or [],
        )
        return {"plan": plans.plan(body.request(artifact_id))}

    @app.post("/artifacts/{artifact_id}/run", tags=["artifacts"])
    def run(artifact_id: str, body: Run | None = None) -> dict[str, Any]:
        """Run a program: a .py file, or a module of a package."""
        return {"jobid": jobs.run((body or Run()).request(artifact_id))}


def _add_jobs(app: FastAPI, jobs: Jobs) -> None:
    @app.get("/jobs", tags=["jobs"])
    def list_jobs() -> dict[str, Any]:
        """List the ids and states of the jobs."""
        return {"jobs": [{"id": row.id, "status": state} for row, state in jobs.all()]}

    @app.get("/jobs/overview", tags=["jobs"])
    def overview_of_jobs() -> dict[str, Any]:
        """List the jobs."""
        return {"jobs": [_overview(row, state) for row, state in jobs.all()]}

    @app.get("/jobs/{job_id}", tags=["jobs"])
    def job(job_id: str) -> dict[str, Any]:
        """Describe a job, and what its program executes."""
        row, state = jobs.get(job_id)
        told = jobs.described(job_id)
        kept = {key: told.get(key) for key in ("target", "application", "ui", "exit_code")}
        return {
            **_overview(row, state),
            "now": _milliseconds(time.time()),
            "artifacts": row.artifacts,
            **kept,
            "executions": told.get("jobs", []),
        }

    @app.get("/jobs/{job_id}/status", tags=["jobs"])
    def status(job_id: str) -> dict[str, Any]:
        """Return the state of a job."""
        return {"status": jobs.get(job_id)[1]}

    @app.get("/jobs/{job_id}/exceptions", tags=["jobs"])
    def exceptions(
        job_id: str, max_exceptions: Annotated[int, Query(alias="maxExceptions", ge=1)] = 20
    ) -> dict[str, Any]:
        """Return the exceptions in the log of a job, the last one first."""
        row, state = jobs.get(job_id)
        program = jobs.program(job_id)
        found = logs.exceptions(program.log, state == "FAILED")
        timestamp = _milliseconds(row.ended)
        entries = [
            {"exceptionName": name, "stacktrace": trace, "timestamp": timestamp}
            for name, trace in found
        ]
        history = {
            "entries": entries[:max_exceptions],
            "truncated": len(entries) > max_exceptions,
        }
        return {"exceptionHistory": history}

    @app.get("/jobs/{job_id}/logs", tags=["jobs"], response_class=StreamingResponse)
    def log(job_id: str, lines: Annotated[int | None, Query(ge=0)] = None) -> StreamingResponse:
        """Return what a job has printed, or its last lines."""
        content = logs.content(jobs.program(job_id).log, lines)
        return StreamingResponse(content, media_type="text/plain; charset=utf-8")

    @app.get("/jobs/{job_id}/metrics", tags=["jobs"])
    def metrics(job_id: str, get: str | None = None) -> list[dict[str, str]]:
        """Return the metrics of a job; those that `get` names, separated by commas."""
        row, _ = jobs.get(job_id)
        values = metrics_of(row, jobs.described(job_id))
        wanted = values.keys() if get is None else get.split(",")
        return [{"id": name, "value": str(values[name])} for name in wanted if name in values]

    @app.patch("/jobs/{job_id}", tags=["jobs"], status_code=HTTPStatus.ACCEPTED)
    def cancel(job_id: str, mode: Literal["cancel"] = "cancel") -> dict[str, Any]:
        """Cancel a job; its state tells when it has ended."""
        jobs.cancel(job_id)
        return {}

    @app.post("/jobs/{job_id}/stop", tags=["jobs"], status_code=HTTPStatus.ACCEPTED)
    def stop(job_id: str, body: Stop | None = None) -> dict[str, Any]:
        """Stop a job with a savepoint."""
        return {"request-id": jobs.stop(job_id, (body or Stop()).directory)}

    @app.post("/jobs/{job_id}/savepoints", tags=["jobs"], status_code=HTTPStatus.ACCEPTED)
    def savepoint(job_id: str, body: Savepoint) -> dict[str, Any]:
        """Take a savepoint and end the job, which `cancel-job` has to say."""
        if not body.cancel_job:
            jobs.get(job_id)
            raise RefusedError(400, "a savepoint ends its job: set cancel-job to true")
        return {"request-id": jobs.stop(job_id, body.directory)}

    @app.get("/jobs/{job_id}/savepoints/{trigger_id}", tags=["jobs"])
    def stopped(job_id: str, trigger_id: str) -> dict[str, Any]:
        """Return whether a savepoint is there, and where."""
        locations, failure = jobs.stopped(job_id, trigger_id)
        if locations is None and failure is None:
            return {"status": {"id": "IN_PROGRESS"}, "operation": None}
        operation: dict[str, Any] = {
            "failure-cause": {"class": "Exception", "stack-trace": failure}
        }
        if locations is not None:
            operation = {"location": next(iter(locations), None), "locations": locations}
        return {"status": {"id": "COMPLETED"}, "operation": operation}


def _overview(row: JobRow, state: str) -> dict[str, Any]:
    end = row.ended or time.time()
    return {
        "jid": row.id,
        "name": row.name,
        "state": state,
        "start-time": _milliseconds(row.submitted),
        "end-time": _milliseconds(row.ended),
        "duration": _milliseconds(end - row.submitted),
        "last-modification": _milliseconds(row.ended or row.submitted),
    }


def _add_service(app: FastAPI, jobs: Jobs, limits: Limits) -> None:
    @app.get("/overview", tags=["service"])
    def overview() -> dict[str, Any]:
        """Count the jobs by their states."""
        states = [state for _, state in jobs.all()]
        counts = {
            f"jobs-{name}": sum(state in those for state in states)
            for name, those in _STATES.items()
        }
        return {**counts, "pyflow-version": pyflow.__version__}

    @app.get("/config", tags=["service"])
    def config() -> dict[str, Any]:
        """Return what the service is configured with."""
        return {
            "refresh-interval": 3000,
            "timezone-name": time.tzname[0],
            "timezone-offset": -time.timezone * 1000,
            "pyflow-version": pyflow.__version__,
            "features": {"web-submit": True, "web-cancel": True, "web-rescale": False},
            "limits": vars(limits),
        }

    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        return HTMLResponse(page.html(app.openapi()))
