import '../low-priority.ts'
import { wholeOf } from '../http/body-bytes.ts'
import { type Input, type Outcome, outcomeOf } from '../http/body-thread.ts'
import { readBatch, readMessage } from './body.ts'
import type { MessageUpsert } from './message.ts'

/** What runs on the threads that read bodies, by these names. */
export const batch = (input: Input): Outcome<readonly MessageUpsert[]> => outcomeOf(() => readBatch(wholeOf(input)))

export const message = (input: Input): Outcome<Omit<MessageUpsert, 'externalId'>> =>
  outcomeOf(() => readMessage(wholeOf(input)))
