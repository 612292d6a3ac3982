import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { until } from '../../support/until.ts'
import type { CommandContext } from './commands.ts'
import { start } from './command-process.ts'

type Event = Readonly<Record<string, unknown>>

/** A `tracebook sync --watch` that runs in a process of its own. */
export type Watching = {
  readonly pid: number
  readonly events: readonly Event[]
  readonly of: (type: string) => readonly Event[]
  /** Resolves when it has said that it watches. */
  readonly isWatching: () => Promise<unknown>
  /** Sends a signal and waits for the end: the exit code or the signal, and what was said on stderr. */
  readonly end: (signal: NodeJS.Signals) => Promise<{ readonly how: unknown; readonly err: string }>
  readonly ended: Promise<{ readonly how: unknown; readonly err: string }>
}

export const startWatching = (context: CommandContext, ...args: readonly string[]): Watching => {
  const child = start(context, 'sync', '--watch', '--json', ...args)
  const events: Event[] = []
  createInterface({ input: child.stdout }).on('line', (line) => void events.push(JSON.parse(line) as Event))
  const ended = Promise.all([text(child.stderr), once(child, 'close')]).then(([err, [code, signal]]) => ({
    how: (code ?? signal) as unknown,
    err,
  }))
  const of = (type: string) => events.filter((event) => event['type'] === type)
  let hasEnded = false
  void ended.then(() => (hasEnded = true))
  return {
    pid: child.pid!,
    events,
    of,
    isWatching: async () => {
      await until(() => hasEnded || of('watching').length > 0)
      if (hasEnded) throw new Error(`it has ended: ${JSON.stringify(events)} ${(await ended).err}`)
    },
    end: (signal) => {
      child.kill(signal)
      return ended
    },
    ended,
  }
}
