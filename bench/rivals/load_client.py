#!/usr/bin/env python3
"""Asks an OpenAI-compatible endpoint with many streams at once: load_client.py LIBRARY URL STREAMS REQUESTS TOKENS

The way benchmark clients in Python are usually written: one task a request behind a semaphore, one session for all of
them, lines read as they come, every chunk parsed at once, times taken when a line is read. LIBRARY is aiohttp or httpx.
Prints one JSON object: tokens, and times to first token and between tokens in seconds.
"""

import asyncio
import json
import sys
import time


class Times:
    """What one request saw."""

    def __init__(self):
        self.begin = time.perf_counter()
        self.first = None
        self.last = None
        self.gaps = []
        self.tokens = 0

    def line(self, line):
        """Takes a line; true at the end of the stream."""
        line = line.strip()
        if not line.startswith(b"data:"):
            return False
        data = line[5:].strip()
        if data == b"[DONE]":
            return True
        choices = json.loads(data).get("choices")
        if choices and choices[0]["delta"].get("content"):
            now = time.perf_counter()
            if self.first is None:
                self.first = now
            else:
                self.gaps.append(now - self.last)
            self.last = now
            self.tokens += 1
        return False


def body(tokens):
    return {
        "model": "calibration",
        "stream": True,
        "max_tokens": tokens,
        "messages": [{"role": "user", "content": "Explain in a few sentences why the sky is blue."}],
    }


async def with_aiohttp(url, streams, requests, tokens):
    import aiohttp

    connector = aiohttp.TCPConnector(limit=0)
    semaphore = asyncio.Semaphore(streams)
    async with aiohttp.ClientSession(connector=connector, read_bufsize=1 << 20) as session:

        async def one():
            async with semaphore:
                times = Times()
                async with session.post(f"{url}/chat/completions", json=body(tokens)) as response:
                    async for line in response.content:
                        if times.line(line):
                            break
                return times

        return await asyncio.gather(*(one() for _ in range(requests)))


async def with_httpx(url, streams, requests, tokens):
    import httpx

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    semaphore = asyncio.Semaphore(streams)
    async with httpx.AsyncClient(limits=limits, timeout=None) as session:

        async def one():
            async with semaphore:
                times = Times()
                async with session.stream("POST", f"{url}/chat/completions", json=body(tokens)) as response:
                    async for line in response.aiter_lines():
                        if times.line(line.encode()):
                            break
                return times

        return await asyncio.gather(*(one() for _ in range(requests)))


def main():
    library, url = sys.argv[1], sys.argv[2]
    streams, requests, tokens = (int(word) for word in sys.argv[3:6])
    ask = {"aiohttp": with_aiohttp, "httpx": with_httpx}[library]
    began = time.perf_counter()
    all_times = asyncio.run(ask(url, streams, requests, tokens))
    took = time.perf_counter() - began
    first = sorted(times.first - times.begin for times in all_times)
    gaps = sorted(gap for times in all_times for gap in times.gaps)
    at = lambda values, share: values[min(int(share * len(values)), len(values) - 1)] if values else None
    json.dump(
        {
            "took_s": took,
            "tokens": sum(times.tokens for times in all_times),
            "first_token_s": {"p50": at(first, 0.5), "p99": at(first, 0.99)},
            "gap_s": {"p50": at(gaps, 0.5)},
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
