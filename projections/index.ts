import { type Group, MAIN, schemaOf } from '../src/eventstore/engine/group.ts'
import type { AnyEvent } from '../src/server/events.ts'
import { attribution } from './attribution/attribution.ts'
import { commits } from './commits.ts'
import { feed } from './feed.ts'
import { identities } from './identities.ts'
import { invites } from './invites.ts'
import { obsoleteRows, sweepObsoleteRows } from './obsolete-rows.ts'
import { members } from './members.ts'
import { messages } from './messages.ts'
import { models } from './models.ts'
import { namespaces } from './namespaces.ts'
import { parts } from './parts.ts'
import { searchDocs } from './search/search.ts'
import { sessions } from './sessions.ts'
import { shapes } from './shapes.ts'
import { sizes } from './sizes.ts'
import { sweepTimeline } from './timeline/sweep.ts'
import { timeline } from './timeline/timeline.ts'
import { traces } from './traces.ts'
import { usage } from './usage.ts'
import { users } from './users.ts'

/**
 * Events that take no rights away. A crash of PostgreSQL may lose the rows that they wrote, until these are written again from the log: in
 * between nobody can read more than they may. A batch with any other event is committed durably (`src/eventstore/engine/apply.ts`).
 *
 * What admits this, and that reads wait after a crash (`src/eventstore/engine/caught-up.ts`), is a figure: with every batch committed durably, batch-ingest
 * came to 0.76 of its rate, message-put to 0.85, and message-put-one to 0.89. These are medians of 21 or 22 turns with and without, on two cores that
 * were shared with others, so that single turns gave 0.4 to 2.2; over the three rows the mean is 0.86 ± 0.05.
 */
const takesNoRights: ReadonlySet<AnyEvent['type']> = new Set([
  'UserCreated',
  'IdentityCreated',
  'SessionCreated',
  'NamespaceCreated',
  'TraceCreated',
  'MessageAdded',
  'MessageUpdated',
  'MessagesCounted',
  'MessageRestated',
  'TraceSummarised',
  'CommitRecorded',
])

/** Events whose rows a crash may lose in groups from which no rights are read: also events that take rights away. */
const whereNoRightIsRead: ReadonlySet<string> = new Set([
  ...takesNoRights,
  'TraceUpdated',
  'NamespaceUpdated',
  'AvatarChanged',
  'MemberJoined',
  'MemberRoleChanged',
  'MemberRemoved',
  'InviteCreated',
  'InviteRevoked',
] satisfies AnyEvent['type'][])

/**
 * The group that commands and queries read from. Raise its version whenever a table or a handler changes: the schema
 * of another version is built from the log.
 */
export const mainGroup: Group = {
  name: MAIN,
  version: 32,
  mayBeUndone: takesNoRights,
  // In the order in which a batch is written: changes of prices come before the messages that look for them, `sizes` reads the rows of traces
  // before they are deleted, the rows of messages and parts take the incarnation from the row of their trace, and `usage` reads the rows of
  // messages before they are updated.
  projections: [
    models,
    users,
    identities,
    sessions,
    namespaces,
    members,
    invites,
    sizes,
    traces,
    feed,
    usage,
    messages,
    parts,
    shapes,
    obsoleteRows,
    commits,
  ],
  sweep: sweepObsoleteRows,
}

/**
 * Who did what, for audits: in a group of its own, because nothing that clients wait for reads from it. Its rows point into
 * the log, so that the past of a trace can be read from there.
 */
export const timelineGroup: Group = {
  name: 'timeline',
  version: 9,
  isLazy: true,
  mayBeUndone: whereNoRightIsRead,
  projections: [timeline],
  sweep: sweepTimeline,
}

/**
 * The search index, in a group of its own: no write waits for it. It reads the present texts of the main group. Who may read a result is
 * decided by the main group, so no right is read from this one.
 */
export const searchGroup: Group = {
  name: 'search',
  version: 12,
  isLazy: true,
  isDeferred: true,
  behind: mainGroup,
  mayBeUndone: whereNoRightIsRead,
  projections: [searchDocs(schemaOf(mainGroup))],
}

/**
 * What the calls of sessions wrote, in a group of its own: no write waits for it. It reads the present messages of the main group, which also decides
 * which of its rows count.
 */
export const attributionGroup: Group = {
  name: 'attribution',
  version: 2,
  isLazy: true,
  isDeferred: true,
  behind: mainGroup,
  mayBeUndone: whereNoRightIsRead,
  projections: [attribution(schemaOf(mainGroup))],
}

/** All groups of read models. A new group is another entry here; the name of a removed group has to be added to `replaces` of another one. */
export const groups: readonly Group[] = [mainGroup, timelineGroup, searchGroup, attributionGroup]
