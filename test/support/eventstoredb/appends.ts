import { type ServerReadableStream, type sendUnaryData, status } from '@grpc/grpc-js'
import type { AppendReq, AppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import { type Faults, type Loss, failure, unknown } from './faults.ts'
import { appendResponse, expectedOf, nameOf, proposedOf } from './messages.ts'
import type { ExpectedRevision, Proposed, Record, Store } from './store.ts'
import type { Visibility } from './visibility.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

type Call = ServerReadableStream<AppendReq, AppendResp>

export type AppendSetting = {
  readonly store: Store
  readonly faults: Faults
  readonly visibility: Visibility
  readonly maxAppendSize: number
  /** Spends what an append of so many events costs besides. */
  readonly spend: (events: number) => Promise<void>
  readonly now: () => number
  readonly stored: (records: readonly Record[]) => void
  /** Breaks all connections. */
  readonly reset: () => void
}

/** What appends have been asked for: some kinds must never be. */
export type AppendCounts = {
  readonly expected: { [kind: string]: number }
  /** The connections over which they came. */
  readonly peers: Set<string>
  empty: number
  most: number
  open: number
}

export const newAppendCounts = (): AppendCounts => ({
  expected: {},
  peers: new Set(),
  empty: 0,
  most: 0,
  open: 0,
})

const isOver = (call: Call) => call.cancelled || Number(call.getDeadline()) <= Date.now()

const receive = async (call: Call) => {
  let [stream, expected]: [string, ExpectedRevision] = ['', 'any']
  const events: Proposed[] = []
  for await (const request of call as AsyncIterable<AppendReq>) {
    const options = request.getOptions()
    if (options) [stream, expected] = [nameOf(options.getStreamIdentifier()), expectedOf(options)]
    else events.push(proposedOf(request.getProposedMessage()!))
  }
  return { stream, expected, events }
}

const refusal = (events: readonly Proposed[], maxAppendSize: number) => {
  const bytes = events.reduce((sum, { data }) => sum + data.length, 0)
  if (bytes > maxAppendSize)
    return failure(status.INVALID_ARGUMENT, `Maximum Append Size of ${maxAppendSize} Exceeded.`, {
      exception: 'maximum-append-size-exceeded',
      'maximum-append-size': `${maxAppendSize}`,
    })
  const isGood = events.every(({ id, type }) => UUID.test(id) && type !== '')
  return isGood ? undefined : unknown('Exception was thrown by handler.')
}

/** The client-streaming append (sheet, 1 and 2): all of it is received, then written whole or not at all. */
export const answerAppend = async (
  call: Call,
  answer: sendUnaryData<AppendResp>,
  { store, faults, visibility, maxAppendSize, spend, now, stored, reset }: AppendSetting,
  counts: AppendCounts,
): Promise<void> => {
  const { stream, expected, events } = await receive(call)
  counts.peers.add(call.getPeer())
  counts.most = Math.max(counts.most, (counts.open += 1))
  const failed = (await faults.enter('append', call.metadata)) ?? refusal(events, maxAppendSize)
  counts.open -= 1
  if (isOver(call)) return // the server's writer drops what nobody waits for any more
  if (failed) return answer(failed)
  await spend(events.length)
  const kind = typeof expected === 'bigint' ? 'revision' : expected
  counts.expected[kind] = (counts.expected[kind] ?? 0) + 1
  if (events.length === 0) counts.empty += 1
  const outcome = store.append(stream, expected, events, now())
  if (outcome.is === 'stored') {
    await visibility.stored(outcome.fresh)
    stored(outcome.fresh)
  }
  const loss: Loss | undefined = faults.loss()
  if (loss === 'reset') reset()
  else if (loss === undefined) answer(null, appendResponse(outcome, expected))
}
