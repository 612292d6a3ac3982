import fc from 'fast-check'
import { Rejected } from '../../../src/eventstore/engine/rejected.ts'
import {
  type DecideNamespace,
  type PresentNamespace,
  changeAvatar,
  createNamespace,
  presentNamespace,
  namespaces,
  updateNamespace,
} from '../../../src/server/namespace/decide.ts'
import { acceptInvite, createInvite, revokeInvite } from '../../../src/server/namespace/decide-invites.ts'
import { changeRole, removeMember } from '../../../src/server/namespace/decide-members.ts'
import type { NamespaceEvent } from '../../../src/server/namespace/events.ts'

/** Ids as the service makes them, few enough to meet each other. */
export const people = Array.from({ length: 5 }, (_, i) => `00000000-0000-4000-8000-00000000000${i}`)
const codes = Array.from({ length: 4 }, (_, i) => `code0000${i}`)

const person = fc.constantFrom(...people)
/** The founder more often than others, or most of what is tried would be forbidden. */
const actor = fc.oneof(fc.constant(people[0]!), person)
const code = fc.constantFrom(...codes)
const role = fc.constantFrom('admin' as const, 'member' as const)
const text = fc.constantFrom('Acme', '', 'NUL \0', 'half \ud83d', 'ÄÖ')

const retentionDays = fc.constantFrom(null, 1, 365)
const change = fc.record({ displayName: text, description: text, retentionDays }, { requiredKeys: [] })
const maxUses = fc.constantFrom({}, { maxUses: 0 }, { maxUses: 1 }, { maxUses: 2 }, { maxUses: 3 })

const intent: fc.Arbitrary<DecideNamespace> = fc.oneof(
  fc.tuple(actor, change).map(([actor, change]) => updateNamespace(actor, change)),
  fc.tuple(actor, person, role).map(([actor, user, role]) => changeRole(actor, user, role)),
  fc.tuple(actor, code).map(([actor, storageId]) => changeAvatar(actor, storageId)),
  fc.tuple(actor, person).map(([actor, user]) => removeMember(actor, user)),
  person.map((user) => removeMember(user, user)),
  fc
    .tuple(actor, code, role, maxUses)
    .map(([actor, code, role, limit]) => createInvite(actor, { code, role, ...limit })),
  fc.tuple(actor, code).map(([actor, code]) => revokeInvite(actor, code)),
  { weight: 3, arbitrary: fc.tuple(person, code).map(([id, code]) => acceptInvite({ id, verifiedEmails: [] }, code)) },
)

/** A thing that happened, when, and the state that it led to. */
export type Step = { readonly event: NamespaceEvent; readonly at: number; readonly after: PresentNamespace }

type Attempt = readonly [DecideNamespace, number]

const NOON = Date.UTC(2026, 0, 1, 12)
const found = createNamespace({ slug: 'acme', displayName: 'Acme', type: 'org', createdBy: people[0]! })

const attempt = (decide: DecideNamespace, state: Parameters<DecideNamespace>[0], now: number) => {
  try {
    return decide(state, now, now)
  } catch (error) {
    if (error instanceof Rejected) return []
    throw error
  }
}

const play = (attempts: readonly Attempt[]): Step[] => {
  let state = namespaces.initial()
  let now = NOON
  const steps: Step[] = []
  for (const [decide, pause] of [[found, 0] as const, ...attempts]) {
    now += pause
    for (const event of attempt(decide, state, now)) {
      state = namespaces.evolve(state, event, { at: now })
      steps.push({ event, at: now, after: structuredClone(presentNamespace(state)) })
    }
  }
  return steps
}

const pause = fc.oneof(
  { weight: 40, arbitrary: fc.nat(1_000) },
  { weight: 1, arbitrary: fc.constant(25 * 60 * 60 * 1_000) },
)

/** Everything that could come of a namespace: intents of anybody in any order, at times a day apart. */
export const histories = fc.array(fc.tuple(intent, pause), { minLength: 10, maxLength: 80, size: 'max' }).map(play)
