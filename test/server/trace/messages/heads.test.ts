import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { traces } from '../../../../src/server/trace/decide.ts'
import type { TraceState } from '../../../../src/server/trace/state.ts'
import type { TraceEvent } from '../../../../src/server/trace/events.ts'
import { needOf, upsertMessages } from '../../../../src/server/trace/messages/decide.ts'
import {
  headOfPart,
  headOfParts,
  headOfText,
  joinHeads,
  partHeadLine,
  partsHeadLine,
  readPartHead,
  readPartsHead,
  readTextHead,
  textHeadLine,
} from '../../../../src/server/trace/messages/heads.ts'
import { LoadedMessages, type MessageHead } from '../../../../src/server/trace/messages/loaded.ts'
import { type MessageDocument, applyPatch, headsOf } from '../../../../src/server/trace/messages/message.ts'
import { storedPart } from '../../../../src/server/trace/messages/part.ts'
import { foldAll } from '../../../support/given.ts'
import { part, upsert } from '../arbitraries.ts'
import { newOracle } from './document-oracle.ts'
import { runs } from '../../../support/runs.ts'

const test = suite('trace/messages/heads')

const writer = { userId: 'ada', role: 'member' } as const
const origin = { externalId: 'x', namespaceId: 'n', createdBy: 'ada' }
const created: TraceEvent = { type: 'TraceCreated', data: { ...origin, agentId: 'a', visibility: 'private' } }

/** A batch, and what of the state is in memory when it comes: all, or only what is loaded for it. */
const batch = fc.record({
  upserts: fc.array(upsert, { minLength: 1, maxLength: 5 }),
  isLoaded: fc.boolean(),
  isTrimmed: fc.boolean(),
})

/** The state with nothing of its messages but what the source would load for these upserts. */
const loadedFor = (
  { trace, messages }: TraceState,
  documents: ReadonlyMap<string, MessageDocument>,
  need: ReturnType<typeof needOf>,
) => {
  const loaded = new LoadedMessages(documents.size)
  for (const [externalId, parts] of need) {
    const head = messages.find(externalId)
    loaded.set(externalId, head as MessageHead | 'none')
    if (parts && loaded.lacksDigests(externalId, parts))
      loaded.setDigests(
        externalId,
        documents
          .get(externalId)!
          .parts.slice(0, parts.count)
          .map(({ digest }) => digest),
      )
  }
  return { trace, messages: loaded }
}

/** Documents as the events make them. */
const fold = (documents: Map<string, MessageDocument>, event: TraceEvent) => {
  if (event.type === 'MessageAdded') {
    const { externalId, ordinal: _, class: __, tools: ___, heads: ____, ...document } = event.data
    documents.set(externalId, document as MessageDocument)
  } else if (event.type === 'MessageUpdated')
    documents.set(event.data.externalId, applyPatch(documents.get(event.data.externalId)!, event.data.patch))
}

test('decisions on heads are equal to those on documents, for any sequence of upserts', () => {
  let updated = 0
  const law = fc.property(fc.array(batch, { minLength: 1, maxLength: 8 }), (batches) => {
    let whole = foldAll(traces, [created])
    const oracle = newOracle()
    const folded = new Map<string, MessageDocument>()
    for (const { upserts, isLoaded, isTrimmed } of batches) {
      if (isTrimmed) whole.messages.trim()
      const state = isLoaded ? loadedFor(whole, oracle.documents(), needOf(upserts)) : whole
      const { events, result } = upsertMessages(writer, upserts)(state, 1, 1)
      for (const [i, one] of result.entries()) {
        const { ownTools, ...expected } = oracle.upsert(upserts[i]!)
        assert.equal({ result: one.result, class: one.head.class, patch: one.patch }, expected)
        assert.equal(one.head.tools, ownTools)
        if (one.result === 'updated') updated += 1
      }
      for (const event of events) fold(folded, event)
      whole = foldAll(traces, events, whole)
      assert.equal(folded, new Map(oracle.documents()))
      for (const [externalId, document] of folded) {
        const head = whole.messages.find(externalId) as MessageHead
        const { text, parts } = headsOf(document)
        assert.equal([head.text, head.parts], [text, parts])
      }
    }
  })
  fc.assert(law, { numRuns: runs(1_000) })
  assert.ok(updated > runs(1_000), `${updated} updates`)
})

test('heads of different texts differ, and are parsed as they were written', () => {
  const law = fc.property(
    fc.array(part, { maxLength: 5 }),
    fc.array(part, { maxLength: 5 }),
    fc.string(),
    (one, other, text) => {
      const [stored, others] = [one.map(storedPart), other.map(storedPart)]
      const head = headOfParts(stored)
      const isSame = JSON.stringify(one) === JSON.stringify(other)
      assert.is(head.digest === headOfParts(others).digest, isSame)
      assert.equal(readPartsHead(partsHeadLine(head), head.count, head.length), head)
      assert.equal(joinHeads(stored.map((part) => readPartHead(partHeadLine(headOfPart(part))))), head)
      assert.equal(readTextHead(textHeadLine(headOfText(text))), headOfText(text))
    },
  )
  fc.assert(law)
})

test('the heads of texts that differ only in a lone surrogate differ', () => {
  const digests = ['x\ud800', 'x\ud801', 'x\ufffd', '"x\\ud800"'].map((text) => headOfText(text).digest)
  assert.is(new Set(digests).size, digests.length)
})

test.run()
