// graphile-worker, a named queue for each chat: jobs of one name run one after the other.
//
// The local queue fetches many jobs in one statement, and completions are batched: its documented way to be fast. `run_at`
// rises with the sequence, because jobs of one time have no order.

import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";

import { handle, pieces, play, url } from "./peer.mjs";

const CONCURRENCY = Number(process.env.PEER_CONCURRENCY ?? "24");
const LOCAL_QUEUE = Number(process.env.PEER_BATCH ?? "500");

const quiet = new Logger(() => () => {});

await play({
  async fill() {
    const utils = await makeWorkerUtils({ connectionString: url, logger: quiet });
    await utils.migrate();
    const db = new pg.Client({ connectionString: url });
    await db.connect();
    await db.query("truncate graphile_worker._private_jobs, graphile_worker._private_job_queues");
    const base = Date.now() - 3_600_000;
    for (const { seq, piece } of pieces()) {
      const runAt = new Date(base + seq);
      await utils.addJobs(
        piece.map((chat) => ({ identifier: "event", payload: { chat, seq }, queueName: `chat-${chat}`, runAt })),
      );
    }
    await db.query("vacuum analyze graphile_worker._private_jobs");
    await db.query("vacuum analyze graphile_worker._private_job_queues");
    await db.end();
    await utils.release();
  },

  async work({ go, stop }) {
    await go();
    const runner = await run({
      logger: quiet,
      noHandleSignals: true,
      parsedCronItems: [],
      taskList: { event: async ({ chat, seq }, { job }) => handle(chat, seq, job.attempts) },
      preset: {
        worker: {
          connectionString: url,
          concurrentJobs: CONCURRENCY,
          maxPoolSize: 10,
          // A look that found nothing is repeated soon: most of the time the next jobs wait for completions under way.
          pollInterval: 10,
          localQueue: LOCAL_QUEUE > 1 ? { size: LOCAL_QUEUE } : undefined,
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        },
      },
    });
    await stop;
    await runner.stop();
  },
});
