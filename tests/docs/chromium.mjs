// A browser without a window, spoken to through pipes by the protocol of its developer tools.
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const FLAGS = [
  ...['--remote-debugging-pipe', '--headless', '--no-first-run', '--window-size=900,1000'],
  ...['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'], // containers and root have no more
  // Nothing outside is reached, whatever a page asks for.
  ...['--disable-background-networking', '--disable-component-update', '--host-resolver-rules=MAP * ~NOTFOUND'],
];

export class Chromium {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tilewise-')); // removed when the browser has ended
  #answers = new EventEmitter(); // of calls, by number
  #tabs = new EventEmitter(); // events, by session
  #calls = 0;

  // A browser that takes longer than `seconds` is ended, and whatever waits for it fails.
  constructor(program, seconds) {
    const flags = [...FLAGS, `--user-data-dir=${this.folder}/profile`];
    this.process = spawn(program, flags, { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'] });
    const [said, to, from] = this.process.stdio.slice(2);
    let [last, rest] = ['', Buffer.alloc(0)];
    said.on('data', (data) => (last = (last + data).slice(-2000)));
    to.on('error', () => {}); // `ended` says it
    from.on('data', (data) => {
      rest = Buffer.concat([rest, data]);
      for (let end; (end = rest.indexOf(0)) >= 0; rest = rest.subarray(end + 1)) {
        const message = JSON.parse(rest.subarray(0, end).toString());
        if (message.id) this.#answers.emit(message.id, message);
        else this.#tabs.emit(message.sessionId, message.method, message.params);
      }
    });
    const timer = setTimeout(() => this.process.kill('SIGKILL'), 1000 * seconds);
    this.ended = new Promise((_, reject) => {
      this.process.on('error', reject);
      this.process.on('close', () => reject(new Error(`${program} has ended, or had no answer in ${seconds} s:\n${last}`)));
    });
    this.ended.catch(() => clearTimeout(timer));
  }

  async call(method, params, sessionId) {
    const id = ++this.#calls;
    const answer = once(this.#answers, id);
    this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    const [{ error, result }] = await Promise.race([answer, this.ended]);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  // A tab: `call` calls it, `events` has what it tells.
  async tab() {
    const { targetId } = await this.call('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.call('Target.attachToTarget', { targetId, flatten: true });
    const events = new EventEmitter();
    this.#tabs.on(sessionId, (method, params) => events.emit(method, params));
    return { call: (method, params) => this.call(method, params, sessionId), events };
  }

  async end() {
    this.process.kill();
    await this.ended.catch(() => {});
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
