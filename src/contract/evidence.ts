import { z } from 'zod'

/**
 * An evidence file (`*.evidence.json`): from lines of commits to events of the log, to be checked without the service.
 * `../commands/audit/README.md` says what each member means, how it is checked, and what it proves. Unknown members are ignored.
 */

/** A change that an older verifier would read wrongly gets another number. */
export const EVIDENCE_FORMAT = 'tracebook-evidence/1'

/** All evidence files, of this format and of later ones, begin their `format` with this. */
export const EVIDENCE_FORMATS = 'tracebook-evidence/'

/** A place in a list of the file, from 0. */
const Place = z.int().min(0)

const SHA = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

/** In characters of Unicode; so a path can be named on a command line. */
const MOST_PATH = 4_096

const isInRepository = (path: string): boolean =>
  [...path].length <= MOST_PATH &&
  !path.includes('\0') &&
  !path.split('/').some((name) => ['', '.', '..'].includes(name))

/** Lines of a file as a commit has it, both included, counted from 1. */
const Lines = z
  .object({
    path: z.string().refine(isInRepository, { error: 'must be a path from the root of the repository' }),
    start: z.int().min(1),
    end: z.int().min(1),
  })
  .refine(({ start, end }) => start <= end, { error: 'must not end before its start' })

/** An event with its inclusion proof; a withheld one has the hash of its leaf instead of its text. Hashes are 32 bytes in base64, those of a proof from the leaf upwards. */
const Event = z
  .object({
    index: z.int().min(0),
    proof: z.array(z.string()),
    entry: z.string().optional(),
    leaf: z.string().optional(),
  })
  .refine(({ entry, leaf }) => (entry === undefined) !== (leaf === undefined), {
    error: 'must have either an entry or a leaf',
  })

/** A session, and the event that it begins with: its creation, or the erasure of its past. */
const Session = z.object({
  namespace: z.string(),
  traceId: z.string(),
  externalId: z.string(),
  agentId: z.string(),
  begins: Place,
})

/** Lines that one call of a session wrote, and the events that wrote its message. */
const Range = Lines.safeExtend({
  evidence: z.enum(['replaced', 'run']),
  session: Place,
  events: z.array(Place).min(1),
})

/** The lines that a commit added: those of sessions, and all others. */
const Commit = z.object({
  repository: z.string().optional(),
  sha: z.string().regex(SHA),
  ranges: z.array(Range),
  unknown: z.array(Lines),
})

const Deletion = z.object({ traceId: z.string(), event: Place })

const Log = z.object({
  origin: z.string(),
  /** The key in its verifier form, `<name>+<hash>+<base64>`. Whether it is that of the log, the file cannot prove. */
  key: z.string(),
  /** A signed note. All inclusion proofs lead to its root. */
  checkpoint: z.string(),
  /** An older checkpoint, and the proof that the log has continued it. */
  previous: z.object({ checkpoint: z.string(), proof: z.array(z.string()) }).optional(),
})

export const Evidence = z.object({
  format: z.literal(EVIDENCE_FORMAT),
  /** Milliseconds since 1970. */
  madeAt: z.int(),
  madeBy: z.string(),
  log: Log,
  /** Ascending by `index`, each event once. */
  events: z.array(Event),
  sessions: z.array(Session),
  commits: z.array(Commit),
  deletions: z.array(Deletion),
})
export type Evidence = z.infer<typeof Evidence>

export type EvidenceEvent = z.infer<typeof Event>
export type EvidenceSession = z.infer<typeof Session>
export type EvidenceRange = z.infer<typeof Range>
export type EvidenceCommit = z.infer<typeof Commit>
export type EvidenceLines = z.infer<typeof Lines>
export type EvidenceDeletion = z.infer<typeof Deletion>
