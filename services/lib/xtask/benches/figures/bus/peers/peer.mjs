// What the scripts of the two Node peers share: how the bench talks to a peer.
//
//   PEER_ROLE=fill   makes the schema and PEER_CHATS × PEER_DEPTH jobs, then ends
//   PEER_ROLE=work   says "ready", works after a line on standard input, ends when that is closed
//
// While it works it writes one line for each event it has handled, "chat seq start end": nanoseconds of the machine's
// monotonic clock, so that lines of several processes can be compared. The bench checks order, overlap and repeats.

import { createInterface } from "node:readline";

export const url = process.env.PEER_DATABASE_URL;
export const chats = Number(process.env.PEER_CHATS);
export const depth = Number(process.env.PEER_DEPTH);
export const failEvery = Number(process.env.PEER_FAIL_EVERY ?? "0");

/** As many rows as one statement of a peer takes well. */
export const BATCH = 1000;

/** Whether the first attempt of this event is to fail. */
export const fails = (chat, seq, attempt) => failEvery > 0 && attempt === 1 && (chat * 31 + seq * 17) % failEvery === 0;

let lines = [];

const flush = () => {
  if (lines.length > 0) {
    process.stdout.write(lines.join(""));
    lines = [];
  }
};

/** The handler of an event: does nothing, and tells when. Throws where it is to fail. */
export const handle = (chat, seq, attempt) => {
  const start = process.hrtime.bigint();
  if (fails(chat, seq, attempt)) throw new Error("to be tried again");
  lines.push(`${chat} ${seq} ${start} ${process.hrtime.bigint()}\n`);
};

/** Runs the role. `work` gets a promise that resolves when it is to stop. */
export const play = async ({ fill, work }) => {
  if (process.env.PEER_ROLE === "fill") {
    await fill();
    return;
  }
  const input = createInterface({ input: process.stdin });
  const stop = new Promise((resolve) => input.once("close", resolve));
  const go = new Promise((resolve) => input.once("line", resolve));
  await work({
    stop,
    go: async () => {
      process.stdout.write("ready\n");
      await go;
      process.stdout.write(`go ${process.hrtime.bigint()}\n`);
      setInterval(flush, 5).unref();
    },
  });
  flush();
};

/** All events, first those with sequence 1, in pieces: what one statement inserts has no order in either peer. */
export function* pieces() {
  for (let seq = 1; seq <= depth; seq++) {
    for (let first = 0; first < chats; first += BATCH) {
      const size = Math.min(BATCH, chats - first);
      yield { seq, piece: Array.from({ length: size }, (_, place) => first + place) };
    }
  }
}
