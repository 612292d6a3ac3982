import type { FastifyInstance } from 'fastify'
import { MOST_PROOF_BYTES, type ProofOfMessages, type ProvenEventOfTrace, audit } from '../../contract/proof.ts'
import { invalid } from '../http/http-error.ts'
import { type JsonText, jsonText, jsonTexts } from '../http/json-text.ts'
import { arrayTexts } from '../http/reply.ts'
import { route } from '../http/route.ts'
import { type PresentTraceRow, traceWithTimeline } from '../history/locate.ts'
import { type WrittenEvent, eventsOfMessages } from '../history/message-events.ts'
import { listOfHistory } from '../history/open-past.ts'
import { clientsOf } from '../history/past.ts'
import type { HistoryServices } from '../history/services.ts'
import { type ProvenEvent, proveEvents, requireCheckpoint } from './event-proof.ts'
import { notCovered } from './not-covered.ts'
import type { ProofServices } from './services.ts'
import { windowsOf } from './windows.ts'

type Services = ProofServices & HistoryServices

const tooLarge = () => invalid('messages', 'The events of these messages have more than 8 MiB: ask for fewer messages')

const provenText = ({ event, message }: WrittenEvent, { index, entry, proof }: ProvenEvent) =>
  jsonText<ProvenEventOfTrace>({
    revision: String(event.revision),
    type: JSON.stringify(event.type),
    message: message === undefined ? undefined : JSON.stringify(message),
    index: String(index),
    entry: JSON.stringify(entry),
    proof: JSON.stringify(proof),
  })

/** The events of these messages with their proofs in the tree of a size; undefined if that does not cover all of them. @throws 400, 404, Unavailable */
const provenTexts = async (services: Services, trace: PresentTraceRow, messages: readonly string[], size: number) => {
  const texts: JsonText<ProvenEventOfTrace>[] = []
  let all = 0
  for await (const { items, bytes } of windowsOf(eventsOfMessages(services, trace, messages))) {
    all += bytes
    if (all > MOST_PROOF_BYTES) throw tooLarge()
    const events = items.map(({ event }) => event)
    const proven = await proveEvents(services, events, size)
    if (!proven) return undefined
    for (const [i, written] of items.entries()) texts.push(provenText(written, proven[i]!))
  }
  return texts
}

/** The tree that proofs are asked for: of the newest checkpoint, with it, or of a size. @throws 404 if no checkpoint covers that */
const treeOf = async (services: Services, asked: number | undefined) => {
  const { size, note } = await requireCheckpoint(services)
  if (asked === undefined) return { size, checkpoint: note }
  if (asked > size) throw notCovered()
  return { size: asked, checkpoint: undefined }
}

/** Proofs of what the log has of some messages of a trace, for members of its namespace. */
export const messageProofRoute = (app: FastifyInstance, services: Services): void =>
  route(app, audit, 'POST /v1/traces/{externalId}/proofs', async (request, reply) => {
    const { params, query, body, caller } = request
    const trace = await traceWithTimeline(services, { ...params, ...query }, caller)
    const { size, checkpoint } = await treeOf(services, body.size)
    await reply.reserveMemory(MOST_PROOF_BYTES)
    const events = await services.longLists.turn(clientsOf(trace.namespace_id), () =>
      provenTexts(services, trace, body.messages, size),
    )
    if (!events) throw notCovered()
    await listOfHistory(services, trace, caller).check()
    return jsonTexts<ProofOfMessages>({
      size: String(size),
      checkpoint: checkpoint && JSON.stringify(checkpoint),
      events: arrayTexts(events),
    })
  })
