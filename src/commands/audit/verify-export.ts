import { exitCodes } from '../../cli/exit.ts'
import { explainMissingFile } from '../../cli/named-file.ts'
import { printLines, say } from '../../cli/output.ts'
import { BadExport, checkExport, readExport } from '../../log/export/read.ts'
import type { EventLog, RecordedEvent } from '../../log/log.ts'
import { readScope } from './scope.ts'

type Source = { readonly log: EventLog; readonly deleted: ReadonlyMap<string, bigint> }

/** Gives the source of a check against the log. */
type WithSource = (work: (source: Source) => Promise<number>) => Promise<number>

const COMPARED = ['id', 'stream', 'revision', 'type', 'metadata', 'data'] as const

const placeOf = ({ position, stream, revision, type }: RecordedEvent) =>
  `position ${position}: ${type}, ${stream} revision ${revision}`

/** Whether the log has erased an event that a file has: its stream begins with a later deletion. */
const newErasedCheck = ({ log, deleted }: Source) => {
  const begins = new Map<string, RecordedEvent | undefined>()
  const firstOf = async (stream: string) => {
    for await (const event of log.read(stream, { from: deleted.get(stream) ?? 0n, limit: 1 })) return event
    return undefined
  }
  return async ({ stream, revision }: RecordedEvent): Promise<boolean> => {
    if (!begins.has(stream)) begins.set(stream, await firstOf(stream))
    const first = begins.get(stream)
    return first?.type === 'TraceDeleted' && first.revision > revision
  }
}

type Pair = { readonly filed?: RecordedEvent; readonly logged?: RecordedEvent }

/** Both in the order of positions; an event that only one has comes alone. */
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

/** What is wrong with a pair; undefined when nothing is, `erased` when the log has erased the event since. */
const problemOf = async ({ filed, logged }: Pair, isErased: (event: RecordedEvent) => Promise<boolean>) => {
  if (!filed) return `${placeOf(logged!)}: not in the file`
  if (!logged) return (await isErased(filed)) ? 'erased' : `${placeOf(filed)}: not in the log`
  const differing = COMPARED.filter((member) => filed[member] !== logged[member])
  return differing.length === 0 ? undefined : `${placeOf(filed)}: another ${differing.join(', ')} in the log`
}

const verify = async (path: string, withSource: WithSource | undefined): Promise<number> => {
  const { header, trailer } = await checkExport(path).catch(explainMissingFile(path))
  await printLines([`The file is whole: ${trailer.events} events, sha256 ${trailer.sha256}`])
  if (!withSource) return exitCodes.ok
  return withSource(async (source) => {
    if (header.logId !== (await source.log.identity()).id) throw new BadExport('the file is of another log')
    const through = BigInt(trailer.through)
    if ((await source.log.head()) < through) throw new BadExport('the log ends before the file does')
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
    const since = erased === 0 ? '' : `; ${erased} of its events were erased since`
    await printLines([differences === 0 ? `The log has the same${since}.` : `${differences} differences${since}.`])
    return differences === 0 ? exitCodes.ok : exitCodes.found
  })
}

/** Checks a file on its own, and against the log unless there is none to be asked; gives the exit code. */
export const verifyExport = (path: string, withSource: WithSource | undefined): Promise<number> =>
  verify(path, withSource).catch((error: unknown) => {
    if (!(error instanceof BadExport)) throw error
    say(`tracebook: ${error.message}`)
    return exitCodes.found
  })
