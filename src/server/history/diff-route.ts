import jsonpatch from 'fast-json-patch'
import type { FastifyInstance } from 'fastify'
import { type ChangedMessage, type Difference, history } from '../../contract/history.ts'
import type { Row } from '../../eventstore/engine/reads.ts'
import { invalid } from '../http/http-error.ts'
import { jsonText } from '../http/json-text.ts'
import type { Chunk } from '../http/long-list.ts'
import { route } from '../http/route.ts'
import type { PresentTrace } from '../trace/state.ts'
import { patchText } from '../trace/formats.ts'
import { difference } from '../trace/messages/message.ts'
import { traceWithTimeline } from './locate.ts'
import { listOfHistory } from './open-past.ts'
import { newPastDocuments, type PastDocument } from './past-documents.ts'
import { pastTrace, type PastTrace, revisionAt } from './past.ts'
import type { HistoryServices } from './services.ts'
import { updatesBetween } from './updates.ts'

/** The document of a trace: its fields, and its title and summary that the service has made. */
const documentOf = ({ fields, summary }: PresentTrace) => ({
  ...fields,
  ...(summary?.title === undefined ? {} : { ai_title: summary.title }),
  ...(summary === undefined ? {} : { ai_summary: summary.summary }),
})

/** The JSON patch (RFC 6902) that changes the document of a trace at the moment `from` into the document at `to`. */
const traceDifference = (from: PastTrace, to: PastTrace): object[] =>
  jsonpatch.compare(documentOf(from.trace), documentOf(to.trace))

/** How many externalIds one statement reads at most. */
const NAMES = 1_000
/** About how many characters of memory an externalId takes. */
const NAME_SIZE = 100

const namesStatement = `
  select m.ordinal, m.external_id from messages m
  where m.trace_id = $1 and m.incarnation = $2 and m.ordinal >= $3 and m.ordinal < $4 order by m.ordinal limit ${NAMES}`

type NameRow = { ordinal: number; external_id: string }

/** The externalIds of the messages that a trace has got between two moments, as JSON texts, by order of arrival. */
async function* addedBetween(
  { reads }: HistoryServices,
  from: PastTrace,
  to: PastTrace,
): AsyncGenerator<Chunk<string>> {
  for (let next = from.messageCount; next < to.messageCount;) {
    const values = [to.id, to.incarnation, next, to.messageCount]
    const rows = await reads.rows<NameRow & Row>('diff-names', namesStatement, values)
    if (rows.length === 0) return
    yield { rows: rows.map(({ external_id }) => JSON.stringify(external_id)), size: NAME_SIZE * rows.length }
    next = rows.at(-1)!.ordinal + 1
  }
}

const changeText = ({ externalId, document }: PastDocument, before: PastDocument): string[] => {
  const patch = difference(before.document, document)
  return patch.length === 0
    ? []
    : [jsonText<ChangedMessage>({ externalId: JSON.stringify(externalId), patch: patchText(patch) })]
}

/** The messages that differ between two moments, as JSON texts of `{externalId, patch}`, by order of arrival. */
async function* updatedBetween(
  services: HistoryServices,
  from: PastTrace,
  to: PastTrace,
): AsyncGenerator<Chunk<string>> {
  const updates = await updatesBetween(services, to, from.revision, to.revision)
  const ordinals = updates.ordinals().filter((ordinal) => ordinal < from.messageCount)
  const documents = newPastDocuments(services, to)
  for (let start = 0; start < ordinals.length;) {
    const { found, size, read } = await documents.documents(ordinals.slice(start, start + NAMES), [
      from.revision,
      to.revision,
    ])
    const [before, after] = found as [Map<number, PastDocument>, Map<number, PastDocument>]
    yield { rows: [...after].flatMap(([ordinal, one]) => changeText(one, before.get(ordinal)!)), size }
    start += read
  }
}

/** Yields rows that, joined by commas, form a member `"name":[…]` of an object. The items of its list are the rows of `chunks`. */
async function* asMember(
  name: keyof Difference['messages'],
  chunks: AsyncIterable<Chunk<string>>,
): AsyncGenerator<Chunk<string>> {
  let held = `"${name}":[`
  let isEmpty = true
  for await (const { rows, size } of chunks) {
    const texts: string[] = []
    for (const row of rows) {
      if (isEmpty) held += row
      else {
        texts.push(held)
        held = row
      }
      isEmpty = false
    }
    yield { rows: texts, size }
  }
  yield { rows: [`${held}]`], size: held.length }
}

/** The members of `messages` of a difference, as chunks of rows that have to be joined by commas. @throws BrokenOff */
async function* messagesDifference(
  services: HistoryServices,
  from: PastTrace,
  to: PastTrace,
): AsyncGenerator<Chunk<string>, void> {
  yield* asMember('added', addedBetween(services, from, to))
  yield* asMember('updated', updatedBetween(services, from, to))
}

/** The route for the difference of a trace and its messages between two revisions. */
export const diffRoute = (app: FastifyInstance, services: HistoryServices): void => {
  route(app, history, 'GET /v1/traces/{externalId}/diff', async ({ params, query, caller }, reply) => {
    const { from } = query
    if (query.to !== undefined && from > query.to)
      throw invalid('from', `must not be greater than \`to\`, which is ${query.to}`)
    const { externalId } = params
    const present = await traceWithTimeline(services, { externalId, namespace: query.namespace }, caller)
    const to = query.to ?? present.revision
    const [before, after] = await Promise.all(
      [from, to].map(async (revision) =>
        pastTrace(services, present, await revisionAt(services, present, { revision })),
      ),
    )
    const head = jsonText<Omit<Difference, 'messages'>>({
      from: String(from),
      to: String(to),
      patch: JSON.stringify(traceDifference(before!, after!)),
    })
    return services.longLists.send(reply, {
      ...listOfHistory(services, present, caller),
      chunks: () => messagesDifference(services, before!, after!),
      before: `{"ok":true,"data":${head.slice(0, -1)},"messages":{`,
      toText: (row) => row,
      after: () => '}}}',
    })
  })
}
