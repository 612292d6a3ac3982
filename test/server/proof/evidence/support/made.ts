import type { Evidence } from '../../../../../src/contract/evidence.ts'
import type { ProvenEventOfTrace } from '../../../../../src/contract/proof.ts'
import { signCheckpoint } from '../../../../../src/server/proof/checkpoint.ts'
import type { CitingCommit } from '../../../../../src/server/proof/evidence/assemble.ts'
import { assembleEvidence } from './assemble.ts'
import { leafHash } from '../../../../../src/server/proof/tree.ts'
import { naivePath, naiveProof, naiveRoot } from '../../naive.ts'
import { signer } from '../../support.ts'

/** An event of a made log. */
type Written = { readonly trace: string; readonly type: string; readonly at?: number; readonly data: object }

export const AT = Date.parse('2026-03-02T10:00:00.000Z')
export const AUTHOR = '11111111-1111-4111-8111-111111111111'

const entryOf = ({ trace, type, at = AT, data }: Written, i: number): string => {
  const metadata = { at: at, actor: { userId: AUTHOR }, schema: 1, append: { id: `append-${i}`, index: 0, size: 1 } }
  return JSON.stringify([`event-${i}`, `trace-${trace}`, type, JSON.stringify(metadata), JSON.stringify(data)])
}

/** A log with these events, and what a service would answer about it. */
export const newLog = (written: readonly Written[]) => {
  const entries = written.map(entryOf)
  const leaves = entries.map(leafHash)
  const size = leaves.length
  const base64 = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString('base64'))
  const note = (of = size) => signCheckpoint({ size: of, root: naiveRoot(leaves.slice(0, of)) }, signer)
  const proven = (index: number): ProvenEventOfTrace => {
    const { type, data } = written[index]!
    const message = type.startsWith('Message') ? { message: (data as { externalId: string }).externalId } : {}
    return { revision: 0, type, ...message, index, entry: entries[index]!, proof: base64(naivePath(index, leaves)) }
  }
  const previous = (of: number) => ({ checkpoint: note(of), proof: base64(naiveProof(of, leaves)) })
  return { size, note, proven, previous, log: { origin: signer.name, key: signer.verifier.text, checkpoint: note() } }
}

export const session = (traceId: string, externalId: string) => ({
  namespace: 'my-team',
  traceId,
  externalId,
  agentId: 'claude-code',
})

export const SHA = 'a'.repeat(40)

const created = (trace: string, externalId: string) => ({ trace, type: 'TraceCreated', data: { externalId } })
const call = (externalId: string, text: string) => ({
  externalId,
  parts: [{ type: 'tool_call', content: { toolName: 'Write', args: { file_path: 'src/a.ts', content: text } } }],
})

/** The file of the commit in `goodFile`. */
export const LINES = [
  'const first = compute(1)',
  '}',
  '  const second = compute(2)',
  'typed by a person',
  'const patched = 3',
]

/** A file of two sessions, one of which was deleted, with the lines of one commit. */
export const goodFile = (): Evidence => {
  const { log, proven, previous } = newLog([
    created('t1', 'one'),
    { trace: 't1', type: 'MessageAdded', data: call('m1', 'const first = compute(1)\n}\nconst second = compute(2)\n') },
    created('t2', 'two'),
    { trace: 't2', type: 'MessageAdded', data: call('m1', '*** Begin Patch\n+const patched = 3\n') },
    { trace: 't1', type: 'MessageUpdated', data: { externalId: 'm1', patch: [] } },
    { trace: 't3', type: 'TraceDeleted', data: { externalId: 'three' } },
    { trace: 't9', type: 'TraceUpdated', data: {} },
  ])
  const range = { path: 'src/a.ts', session: 0, message: 'm1' }
  const commit: CitingCommit = {
    sha: SHA,
    ranges: [
      { ...range, start: 1, end: 3, evidence: 'run' },
      { ...range, start: 5, end: 5, evidence: 'replaced', session: 1 },
    ],
    unknown: [{ path: 'src/a.ts', start: 4, end: 4 }],
  }
  return assembleEvidence({
    ...{ madeAt: AT, madeBy: 'tracebook 0.0.0', log: { ...log, previous: previous(3) } },
    sessions: [
      { ...session('t1', 'one'), answers: [{ events: [proven(0), proven(1), proven(4)] }, { events: [proven(0)] }] },
      { ...session('t2', 'two'), answers: [{ events: [proven(2), proven(3)] }] },
    ],
    commits: [commit],
    deletions: [{ traceId: 't3', proof: proven(5) }],
  })
}

export const bytesOf = (file: unknown): Uint8Array => Buffer.from(JSON.stringify(file))
