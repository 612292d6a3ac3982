import { randomUUID } from 'node:crypto'
import { Rejected } from '../../../src/eventstore/engine/rejected.ts'
import { needOf, upsertMessages } from '../../../src/server/trace/messages/decide.ts'
import { remove, upsert } from '../../../src/server/trace/decide.ts'
import type { TraceState } from '../../../src/server/trace/state.ts'
import type { Engine } from '../../support/engine.ts'
import type { Step } from './arbitraries.ts'

const writer = { userId: randomUUID(), role: 'member' as const }

/** Carries out a step as a route would; a refusal is an answer too. */
export const take = async (
  { traces: transactor, watermark }: Engine,
  id: string,
  namespaceId: string,
  wanted: Step,
) => {
  const given = (wanted.do === 'put' ? { title: wanted.title, visibility: wanted.visibility } : {}) as object
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const answer = ({ trace }: TraceState) => trace.is
  const command =
    wanted.do === 'put'
      ? { decide: upsert(writer, { externalId: 'x', namespaceId }, fields), answer }
      : wanted.do === 'delete'
        ? { decide: remove(writer), answer }
        : {
            decide: upsertMessages(writer, wanted.upserts),
            answer,
            need: needOf(wanted.upserts),
          }
  try {
    const { position } = await transactor.transact(id, command, {})
    await watermark.waitFor(position, 60_000)
  } catch (error) {
    if (!(error instanceof Rejected)) throw error
  }
}
