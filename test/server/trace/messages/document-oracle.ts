import { hash } from 'node:crypto'
import type { PatchOperation } from '../../../../src/base/json/patch-operation.ts'
import type { MessageClass } from '../../../../src/server/trace/messages/message-class.ts'
import { type MessageDocument, type MessageUpsert, difference } from '../../../../src/server/trace/messages/message.ts'
import { merge } from '../arbitraries.ts'

/** What an upsert came to while decisions had whole documents and compared digests of them. */
export type OracleOutcome = {
  readonly result: 'created' | 'updated' | 'unchanged'
  readonly class: MessageClass
  readonly ownTools: readonly string[]
  readonly patch: readonly PatchOperation[] | undefined
}

const digestOf = ({ role, textContent, model, order, timestamp, usage, parts }: MessageDocument): string =>
  hash(
    'sha256',
    JSON.stringify([role, textContent ?? null, model ?? null, order ?? null, timestamp ?? null, usage ?? null]) +
      parts.map(({ json }) => json).join(),
    'base64url',
  )

const classOf = ({ role, textContent, parts }: MessageDocument): MessageClass => {
  if (role === 'system') return 'agent_context'
  if (role === 'user')
    return parts.length > 0 && parts.every(({ type }) => type === 'tool_result') ? 'agent_context' : 'user_message'
  if (parts.some(({ type }) => type === 'tool_call')) return 'tool_call'
  if ((textContent ?? '').trim() !== '' || parts.some(({ hasText }) => hasText)) return 'agent_text'
  return parts.some(({ type }) => type === 'thinking') ? 'agent_thinking' : 'agent_text'
}

/** Messages as documents, upserted one after the other. */
export const newOracle = () => {
  const documents = new Map<string, MessageDocument>()
  const upsert = ({ externalId, given }: MessageUpsert): OracleOutcome => {
    const before = documents.get(externalId)
    const after = merge(before, given)
    documents.set(externalId, after)
    const counted = { class: classOf(after), ownTools: after.parts.flatMap(({ tool }) => tool ?? []) }
    if (!before) return { result: 'created', ...counted, patch: undefined }
    if (digestOf(after) === digestOf(before)) return { result: 'unchanged', ...counted, patch: undefined }
    return { result: 'updated', ...counted, patch: difference(before, after) }
  }
  return { upsert, documents: (): ReadonlyMap<string, MessageDocument> => documents }
}
