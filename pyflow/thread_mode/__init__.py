"""What runs inside the interpreters embedded in the executor JVM.

The native bridge calls :func:`pyflow.thread_mode.bootstrap.prepare` once in every interpreter, then
:func:`pyflow.thread_mode.program.load` for every operator of every task. Nothing here is public.
"""
