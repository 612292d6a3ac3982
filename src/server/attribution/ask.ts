import { traceId } from '../../base/ids.ts'
import { newKeyedHash } from '../../base/line-hashes.ts'
import { newYielding } from '../../base/yielding.ts'
import type { AttributionQuestion, Attributions } from '../../contract/attribution.ts'
import { Rejected, withTimeout } from '../../eventstore/engine/rejected.ts'
import type { ReadRows } from '../../eventstore/engine/in-snapshot.ts'
import { answer } from './answer.ts'
import type { Question } from './known.ts'
import { MOST_MS } from './reads.ts'
import type { AttributionServices } from './services.ts'

const KEY_CHANGED = 'The namespace has another key: read it again, and hash the lines with it'
const LATE = 'The answer would take longer than two seconds: ask for fewer lines, or again later'

type Asked = Pick<AttributionQuestion, 'key' | 'hunks'> & {
  readonly repositories?: readonly string[] | undefined
  readonly without?: readonly string[] | undefined
}

/**
 * Answers a question about a namespace, from one snapshot.
 * @throws Rejected key_changed; Unavailable if it takes too long
 */
export const inSnapshot = async <T>(
  { attributions, lineKeys, now, reads }: AttributionServices,
  namespaceId: string,
  { key, hunks, repositories = [], without = [] }: Asked,
  work: (read: ReadRows, question: Question) => Promise<T>,
): Promise<T & { readonly indexedThrough: number }> => {
  const { id, secret } = await lineKeys.of(namespaceId)
  if (id !== key) throw new Rejected('key_changed', KEY_CHANGED)
  const time = now()
  const question: Question = {
    ...{ namespaceId, hash: newKeyedHash(secret), hunks, repositories, now: time },
    commonLines: attributions.commonLines,
    turn: newYielding(),
    isShown: (trace) => reads.isNotQuarantined(`trace-${trace}`, `namespace-${namespaceId}`),
    without: new Set(without.map((externalId) => traceId(namespaceId, externalId))),
  }
  const indexedThrough = time - Math.ceil(attributions.behindMs())
  const found = attributions.snapshot((read) => work(read, question))
  return { ...(await withTimeout(MOST_MS, LATE, found)), indexedThrough }
}

/** Which sessions wrote the lines of hunks. @throws Rejected key_changed; Unavailable if it takes too long */
export const ask = (services: AttributionServices, namespaceId: string, asked: Asked): Promise<Attributions> =>
  inSnapshot(services, namespaceId, asked, answer)
