import type { TraceDetail } from '../../contract/trace.ts'
import type { Session, SessionFields } from '../agents/agent.ts'
import { pagesOf } from '../api/pages.ts'
import type { Connection } from '../login/connect.ts'
import { type FindSecrets, findKnown } from '../redaction/find.ts'
import { butMarks } from '../redaction/marks.ts'
import { type Redaction, type RedactionOptions, redactSession } from '../redaction/session.ts'
import { textShown } from '../redaction/shown.ts'
import { toBatches } from '../upload/batches.ts'
import { toSearch, toSend } from '../upload/compare.ts'
import { revisionAfterBatch, revisionAfterPatch, whileOthersWrite } from '../upload/expected-revision.ts'
import type { StoredMessage } from '../upload/stored-messages.ts'
import { fieldsOf } from './import-trace.ts'

/** How many messages are read at once. */
const PAGE = 100

/** Finds each occurrence of a text, in whatever colours and escapes. */
export const findText = (wanted: string): FindSecrets => {
  const value = textShown(wanted)
  const rules = new Map([[value, 'text']])
  return (text) => findKnown(text, [value], rules)
}

/** What was replaced: how many messages and fields. */
type Replaced = { readonly messages: number; readonly fields: number }

/** Secrets that were found in an uploaded trace, and what replaces them. */
type FoundSecrets = {
  readonly redactions: readonly Redaction[]
  /**
   * Replaces them, also those of messages that others write meanwhile.
   * @throws RequestFailed; TraceBusy if others write all the time
   */
  replace(): Promise<Replaced>
}

type Options = Omit<RedactionOptions, 'version'>
/** The trace, and its revision before anything else of it was read. */
type Read = { readonly trace: TraceDetail; readonly revision: number }

/** Searches what was read of a trace, and its messages, which are read twice, page by page. */
const searchOnce = async (
  { api, namespaceSlug: namespace }: Connection,
  { trace, revision }: Read,
  options: Options,
) => {
  const { externalId } = trace
  /** The message that was yielded last, as it is stored and as it was searched. */
  let current: { readonly stored: StoredMessage; readonly searched: ReturnType<typeof toSearch> } | undefined

  async function* messages() {
    const query = { namespace, limit: PAGE, includeParts: true }
    const read = (cursor: string | undefined) =>
      api.messages(externalId, cursor === undefined ? query : { ...query, cursor })
    for await (const page of pagesOf(read))
      for (const stored of page.messages) {
        current = { stored, searched: toSearch(stored) }
        yield current.searched
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
      if (message !== current!.searched) yield toSend(message, current!.stored)
  }

  const replace = async (): Promise<Replaced> => {
    const given = Object.entries(redacted.session.trace)
    const before: Readonly<Record<string, unknown>> = { ...session.trace }
    const fields = Object.fromEntries(given.filter(([name, value]) => value !== before[name]))
    let expected: number | undefined = revision
    if (Object.keys(fields).length > 0)
      expected = revisionAfterPatch(expected, await api.patchTrace(namespace, externalId, fields, expected))
    let count = 0
    for await (const batch of toBatches(changed())) {
      const texts = batch.map(({ json }) => json)
      expected = revisionAfterBatch(expected, await api.upsertMessages(namespace, externalId, texts, expected))
      count += batch.length
    }
    return { messages: count, fields: Object.keys(fields).length }
  }
  return { redactions: redacted.redactions, replace }
}

/** Searches the fields and messages of a trace. @throws RequestFailed */
export const searchTrace = async (
  connection: Connection,
  { externalId }: Pick<TraceDetail, 'externalId'>,
  options: Options,
): Promise<FoundSecrets> => {
  const { api, namespaceSlug: namespace } = connection
  const search = async () => {
    const { revision } = await api.messages(externalId, { namespace, limit: 1, includeParts: false })
    const trace = (await api.trace(externalId, namespace)) as TraceDetail
    return searchOnce(connection, { trace, revision }, options)
  }
  let found = await search()
  const again = async () => {
    found = await search()
  }
  return { redactions: found.redactions, replace: () => whileOthersWrite(() => found.replace(), again) }
}
