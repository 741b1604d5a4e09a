"""What ``pyflow profile`` makes of the stacks that executors have counted."""
