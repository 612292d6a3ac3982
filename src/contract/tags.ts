/** The groups of the reference, in the order in which one meets them. */
export const tags = [
  { name: 'sessions', description: 'Tokens: to get one, to see whose it is, to switch its namespace, to end it.' },
  {
    name: 'sign-in',
    description: 'Signing in with a code host, or a browser or a second device with a one-time code.',
  },
  { name: 'users', description: 'The user behind the token, and the devices and accounts that are the same user.' },
  { name: 'namespaces', description: 'What traces belong to: a person or a team.' },
  { name: 'members', description: 'The users of a namespace and their roles.' },
  { name: 'invites', description: 'Codes by which others become members.' },
  { name: 'traces', description: 'Recorded sessions: what is known of each as a whole.' },
  { name: 'messages', description: 'The messages of a trace and their parts.' },
  { name: 'feed', description: 'The newest traces: public ones, and for a signed-in caller those of the namespace.' },
  { name: 'realtime', description: 'The same lists and traces, told again whenever they change.' },
  { name: 'history', description: 'Who did what and when, and how a trace was at an earlier time; for members.' },
  {
    name: 'audit',
    description:
      'Proof that the log was not changed: a Merkle tree as in RFC 6962, whose heads are signed notes as in C2SP tlog-checkpoint; ' +
      'hashes as tiles of C2SP tlog-tiles.',
  },
  { name: 'models', description: 'Names and facts of models, from the catalogue.' },
  { name: 'operations', description: 'For whoever runs the service.' },
] as const satisfies readonly { readonly name: string; readonly description: string }[]

export type Tag = (typeof tags)[number]['name']
