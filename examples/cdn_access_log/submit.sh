#!/bin/bash
# Runs the table program through a service (`pyflow rest`), and waits for its end:
#
#   submit.sh URL TOKEN_FILE ARGUMENT...
#
# A program of the service that runs already is waited for in place of starting another. SIGTERM and
# Ctrl-C cancel it. The exit code is 0 where it has ended well or was cancelled.
set -euo pipefail

url=$1 token=$(cat "$2")
shift 2
cd "$(dirname "$0")"

ask() { curl --silent --show-error --fail-with-body --header "Authorization: Bearer $token" "$@"; }
value() { python3 -c "import json, sys; print(($1)(json.load(sys.stdin)))"; }

upload() { ask --form "artifact=@$1" "$url/artifacts" | value 'lambda answer: answer["id"]'; }

start() {
  local modules program
  modules=$(mktemp --directory)
  python3 -m zipfile --create "$modules/provinces.zip" provinces.py prefixes.csv
  program=$(upload statistics_job.py)
  python3 - "$(upload "$modules/provinces.zip")" "$@" <<'PYTHON' |
import json, sys
print(json.dumps({"pyFiles": [sys.argv[1]], "programArgsList": sys.argv[2:]}))
PYTHON
    ask --header 'Content-Type: application/json' --data @- "$url/artifacts/$program/run" |
    value 'lambda answer: answer["jobid"]'
  rm -r "$modules"
}

running='lambda answer: next(
  (job["id"] for job in answer["jobs"] if job["status"] not in ("FINISHED", "FAILED", "CANCELED")), "")'
job=$(ask "$url/jobs" | value "$running")
if [ -z "$job" ]; then
  job=$(start "$@")
fi
echo "job $job"
trap 'ask --request PATCH "$url/jobs/$job?mode=cancel" || true' TERM INT

while state=$(ask "$url/jobs/$job/status" | value 'lambda answer: answer["status"]'); do
  case $state in
    FINISHED | CANCELED) exit 0 ;;
    FAILED) ask "$url/jobs/$job/logs?lines=50"; exit 1 ;;
  esac
  sleep 1 & wait $! || true
done
