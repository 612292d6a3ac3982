import {
  BatchFrame,
  BatchItem,
  MOST_BATCH_PARTS,
  MOST_PARTS,
  MessageUpsert as MessageBody,
} from '../../../contract/message.ts'
import { check, checkEach, nameOf } from '../../http/check.ts'
import { invalid } from '../../http/http-error.ts'
import { type MessageInRequest, type MessageUpsert, fieldsAndHeadsOf, toUpsert } from './message.ts'

const countParts = (message: unknown): number => {
  const parts = (message as { parts?: unknown } | null | undefined)?.parts
  return Array.isArray(parts) ? parts.length : 0
}

const tooManyParts = (count: number) => `at most ${MOST_PARTS} parts in a message, but it has ${count}`

const assertFewParts = (messages: readonly unknown[]) => {
  const counts = messages.map(countParts)
  const large = counts.findIndex((count) => count > MOST_PARTS)
  if (large >= 0)
    throw invalid('messages', `messages[${large}].parts: ${tooManyParts(counts[large]!)}${nameOf(messages[large])}`)
  const sum = counts.reduce((total, count) => total + count, 0)
  if (sum > MOST_BATCH_PARTS)
    throw invalid('messages', `at most ${MOST_BATCH_PARTS} parts in a batch, but it has ${sum}: send it in several`)
}

/**
 * The message of a request to write one message; its `externalId` is in the path. Parts are counted before they are validated:
 * otherwise the error could list the problems of a million parts.
 * @throws HttpError invalid_request
 */
export const readMessage = (body: unknown): Omit<MessageUpsert, 'externalId'> => {
  const count = countParts(body)
  if (count > MOST_PARTS) throw invalid('parts', tooManyParts(count))
  check(MessageBody, body)
  return fieldsAndHeadsOf(body as MessageInRequest)
}

/** The messages of a request to write a batch. @throws HttpError invalid_request */
export const readBatch = (body: unknown): MessageUpsert[] => {
  const { messages } = check(BatchFrame, body) as BatchFrame
  assertFewParts(messages)
  checkEach('messages', BatchItem, messages)
  return (messages as BatchItem[]).map((item) => toUpsert(item.externalId, item))
}
