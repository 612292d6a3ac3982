import { attribution, recordedCommits } from './attribution.ts'
import { exports } from './export.ts'
import { feed } from './feed.ts'
import { history } from './history.ts'
import { invites } from './invites.ts'
import { mcp } from './mcp.ts'
import { members } from './members.ts'
import { messages } from './messages.ts'
import { models } from './models.ts'
import { namespaceUsage } from './namespace-usage.ts'
import { namespaces } from './namespaces.ts'
import { operations } from './operations.ts'
import { audit } from './proof.ts'
import { realtime } from './realtime.ts'
import { search } from './search.ts'
import { sessions } from './sessions.ts'
import { signIns } from './signin.ts'
import { traces } from './traces.ts'
import { users } from './user.ts'

/** All routes of the API. */
export const api = {
  ...sessions,
  ...signIns,
  ...users,
  ...namespaces,
  ...namespaceUsage,
  ...members,
  ...invites,
  ...traces,
  ...messages,
  ...exports,
  ...feed,
  ...search,
  ...attribution,
  ...recordedCommits,
  ...realtime,
  ...history,
  ...audit,
  ...mcp,
  ...models,
  ...operations,
}
