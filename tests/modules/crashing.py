"""Ends the JVM that imports it, as an extension module with a defect does. A worker lives on."""

from __future__ import annotations

import ctypes
import os

if os.path.basename(os.path.realpath("/proc/self/exe")) == "java":
    ctypes.string_at(0)
