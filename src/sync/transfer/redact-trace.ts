import type { TraceDetail } from '../../contract/trace.ts'
import type { Part, Session, SessionMessage, SessionFields } from '../agents/agent.ts'
import { pagesOf } from '../api/pages.ts'
import { digestBytes } from '../digest.ts'
import type { Connection } from '../login/connect.ts'
import type { FindSecrets } from '../redaction/find.ts'
import { type Redaction, type RedactionOptions, redactSession } from '../redaction/session.ts'
import { toBatches } from '../upload/batches.ts'
import type { EncodedMessage } from '../upload/encode.ts'
import { fieldsOf } from './import-trace.ts'

/** How many messages are read at once. */
const PAGE = 100

type Stored = Awaited<ReturnType<Connection['api']['messages']>>['messages'][number]

/** A stored message in the form that redaction searches: its text beside the parts, if it has any, is one more part, the last. */
const toSearch = (message: Stored): SessionMessage => {
  const { externalId, role, textContent, parts = [] } = message
  const own = textContent === undefined ? [] : [{ type: 'text', content: { text: textContent } }]
  const all = [...parts.map(({ order: _, ...part }) => part), ...own]
  return { externalId, role, order: 0, parts: all as readonly Part[] }
}

/** What is sent of a message that was changed. */
const toSend = ({ externalId, role, parts }: SessionMessage, hasText: boolean): EncodedMessage => {
  const text = hasText ? (parts.at(-1) as Extract<Part, { type: 'text' }>).content.text : undefined
  const body = { externalId, role, textContent: text, parts: hasText ? parts.slice(0, -1) : parts }
  const json = Buffer.from(JSON.stringify(body))
  return { externalId, line: 0, json, digest: digestBytes(json), truncations: [] }
}

const MARK = /\[redacted:[\w-]+\]/g

/** Finds nothing in the marks that replace secrets already. */
const butMarks =
  (find: FindSecrets): FindSecrets =>
  (text, about) => {
    const found = find(text, about)
    if (found.length === 0) return found
    const marks = [...text.matchAll(MARK)].map((mark) => [mark.index, mark.index + mark[0].length] as const)
    return found.filter(({ start, end }) => marks.every(([from, to]) => end <= from || start >= to))
  }

/** Finds each occurrence of a text. */
export const findText =
  (wanted: string): FindSecrets =>
  (text) => {
    const found = []
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length))
      found.push({ rule: 'text', start: at, end: at + wanted.length })
    return found
  }

/** Secrets that were found in an uploaded trace, and what replaces them. */
type FoundSecrets = {
  readonly redactions: readonly Redaction[]
  /** Replaces them. Returns how many messages and fields were changed. @throws RequestFailed */
  replace(): Promise<{ readonly messages: number; readonly fields: number }>
}

/** Searches the fields and messages of a trace. These are read twice, page by page. @throws RequestFailed */
export const searchTrace = async (
  { api, namespaceSlug: namespace }: Connection,
  trace: TraceDetail,
  options: Omit<RedactionOptions, 'version'>,
): Promise<FoundSecrets> => {
  const { externalId } = trace
  /** The message that was yielded last, and whether it has a text of its own. */
  let last: { readonly message: SessionMessage; readonly hasText: boolean } | undefined

  async function* messages() {
    const query = { namespace, limit: PAGE, includeParts: true }
    const read = (cursor: string | undefined) =>
      api.messages(externalId, cursor === undefined ? query : { ...query, cursor })
    for await (const page of pagesOf(read))
      for (const stored of page.messages) {
        last = { message: toSearch(stored), hasText: stored.textContent !== undefined }
        yield last.message
      }
  }

  const session: Session = {
    externalId,
    trace: fieldsOf(trace) as Partial<SessionFields> as SessionFields,
    skippedLines: 0,
    messages,
  }
  const redacted = await redactSession(session, { ...options, find: butMarks(options.find) })

  async function* changed() {
    for await (const message of redacted.session.messages())
      if (message !== last!.message) yield toSend(message, last!.hasText)
  }

  const replace = async () => {
    const given = Object.entries(redacted.session.trace)
    const before: Readonly<Record<string, unknown>> = { ...session.trace }
    const fields = Object.fromEntries(given.filter(([name, value]) => value !== before[name]))
    if (Object.keys(fields).length > 0) await api.patchTrace(externalId, fields)
    let count = 0
    for await (const batch of toBatches(changed())) {
      await api.upsertMessages(
        externalId,
        batch.map(({ json }) => json),
      )
      count += batch.length
    }
    return { messages: count, fields: Object.keys(fields).length }
  }

  return { redactions: redacted.redactions, replace }
}
