import { type Input, type Outcome, outcomeOf } from '../http/body-thread.ts'
import { readBatch, readMessage } from './body.ts'
import type { MessageUpsert } from './message.ts'

/** What runs on the threads that read bodies, by these names. */
export const batch = ({ bytes }: Input): Outcome<readonly MessageUpsert[]> => outcomeOf(() => readBatch(bytes))

export const message = ({ bytes }: Input): Outcome<Omit<MessageUpsert, 'externalId'>> => outcomeOf(() => readMessage(bytes))
