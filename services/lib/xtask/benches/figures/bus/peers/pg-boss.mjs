// pg-boss, policy key_strict_fifo: the head of a key blocks the key until it is completed.
//
// Loops of fetch and complete with large batches instead of its worker, which waits between two looks. Rows of one insert
// have no order, so each sequence is inserted by statements of its own.

import { PgBoss } from "pg-boss";

import { chats, handle, pieces, play, url } from "./peer.mjs";

const LOOPS = Number(process.env.PEER_CONCURRENCY ?? "4");
const FETCH = Number(process.env.PEER_BATCH ?? "500");
const QUEUE = "chats";

const open = async () => {
  const boss = new PgBoss({ connectionString: url, max: LOOPS + 2, supervise: false, schedule: false });
  boss.on("error", (error) => console.error(error.message));
  await boss.start();
  return boss;
};

await play({
  async fill() {
    const boss = await open();
    await boss.deleteQueue(QUEUE);
    // A table of its own, with the indexes of its policy only.
    await boss.createQueue(QUEUE, { policy: "key_strict_fifo", partition: true, retryLimit: 3, retryDelay: 1 });
    for (const { seq, piece } of pieces()) {
      await boss.insert(QUEUE, piece.map((chat) => ({ singletonKey: `chat-${chat}`, data: { chat, seq } })));
    }
    await boss.getDb().executeSql("analyze");
    await boss.stop({ graceful: false });
  },

  async work({ go, stop }) {
    const boss = await open();
    await go();
    let stopped = false;
    stop.then(() => (stopped = true));
    const loop = async () => {
      while (!stopped) {
        const jobs = await boss.fetch(QUEUE, { batchSize: FETCH });
        if (jobs.length === 0) {
          await new Promise((resolve) => setTimeout(resolve, 2));
          continue;
        }
        const done = [];
        const failed = [];
        for (const { id, data, retryCount } of jobs) {
          try {
            handle(data.chat, data.seq, retryCount + 1);
            done.push(id);
          } catch {
            failed.push(id);
          }
        }
        if (done.length > 0) await boss.complete(QUEUE, done);
        if (failed.length > 0) await boss.fail(QUEUE, failed);
      }
    };
    await Promise.all(Array.from({ length: Math.min(LOOPS, chats) }, loop));
    await boss.stop({ graceful: false });
  },
});
