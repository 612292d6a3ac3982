import type { TraceTexts } from '../../contract/trace-texts.ts'
import type { MessageTypeCounts, Visibility } from '../../contract/trace.ts'
import type { Arriving } from './arriving.ts'
import type { Earlier } from './earlier-deletions.ts'
import type { LoadedMessages, PartsOfUpsert } from './messages/loaded.ts'

export type TraceFields = TraceTexts & { readonly visibility: Visibility }

export type Counts = {
  readonly messageCount: number
  readonly messageTypeCounts: MessageTypeCounts
  readonly toolTypeCounts: Readonly<Record<string, number>>
}

export type PresentTrace = {
  readonly is: 'present'
  readonly externalId: string
  readonly namespaceId: string
  readonly createdBy: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly fields: TraceFields
  readonly counts: Counts
  readonly summary?: { readonly title?: string; readonly summary: string; readonly messageCount: number }
  readonly earlier: Earlier
  /** The revision at which the newest restatement began; absent while the past was never erased. */
  readonly since?: number
}

export type Trace =
  { readonly is: 'absent'; readonly earlier: Earlier; readonly arriving?: Arriving | undefined } | PresentTrace

/** The state for decisions: a trace, which is immutable, and the loaded data of its messages, which changes in place. */
export type TraceState = { readonly trace: Trace; readonly messages: LoadedMessages }

/** The messages that a write needs, by externalId, each with the parts that the write gives it, if any. */
export type TraceNeed = ReadonlyMap<string, PartsOfUpsert | undefined>
