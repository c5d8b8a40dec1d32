#!/usr/bin/env python3
"""Collects steps, losses, rates and settings from training logs: read_log.py FILE...

The way such scripts are usually written, with the usual care: patterns are compiled once, lines are streamed, and a
cheap test for a fixed text comes before every regular expression. Prints one JSON object a file.
"""

import json
import re
import sys

TRAIN = re.compile(
    rb"^(?:(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) INFO:\s+)?\| Train Device=\w+, Step=(\d+), Loss=([\d.]+|nan|inf), "
    rb"Rate=([\d.]+) samples/sec, GlobalRate=([\d.]+) samples/sec"
)
PROCESSED = re.compile(rb"Processed (\d+) (?:training )?sample\(s\) in ([\d.]+) seconds")
BATCH = re.compile(rb"Effective batch size is (\d+)")
STATUS = re.compile(rb"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}).*current job status: (\w+)")
BAR = re.compile(
    rb"(\d+)%\|[^|]*\|\s*(\d+)/(\d+) \[([\d:]+)<([\d:?]+),\s+([\d.]+|\?)(it/s|s/it)(?:, loss=([\d.]+|nan))?"
)
ACCURACY = re.compile(rb"Accuracy on test set: ([\d.]+)%")
SETTING = re.compile(rb"^\s*(learning_rate|epochs|batch_size|test_batch_size)\s*=\s*([\d.eE+-]+)\s*$")


def read(path):
    """All that one file tells."""
    found = {
        "file": path,
        "steps": 0,
        "last_step": None,
        "last_loss": None,
        "losses": 0,
        "rates": {"least": None, "most": None},
        "settings": {},
        "phases": [],
        "processed": None,
        "accuracy": None,
    }
    with open(path, "rb", buffering=1 << 20) as lines:
        for line in lines:
            if b"\r" in line:
                for state in line.split(b"\r"):
                    look(state, found)
            else:
                look(line, found)
    return found


def look(line, found):
    """Adds what one line tells."""
    if b"Train Device=" in line:
        match = TRAIN.search(line)
        if match:
            found["steps"] += 1
            found["losses"] += 1
            found["last_step"] = int(match.group(2))
            found["last_loss"] = float(match.group(3))
            add_rate(float(match.group(5)), found)
        return
    if b"it/s" in line or b"s/it" in line:
        match = BAR.search(line)
        if match:
            found["steps"] += 1
            found["last_step"] = int(match.group(2))
            if match.group(6) != b"?":
                add_rate(float(match.group(6)), found)
            if match.group(8):
                found["losses"] += 1
                found["last_loss"] = float(match.group(8))
    if b"current job status" in line:
        match = STATUS.search(line)
        if match:
            found["phases"].append((match.group(1).decode(), match.group(2).decode()))
    if b"Processed " in line:
        match = PROCESSED.search(line)
        if match:
            found["processed"] = (int(match.group(1)), float(match.group(2)))
    if b"Effective batch size" in line:
        match = BATCH.search(line)
        if match:
            found["settings"]["batch_size"] = int(match.group(1))
    if b"Accuracy on" in line:
        match = ACCURACY.search(line)
        if match:
            found["accuracy"] = float(match.group(1))
    if b" = " in line:
        match = SETTING.search(line)
        if match:
            found["settings"][match.group(1).decode()] = float(match.group(2))


def add_rate(rate, found):
    """Keeps the least and the greatest rate."""
    rates = found["rates"]
    if rates["least"] is None or rate < rates["least"]:
        rates["least"] = rate
    if rates["most"] is None or rate > rates["most"]:
        rates["most"] = rate


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(json.dumps(read(name)))
