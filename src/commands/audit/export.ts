import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { io } from '../../cli/io.ts'
import { UsageError, exitCodes } from '../../cli/exit.ts'
import { explainMissingFile, explainOutput } from '../../cli/named-file.ts'
import { writeOut } from '../../cli/output.ts'
import { deletedBefore, readErasureState } from '../../server/erasure/deletions.ts'
import type { Header, Scope } from '../../eventstore/log/export/format.ts'
import { BadExport, type ExportReader, readExport } from '../../eventstore/log/export/read.ts'
import { type WrittenPart, type WriteText, newExportWriter } from '../../eventstore/log/export/write.ts'
import { newClient, withConnection } from '../../eventstore/postgres/connect.ts'
import { withLog } from '../support/with-log.ts'
import { newProgress } from './progress.ts'
import { readScope, scopeOf } from './scope.ts'
import { type Source, verifyExport } from './verify-export.ts'

type Options = {
  readonly namespace?: string
  readonly trace?: string
  readonly out?: string
  readonly resume?: string
  readonly verify?: string
  readonly offline?: boolean
}

/** The log, and the deletions to leave out. These are read before the log, so that no earlier deletion is missed. */
const withSource = <T>(work: (source: Source) => Promise<T>): Promise<T> =>
  withLog(async ({ url, log }) => {
    const state = await withConnection(newClient(url, 'audit'), readErasureState)
    return work({ log, deleted: await deletedBefore(log, state) })
  })

type Target = {
  readonly write: WriteText
  readonly begun?: WrittenPart
  readonly file?: ExportReader
}

const exportTo = async ({ log, deleted }: Source, scope: Scope, { write, begun, file }: Target): Promise<number> => {
  const writer = newExportWriter(write, begun)
  const { id: logId } = await log.identity()
  const header: Header = { tracebookLog: 1, logId, scope, exportedAt: Date.now() }
  if (!file?.header()) await writer.header(header)
  const through = await log.head()
  const progress = newProgress('export')
  try {
    const after = file?.last()
    const isKnown = file?.hasStream ?? (() => false)
    for await (const event of readScope(log, { scope, deleted, through, after, isKnown })) {
      await writer.event(event)
      progress.advance(1, event.position, through)
    }
  } finally {
    await writer.flush().finally(progress.stop)
  }
  const { events, sha256 } = await writer.trailer(through)
  io().stderr.write(`${events} events, sha256 ${sha256}\n`)
  return exitCodes.ok
}

type Explain = (path: string) => (error: unknown) => never

/** Runs `work` with a file, and then flushes it to the disk. */
const withFile = async <T>(
  { path, flags, explain }: { readonly path: string; readonly flags: string | number; readonly explain: Explain },
  work: (file: FileHandle) => Promise<T>,
): Promise<T> => {
  const file = await open(path, flags, 0o600).catch(explain(path))
  try {
    const result = await work(file)
    await file.sync()
    return result
  } finally {
    await file.close()
  }
}

/** Continues after the last complete line of an event; a trailer is replaced. */
const resume = (source: Source, path: string): Promise<number> =>
  withFile({ path, flags: constants.O_WRONLY | constants.O_APPEND, explain: explainMissingFile }, async (handle) => {
    const file = readExport(path)
    for await (const _ of file.events);
    const header = file.header()!
    if (header.logId !== (await source.log.identity()).id)
      throw new BadExport('The file is of another log: use the database of its service.')
    const { hash, bytes } = file.body()
    await handle.truncate(bytes)
    const write = (text: string) => handle.appendFile(text)
    return exportTo(source, header.scope, { write, begun: { hash, events: file.count() }, file })
  })

const assertUsage = ({ namespace, trace, out, resume: resumed, verify, offline }: Options) => {
  if ([out, resumed, verify].filter((path) => path !== undefined).length > 1)
    throw new UsageError('Use only one of --out, --resume and --verify.')
  if ((resumed ?? verify) !== undefined && (namespace ?? trace) !== undefined)
    throw new UsageError('The file itself says which events it holds: leave out --namespace and --trace.')
  if (offline && verify === undefined) throw new UsageError('--offline needs --verify.')
}

export const exportLog = async (options: Options): Promise<number> => {
  assertUsage(options)
  const { out, resume: resumed, verify, offline = false } = options
  if (verify !== undefined) return verifyExport(verify, offline ? undefined : withSource)
  if (resumed !== undefined) return withSource((source) => resume(source, resumed))
  const scope = scopeOf(options)
  return withSource((source) =>
    out === undefined
      ? exportTo(source, scope, { write: writeOut })
      : withFile({ path: out, flags: 'wx', explain: explainOutput }, (file) =>
          exportTo(source, scope, { write: (text) => file.appendFile(text) }),
        ),
  )
}
