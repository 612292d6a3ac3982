import * as assert from 'uvu/assert'
import { isShown } from '../../../../../src/server/proof/evidence/check-event.ts'
import { type CheckedSession, checkEvidence } from '../../../../../src/server/proof/evidence/check.ts'
import { until } from '../../../../support/until.ts'
import type { Person } from '../../../../support/world.ts'
import { elementsOf, textOf } from '../../../../transcript/support/elements.ts'
import { signer } from '../../support.ts'

export const textMessage = (externalId: string, textContent: string) => ({ externalId, role: 'user', textContent })

/** Downloads the evidence of a session, and checks it. Asks again while no checkpoint covers it. */
export const evidenceOf = async ({ open }: Pick<Person, 'open'>, page: string) => {
  const body = await until(async () => {
    const { statusCode, headers, body } = await open(`${page}/-/evidence.json`)
    if (statusCode === 200) return body
    assert.equal([statusCode, headers['retry-after']], [404, '2'], body)
    return undefined
  })
  const { events, sessions, commits, deletions } = checkEvidence(Buffer.from(body), { key: signer.verifier.text })
  const [{ begins, ...session }] = sessions as [CheckedSession]
  for (const event of events) assert.ok(isShown(event) && event.stream === `trace-${session.traceId}`)
  const shown = events.filter(isShown)
  assert.ok(shown.includes(begins!))
  assert.equal([commits, deletions], [[], []])
  return { body, session, begins: begins!.type, told: shown.map(({ type, externalId }) => [type, externalId]) }
}

/** What the timeline says, newest first, with the proof of each entry. */
export const timelineOf = async ({ open }: Pick<Person, 'open'>, page: string) => {
  const { statusCode, body } = await open(`${page}/-/timeline`)
  assert.is(statusCode, 200, body.slice(0, 500))
  const items = [...body.matchAll(/<li><div class="at">.*?<\/li>/gs)].map(([item]) => item)
  return items.map((item) => ({
    text: textOf(elementsOf(`<!doctype html>${/<span dir="auto">.*?<\/span>/s.exec(item)![0]}`)[0]!),
    proof: /href="([^"]+)"/.exec(item)?.[1]!.replaceAll('&amp;', '&'),
  }))
}
