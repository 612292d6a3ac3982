/** Why something is not seen, as the end of a sentence for people. */
export type Unseen = { readonly unseen: string }

/** A right of PostgreSQL that the role has not, what is not seen without it, and the statement with which a superuser grants it. */
export type MissingRight = { readonly right: string; readonly hides: string; readonly grant: string }

/**
 * What the tables of a part of the database take, with their indexes. The part `unused` are read models of other versions, and of rebuilds; `other`
 * is operational data. Rows are as the server estimates them. `isEstimate`: the bytes are, too, as of the last vacuum.
 */
export type Size = {
  readonly part: string
  readonly bytes: number
  readonly rows: number
  readonly isEstimate: boolean
}

/** Events that were appended; undefined while the log is younger than a day, or a week. */
export type Growth = { readonly lastDay?: number; readonly lastWeek?: number }

/** In bytes. `reserve` is what has to stay free. */
export type Disk = { readonly folder: string; readonly used: number; readonly free: number; readonly reserve: number }

/** `open` and `free` are connections of the server, `ours` those of the service among them; each of its processes may open `ofEach`. */
export type Connections = {
  readonly open: number
  readonly free: number
  readonly processes: number
  readonly ours: number
  readonly ofEach: number
}

/**
 * How far read models are behind the log: by how many events, and for how many milliseconds the first of them has been waiting. `isStopped`: too many
 * of them could not be applied.
 */
export type GroupLag = {
  readonly group: string
  readonly events: number
  readonly ms: number
  readonly isStopped: boolean
}

/** A replication slot. `kept` are the bytes of WAL that the server keeps for it, undefined if it has lost some; `status` is PostgreSQL's `wal_status`. */
export type Slot = {
  readonly name: string
  readonly isActive: boolean
  readonly status: string
  readonly kept?: number
}

/** `most` are the bytes that are kept for a slot at most. Undefined without such a limit; `perDay` while its statistics are younger than a day. */
export type Wal = { readonly slots: readonly Slot[]; readonly most?: number; readonly perDay?: number }

/** What was found at one moment. */
export type Figures = {
  /** Of the log so far, with those that are erased; while the log is elsewhere, of the audit tree. */
  readonly events: number
  readonly growth: Growth | Unseen
  readonly sizes: readonly Size[]
  readonly disk: Disk | Unseen
  readonly connections: Connections
  /** Of the search index. */
  readonly segments: number | Unseen
  readonly lags: readonly GroupLag[] | Unseen
  readonly wal: Wal
  readonly missing: readonly MissingRight[]
}

export const isUnseen = (value: unknown): value is Unseen =>
  typeof value === 'object' && value !== null && 'unseen' in value
