import { exitCodes } from '../../cli/exit.ts'
import { explainMissingFile } from '../../cli/named-file.ts'
import { printLines, say } from '../../cli/output.ts'
import { BadExport, checkExport, readExport } from '../../eventstore/log/export/read.ts'
import type { EventLog, RecordedEvent } from '../../eventstore/log/log.ts'
import { readScope } from './scope.ts'

/** The log, and by stream the revision before which its events were deleted. */
export type Source = { readonly log: EventLog; readonly deleted: ReadonlyMap<string, bigint> }

/** Runs `work` with the log to compare with. */
type WithSource = (work: (source: Source) => Promise<number>) => Promise<number>

const COMPARED = ['id', 'stream', 'revision', 'type', 'metadata', 'data'] as const

const placeOf = ({ position, stream, revision, type }: RecordedEvent) =>
  `position ${position}: ${type}, ${stream} revision ${revision}`

const BEGINS_ANEW: ReadonlySet<string> = new Set(['TraceDeleted', 'MessageRestated', 'HistoryErased'])

/** Whether the log has erased an event of the file: its stream begins with a later deletion, or what an erased past has left. */
const newErasedCheck = ({ log, deleted }: Source) => {
  const begins = new Map<string, RecordedEvent | undefined>()
  const firstOf = async (stream: string) => {
    for await (const event of log.read(stream, { from: deleted.get(stream) ?? 0n, limit: 1 })) return event
    return undefined
  }
  return async ({ stream, revision }: RecordedEvent): Promise<boolean> => {
    if (!begins.has(stream)) begins.set(stream, await firstOf(stream))
    const first = begins.get(stream)
    return first !== undefined && BEGINS_ANEW.has(first.type) && first.revision > revision
  }
}

type Pair = { readonly filed?: RecordedEvent; readonly logged?: RecordedEvent }

/** Pairs in the order of positions; an event that only one side has comes alone. */
async function* merged(file: AsyncIterator<RecordedEvent>, log: AsyncIterator<RecordedEvent>): AsyncGenerator<Pair> {
  const take = async (from: AsyncIterator<RecordedEvent>) => {
    const next = await from.next()
    return next.done ? undefined : next.value
  }
  let [filed, logged] = [await take(file), await take(log)]
  while (filed || logged) {
    if (filed && logged && filed.position === logged.position) {
      yield { filed, logged }
      ;[filed, logged] = [await take(file), await take(log)]
    } else if (filed && (!logged || filed.position < logged.position)) {
      yield { filed }
      filed = await take(file)
    } else {
      yield { logged: logged! }
      logged = await take(log)
    }
  }
}

/** The difference in a pair, `erased` if the log has erased the event, undefined if there is none. */
const problemOf = async ({ filed, logged }: Pair, isErased: (event: RecordedEvent) => Promise<boolean>) => {
  if (!filed) return `${placeOf(logged!)}: not in the file`
  if (!logged) return (await isErased(filed)) ? 'erased' : `${placeOf(filed)}: not in the log`
  const differing = COMPARED.filter((member) => filed[member] !== logged[member])
  return differing.length === 0 ? undefined : `${placeOf(filed)}: different ${differing.join(', ')} in the log`
}

const verify = async (path: string, withSource: WithSource | undefined): Promise<number> => {
  const { header, trailer } = await checkExport(path).catch(explainMissingFile(path))
  await printLines([`The file is complete: ${trailer.events} events, sha256 ${trailer.sha256}`])
  if (!withSource) return exitCodes.ok
  return withSource(async (source) => {
    if (header.logId !== (await source.log.identity()).id)
      throw new BadExport('The file is of another log: use the database of its service.')
    const through = BigInt(trailer.through)
    if ((await source.log.head()) < through)
      throw new BadExport('The log ends before the end of the file, so it has lost events.')
    const logged = readScope(source.log, { scope: header.scope, deleted: source.deleted, through })
    const isErased = newErasedCheck(source)
    let [erased, differences] = [0, 0]
    for await (const pair of merged(readExport(path).events, logged)) {
      const problem = await problemOf(pair, isErased)
      if (problem === 'erased') erased += 1
      else if (problem !== undefined) {
        differences += 1
        await printLines([problem])
      }
    }
    const since = erased === 0 ? '' : `; ${erased} of its events have been erased since`
    await printLines([differences === 0 ? `The log does not differ${since}.` : `${differences} differences${since}.`])
    return differences === 0 ? exitCodes.ok : exitCodes.found
  })
}

/** Checks a file on its own and, with a source, against the log. */
export const verifyExport = (path: string, withSource: WithSource | undefined): Promise<number> =>
  verify(path, withSource).catch((error: unknown) => {
    if (!(error instanceof BadExport)) throw error
    say(`tracebook: ${error.message}`)
    return exitCodes.found
  })
