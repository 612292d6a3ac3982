import { io } from '../../cli/io.ts'
import { exitCodes } from '../../cli/exit.ts'
import { stoppable } from '../../cli/interrupt.ts'
import { printLines, say } from '../../cli/output.ts'
import { explainMissingFile } from '../../cli/named-file.ts'
import { newCodec } from '../../eventstore/engine/codec.ts'
import { formats } from '../../server/events.ts'
import type { CopySource } from '../../eventstore/log/copy/comparison.ts'
import { type CopyResult, copyFrom } from '../../eventstore/log/copy/copy.ts'
import { BadExport, type CheckedExport, checkExport, readExport } from '../../eventstore/log/export/read.ts'
import type { EventLog } from '../../eventstore/log/log.ts'
import { openLocation } from '../log/open-location.ts'
import { newProgress } from './progress.ts'

/** The file as the source of a copy. */
const sourceOf = (path: string, { last }: CheckedExport): CopySource => ({
  head: () => Promise.resolve(last?.position ?? 0n),
  readAll: () => readExport(path).events,
  read: async function* (stream, { limit = Infinity } = {}) {
    let left = limit
    for await (const event of readExport(path).events) {
      if (event.stream !== stream) continue
      if (left-- <= 0) return
      yield event
    }
  },
})

/** @throws BadExport, UsageError if the file does not exist */
const checkImport = async (path: string): Promise<CheckedExport> => {
  const codec = newCodec(formats)
  const checked = await checkExport(path, codec.assertKnown).catch(explainMissingFile(path))
  if (checked.header.scope.is !== 'log')
    throw new BadExport('The file holds a part of a log, without users and sessions: import a file of a whole log.')
  return checked
}

const copyInto = (to: EventLog, from: CopySource, signal: AbortSignal): Promise<CopyResult> => {
  const progress = newProgress('import')
  let done = 0
  const onAppend = ({ events, position, head }: { events: number; position: bigint; head: bigint }) => {
    progress.advance(events - done, position, head)
    done = events
  }
  return copyFrom({ from, to, keepsRevisions: true, signal, progress: onAppend }).finally(progress.stop)
}

export const importLog = async ({ to }: { readonly to?: string }, path: string): Promise<number> => {
  const from = sourceOf(path, await checkImport(path)) // before a PostgreSQL is started for nothing
  const location = to ?? (io().env.EVENTSTORE_URL || io().env.DATABASE_URL || 'embedded')
  return stoppable(async (signal) => {
    const { log: target } = await openLocation(location, 'target', signal)
    try {
      const { events, before, digest, isComplete } = await copyInto(target, from, signal)
      if (!isComplete) {
        say(`Stopped after ${events} events. Run it again to continue.`)
        throw signal.reason
      }
      await printLines([`${events} events, ${events - before} of them imported now. Verified: sha256 ${digest}`])
      return exitCodes.ok
    } finally {
      await target.close()
    }
  })
}
