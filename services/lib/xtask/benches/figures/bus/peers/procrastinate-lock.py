"""procrastinate, a lock for each chat: a job waits for every earlier one of its lock, also while that is to be retried.

Speaks as peer.mjs describes. One job a fetch is all that it offers; several run at once in each process.
"""

import asyncio
import logging
import os
import sys
import time

import procrastinate

CONCURRENCY = int(os.environ.get("PEER_CONCURRENCY", "8"))
CHATS = int(os.environ["PEER_CHATS"])
DEPTH = int(os.environ["PEER_DEPTH"])
FAIL_EVERY = int(os.environ.get("PEER_FAIL_EVERY", "0"))
BATCH = 1000

logging.disable(logging.CRITICAL)

app = procrastinate.App(
    connector=procrastinate.PsycopgConnector(conninfo=os.environ["PEER_DATABASE_URL"], max_size=CONCURRENCY + 2)
)
lines = []


@app.task(name="event", pass_context=True, retry=procrastinate.RetryStrategy(max_attempts=3, wait=1))
async def event(context, chat, seq):
    start = time.monotonic_ns()
    if FAIL_EVERY and context.job.attempts == 0 and (chat * 31 + seq * 17) % FAIL_EVERY == 0:
        raise RuntimeError("to be tried again")
    lines.append(f"{chat} {seq} {start} {time.monotonic_ns()}\n")


def flush():
    if lines:
        sys.stdout.write("".join(lines))
        sys.stdout.flush()
        lines.clear()


async def fill():
    async with app.open_async():
        if not await app.check_connection_async():
            await app.schema_manager.apply_schema_async()
        await app.connector.execute_query_async("truncate procrastinate_jobs restart identity cascade")
        for seq in range(1, DEPTH + 1):
            for first in range(0, CHATS, BATCH):
                piece = range(first, min(first + BATCH, CHATS))
                jobs = [event.configure(lock=f"chat-{chat}").make_new_job(chat=chat, seq=seq) for chat in piece]
                await app.job_manager.batch_defer_jobs_async(jobs)
        await app.connector.execute_query_async("analyze procrastinate_jobs")


async def work():
    async with app.open_async():
        loop = asyncio.get_running_loop()
        print("ready", flush=True)
        await loop.run_in_executor(None, sys.stdin.readline)
        print(f"go {time.monotonic_ns()}", flush=True)
        worker = asyncio.create_task(
            app.run_worker_async(
                concurrency=CONCURRENCY,
                # Nobody adds jobs meanwhile, so nobody is told.
                listen_notify=False,
                fetch_job_polling_interval=0.1,
                install_signal_handlers=False,
            )
        )

        async def tell():
            while True:
                await asyncio.sleep(0.005)
                flush()

        teller = asyncio.create_task(tell())
        await loop.run_in_executor(None, sys.stdin.read)
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
        teller.cancel()
        flush()


asyncio.run(fill() if os.environ["PEER_ROLE"] == "fill" else work())
