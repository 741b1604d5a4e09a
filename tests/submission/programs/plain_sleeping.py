"""A program without a session, which sleeps, and notes how it was ended."""

import sys
import time
from pathlib import Path

print("sleeping", flush=True)
try:
    time.sleep(600)
except KeyboardInterrupt:
    Path(sys.argv[1]).write_text("interrupted")
    raise
