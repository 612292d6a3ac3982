/** The types of the entries of a timeline, each with what it says. */
export const entryMeanings = {
  TraceCreated: 'a trace was created',
  TraceUpdated: 'fields of a trace were changed, or it was uploaded again as it was',
  TraceSummarised: 'the service made a title and a summary of a trace',
  TraceDeleted: 'a trace was deleted, and what it held was erased',
  MessagesUpserted: 'messages were added or changed by one request',
  NamespaceCreated: 'the namespace was created',
  NamespaceUpdated: 'the name or the description of the namespace was changed',
  AvatarChanged: 'the picture of the namespace was changed',
  RetentionChanged: 'it was decided for how long the namespace keeps traces that do not change',
  MemberJoined: 'a user became a member',
  MemberRoleChanged: 'a member got another role',
  MemberRemoved: 'a member was removed, or left',
  InviteCreated: 'an invite was made',
  InviteRevoked: 'an invite was revoked',
} as const

export type EntryType = keyof typeof entryMeanings

export const entryTypes = Object.keys(entryMeanings) as [EntryType, ...EntryType[]]
