import type { KeyedHash } from '../../src/base/line-hashes.ts'
import { newYielding } from '../../src/base/yielding.ts'
import type { ReadRows, Sender } from '../../src/eventstore/engine/projection.ts'
import { int4s, int8s, uuids } from '../../src/eventstore/postgres/arrays.ts'
import { factOf } from '../../src/server/trace/messages/facts.ts'
import {
  type CallLines,
  type WrittenFile,
  addShown,
  callsIn,
  changedFrom,
  hashOfCall,
  hashOfIdentity,
  hashOfName,
  hashOfPath,
  without,
} from '../../src/server/trace/written-lines.ts'
import { mayMatter } from './changes.ts'
import { readHashes } from './keys.ts'
import { type ShownRow, type WrittenRow, removeShown, removeWritten, writeShown, writeWritten } from './rows.ts'
import {
  type Key,
  type Message,
  type ToRead,
  type Viewer,
  nameOf,
  readMessages,
  readParts,
  readShowing,
} from './stored-messages.ts'

/** How a call is named in the facts of messages. */
const idInFacts = (callId: string): string =>
  factOf({ type: 'tool_result', content: { callId, toolName: '', output: '', status: 'success' } }, '')!.slice(1)

type Read = Message & { readonly calls: readonly CallLines[] }

/** A file that is written whole, with what was shown of it before. */
type WholeFile = Viewer & { readonly file: WrittenFile; readonly shown: Map<string, number> }

const readCalls = async (read: ReadRows, messages: readonly Message[]): Promise<Read[]> => {
  const turn = newYielding()
  const found: Read[] = []
  for await (const [message, parts] of readParts(read, messages)) {
    found.push({ ...message, calls: callsIn(parts) })
    await turn()
  }
  return found
}

/** Files that are written whole have to be read again if they are at or behind a message of the trace; `EVERYWHERE` means wherever they are. */
type Affected = { readonly traceId: string; readonly path: bigint; readonly after: number }

const EVERYWHERE = -1

/** A result, by the id of its call as a fact has it. */
type Result = Key & { readonly id: string }

const resultsOf = (some: readonly ToRead[], messages: readonly Message[]): Result[] => [
  ...some.flatMap(({ traceId, ordinal, results = [] }) => results.map((id) => ({ traceId, ordinal, id }))),
  ...messages.flatMap(({ traceId, ordinal, facts }) =>
    facts.flatMap((fact) => (fact.is === 'result' ? [{ traceId, ordinal, id: fact.id }] : [])),
  ),
]

/** The files that results show: those of the calls with their ids. A result that has changed may have been anywhere before. */
const shownByResults = async (
  read: ReadRows,
  results: readonly Result[],
  hashes: ReadonlyMap<string, KeyedHash>,
  changed: ReadonlySet<string>,
): Promise<Affected[]> => {
  if (results.length === 0) return []
  const rows = await read<{ nth: number; path: bigint | string }>(
    'attribution-answered',
    `select u.nth::int4, f.path from unnest($1::uuid[], $2::int8[]) with ordinality u (trace_id, call, nth)
     cross join lateral (select r.path from shown_files r where r.trace_id = u.trace_id and r.call = u.call offset 0) f`,
    [
      uuids(results.map(({ traceId }) => traceId)),
      int8s(results.map(({ traceId, id }) => hashOfCall(hashes.get(traceId)!, id))),
    ],
  )
  return rows.map(({ nth, path }) => {
    const { traceId, ordinal } = results[nth - 1]!
    return { traceId, path: BigInt(path), after: changed.has(nameOf({ traceId, ordinal })) ? EVERYWHERE : ordinal }
  })
}

const shownBefore = (read: ReadRows, keys: readonly Key[]): Promise<Affected[]> =>
  read<{ trace_id: string; path: bigint | string }>(
    'attribution-shown-before',
    `select f.trace_id, f.path from unnest($1::uuid[], $2::int4[]) u (trace_id, ordinal)
     join shown_files f on f.trace_id = u.trace_id and f.ordinal = u.ordinal`,
    [uuids(keys.map(({ traceId }) => traceId)), int4s(keys.map(({ ordinal }) => ordinal))],
  ).then((rows) => rows.map(({ trace_id, path }) => ({ traceId: trace_id, path: BigInt(path), after: EVERYWHERE })))

const sortKeys = (m: string) =>
  `(coalesce(${m}.sequence, 'infinity'), coalesce(${m}.timestamp, 'infinity'), ${m}.ordinal)`

/** The messages that write these files whole, at or behind these messages. */
const writersOf = async (read: ReadRows, affected: readonly Affected[]): Promise<Key[]> => {
  if (affected.length === 0) return []
  const rows = await read<{ trace_id: string; ordinal: number }>(
    'attribution-writers',
    `select distinct w.trace_id, w.ordinal
     from unnest($1::uuid[], $2::int8[], $3::int4[]) u (trace_id, path, after)
     cross join lateral (select * from traces r where r.id = u.trace_id limit 1) t
     left join lateral (
       select * from messages r where r.trace_id = t.id and r.incarnation = t.incarnation and r.ordinal = u.after limit 1
     ) a on true
     cross join lateral (
       select f.trace_id, f.ordinal from written_files f
       join messages m on m.trace_id = t.id and m.incarnation = t.incarnation and m.ordinal = f.ordinal
       where f.trace_id = u.trace_id and f.whole = u.path and (u.after = ${EVERYWHERE} or ${sortKeys('m')} > ${sortKeys('a')})
     ) w`,
    [
      uuids(affected.map(({ traceId }) => traceId)),
      int8s(affected.map(({ path }) => path)),
      int4s(affected.map(({ after }) => after)),
    ],
  )
  return rows.map(({ trace_id, ordinal }) => ({ traceId: trace_id, ordinal }))
}

/** Reads what results showed of files before these were written whole. */
const readShown = async (read: ReadRows, files: readonly WholeFile[]): Promise<void> => {
  const turn = newYielding()
  const showing = Map.groupBy(await readShowing(read, files), nameOf)
  for await (const [some, parts] of readParts(
    read,
    [...showing.values()].map((all) => ({ ...all[0]!, all })),
  )) {
    const outputs = new Map<string, string>()
    for (const { type, content } of parts)
      if (type === 'tool_result' && content?.status === 'success')
        outputs.set(idInFacts(content.callId), content.output)
    for (const { id, viewer } of some.all) addShown(viewer.shown, outputs.get(id) ?? '')
    await turn()
  }
}

const wholeFilesIn = (messages: readonly Read[], hashes: ReadonlyMap<string, KeyedHash>): WholeFile[] =>
  messages.flatMap(({ traceId, place, calls }) =>
    calls.flatMap(({ files }) =>
      files
        .filter(({ isWhole }) => isWhole)
        .map((file) => ({
          traceId,
          place,
          file,
          path: hashOfPath(hashes.get(traceId)!, file.path),
          shown: new Map<string, number>(),
        })),
    ),
  )

/** The rows of what messages write. */
const writtenRows = async (
  messages: readonly Read[],
  whole: readonly WholeFile[],
  hashes: ReadonlyMap<string, KeyedHash>,
): Promise<WrittenRow[]> => {
  const turn = newYielding()
  const shownOf = new Map(whole.map(({ file, ...rest }) => [file, rest]))
  const rows: WrittenRow[] = []
  for (const { calls, traceId, ordinal, incarnation, at } of messages) {
    const hash = hashes.get(traceId)!
    for (const { nth, identity, files } of calls)
      for (const [index, file] of files.entries()) {
        const before = shownOf.get(file)
        const changed = before
          ? changedFrom(before.shown, file.now)
          : { written: without(file.now, file.old), replaced: without(file.old, file.now) }
        if (changed.written.length === 0 && before === undefined) continue
        rows.push({
          ...{ traceId, ordinal, incarnation, nth, file: index, at, path: file.path, whole: before?.path },
          identity: hashOfIdentity(hash, identity),
          written: [hashOfName(hash, file.path), ...changed.written.map(hash)],
          replaced: changed.replaced.map(hash),
        })
        await turn()
      }
  }
  return rows
}

const shownRows = (messages: readonly Read[], hashes: ReadonlyMap<string, KeyedHash>): ShownRow[] =>
  messages.flatMap(({ traceId, ordinal, calls }) => {
    const hash = hashes.get(traceId)!
    return calls.flatMap(({ nth, callId, shows }) =>
      shows === undefined
        ? []
        : [{ traceId, ordinal, nth, path: hashOfPath(hash, shows), call: hashOfCall(hash, idInFacts(callId)) }],
    )
  })

/** Writes the rows of messages as they are now, and of other messages whose rows depend on what these show. */
const makeSome = async (sender: Sender, some: readonly ToRead[]): Promise<void> => {
  const { read, write } = sender
  const hashes = await readHashes(sender, [...new Set(some.map(({ traceId }) => traceId))])
  const present = some.filter(({ traceId }) => hashes.has(traceId))
  const toRead = present.filter(({ results }) => results === undefined)
  const messages = toRead.length === 0 ? [] : await readMessages(read, toRead)
  const old = some.filter(({ isNew }) => !isNew)
  const before = old.length === 0 ? [] : await shownBefore(read, old)
  removeWritten(old, write)
  removeShown(old, write)
  const own = await readCalls(read, messages.filter(mayMatter))
  const shown = shownRows(own, hashes)
  writeShown(shown, write)
  const changed = new Set(old.map(nameOf))
  const moved = shown.filter((row) => changed.has(nameOf(row))).map((row) => ({ ...row, after: EVERYWHERE }))
  const affected = [...before, ...moved, ...(await shownByResults(read, resultsOf(present, messages), hashes, changed))]
  const isOwn = new Set(own.map(nameOf))
  const others = (await writersOf(read, affected)).filter((key) => !isOwn.has(nameOf(key)))
  removeWritten(others, write)
  const all = [...own, ...(await readCalls(read, await readMessages(read, others)))]
  const whole = wholeFilesIn(all, hashes)
  await readShown(read, whole)
  writeWritten(await writtenRows(all, whole, hashes), write)
}

/** How many messages are read at once. */
const CHUNK = 500

/** Writes the rows of messages as they are now. */
export const makeFacts = async (sender: Sender, messages: readonly ToRead[]): Promise<void> => {
  for (let from = 0; from < messages.length; from += CHUNK) await makeSome(sender, messages.slice(from, from + CHUNK))
}
