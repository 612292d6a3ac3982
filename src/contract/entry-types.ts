/** The types of the entries of a timeline, and what each means. */
export const entryMeanings = {
  TraceCreated: 'a trace was created',
  TraceUpdated: 'fields of a trace were changed, or the same fields were uploaded again',
  TraceSummarised: 'the service made a title and a summary for a trace',
  TraceDeleted: 'a trace was deleted, and its content was erased. With `movedTo`: it was moved there',
  HistoryErased:
    'the past of a trace was erased; its present state stayed. With `movedFrom`: it was moved here, and its history begins anew',
  MessagesUpserted: 'messages were added or changed by one request',
  NamespaceCreated: 'the namespace was created',
  NamespaceUpdated: 'the name or the description of the namespace was changed',
  AvatarChanged: 'the picture of the namespace was changed',
  RetentionChanged: 'an admin set for how many days the namespace keeps traces that do not change',
  MemberJoined: 'a user became a member',
  MemberRoleChanged: 'the role of a member was changed',
  MemberRemoved: 'a member left, or was removed',
  InviteCreated: 'an invite was created',
  InviteRevoked: 'an invite was revoked',
} as const

export type EntryType = keyof typeof entryMeanings

export const entryTypes = Object.keys(entryMeanings) as [EntryType, ...EntryType[]]
