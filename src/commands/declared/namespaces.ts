import { Argument, Command, Option } from 'commander'
import { secretHelp } from '../../cli/secret.ts'
import type { Role } from '../../client/api/namespaces.ts'
import { clientCommand, yesOption } from './command.ts'
import { wholeNumber } from './values.ts'

const roles = ['admin', 'member'] satisfies readonly Role[]

const namespaceDocument = [
  '{"type":"namespace","namespace"}',
  'a namespace, as the API shows it, with your role',
] as const

const createNamespace = (): Command =>
  clientCommand(
    new Command('create')
      .description('Create a namespace for several people')
      .argument('<slug>', 'its name in addresses')
      .option('--name <name>', 'its display name (default: the slug)')
      .option('--description <text>', 'what it is for'),
    {
      help: {
        about: `
Creates a namespace for several people, with you as its admin. The slug is its name in addresses and for
--namespace: up to 64 lower-case letters, digits and single hyphens. It cannot be changed later.`,
        examples: [
          ['tracebook namespaces create team --name "Our team"'],
          ['tracebook namespaces create team --json', 'for scripts'],
        ],
        documents: [namespaceDocument],
      },
      namespace: false,
      load: async () => (await import('../namespaces.ts')).create,
    },
  )

const renameNamespace = (): Command =>
  clientCommand(
    new Command('rename')
      .description('Change the display name')
      .argument('<slug>', 'the namespace')
      .argument('<name>', 'its new display name'),
    {
      help: {
        about: `
Changes the display name of a namespace, if you are its admin. The slug, its name in addresses, stays.`,
        examples: [
          ['tracebook namespaces rename team "Our team"'],
          ['tracebook namespaces rename team "Our team" --json', 'for scripts'],
        ],
        documents: [namespaceDocument],
      },
      namespace: false,
      load: async () => (await import('../namespaces.ts')).rename,
    },
  )

const namespaces = (): Command =>
  clientCommand(
    new Command('namespaces').option('--all', 'every namespace, from the database of the service: for operators'),
    {
      help: {
        about: `
Lists the namespaces that you are a member of. A namespace owns traces: you have one of your own, and teams
have theirs, whose members read all its traces.

--all is for operators of the service: it lists every namespace with its members, traces and the characters
of their messages, the largest first, and in percent of QUOTA_TRACES and QUOTA_BYTES if these are set as for
the service. The API does not offer this, so it reads the database, like "tracebook users": that of
DATABASE_URL, else that of the service running on DATA_DIR.`,
        examples: [
          ['tracebook namespaces'],
          ['tracebook namespaces create team --name "Our team"', 'a namespace for several people'],
          ['tracebook namespaces --json', 'for scripts'],
          ['QUOTA_BYTES=1000000000 tracebook namespaces --all', 'of the whole service'],
        ],
        documents: [
          namespaceDocument,
          ['{"type":"usage","namespace","members","traces","bytes"}', 'with --all; traces: {used, quota?, percent?}'],
        ],
      },
      namespace: false,
      load: async () => (await import('../namespaces.ts')).list,
    },
  )
    .addCommand(createNamespace())
    .addCommand(renameNamespace())

const memberHelp = 'Name a member by user id, by a prefix of the id (at least four characters), or by name.'

const memberArgument = (): Argument => new Argument('<user>', 'the member: user id, a prefix of it, or name')

const memberDocument = ['{"type":"member","namespace","member"}', 'a member, as the API shows it'] as const

const changeRole = (): Command =>
  clientCommand(
    new Command('role')
      .description('Change the role of a member')
      .addArgument(memberArgument())
      .addArgument(new Argument('<role>', 'the new role').choices(roles)),
    {
      help: {
        about: `
Changes the role of a member. An admin may change members, invites, the namespace and all its traces; a
member only their own traces. The last admin cannot become a member.

${memberHelp}`,
        examples: [
          ['tracebook members role Ada admin --namespace team'],
          ['tracebook members role 7c9e6679 member --namespace team --json', 'for scripts'],
        ],
        documents: [memberDocument],
      },
      load: async () => (await import('../members.ts')).changeRole,
    },
  )

const removeMember = (): Command =>
  clientCommand(
    new Command('remove').description('Remove a member, or leave').addArgument(memberArgument()).addOption(yesOption()),
    {
      help: {
        about: `
Removes a member from a namespace, if you are its admin; or yourself, to leave it. The rights of the member
end at once, and the open invites that the member made are revoked; traces stay. You are asked to confirm
first; without a terminal, --yes is required.

${memberHelp}`,
        examples: [
          ['tracebook members remove Ada --namespace team'],
          ['tracebook members remove 7c9e6679 --namespace team --yes --json', 'for scripts'],
        ],
        documents: [['{"type":"removed","namespace","userId"}', 'the user who was removed']],
      },
      load: async () => (await import('../members.ts')).remove,
    },
  )

const members = (): Command =>
  clientCommand(new Command('members'), {
    help: {
      about: `
Lists the members of your namespace, or of the one of --namespace. Its admins change roles and remove
members; "tracebook invite" invites new ones.`,
      examples: [
        ['tracebook members', 'of the namespace of your login'],
        ['tracebook members --namespace team --json', 'for scripts'],
        ['tracebook members role Ada admin --namespace team', 'make Ada an admin'],
        ['tracebook members remove Ada --namespace team'],
      ],
      documents: [memberDocument],
    },
    load: async () => (await import('../members.ts')).list,
  })
    .addCommand(changeRole())
    .addCommand(removeMember())

const inviteDocument = ['{"type":"invite","namespace","invite"}', 'an invite, as the API shows it to admins'] as const

const listInvites = (): Command =>
  clientCommand(
    new Command('ls')
      .description('List the invites of a namespace')
      .option('--all', 'include invites that can no longer be accepted'),
    {
      help: {
        about: `
Lists the invites of a namespace that can still be accepted, if you are its admin; with --all also the
others.`,
        examples: [['tracebook invite ls --namespace team'], ['tracebook invite ls --namespace team --all --json']],
        documents: [inviteDocument],
      },
      load: async () => (await import('../invite.ts')).list,
    },
  )

const revokeInvite = (): Command =>
  clientCommand(
    new Command('revoke').description('Revoke an invite').argument('<code>', 'the invite: its code, or its link'),
    {
      help: {
        about: `
Revokes an invite, if you are an admin of its namespace: its code stops working. Members who have joined
with it stay.`,
        examples: [
          ['tracebook invite revoke a1B2c3D4e --namespace team'],
          ['tracebook invite revoke a1B2c3D4e --namespace team --json', 'for scripts'],
        ],
        documents: [['{"type":"revoked","namespace","code"}', 'the invite that was revoked']],
      },
      load: async () => (await import('../invite.ts')).revoke,
    },
  )

const acceptInvite = (): Command =>
  clientCommand(
    new Command('accept')
      .description('Join a namespace with an invite')
      .argument('[code]', 'the invite: its code, or its link; -: read it from standard input'),
    {
      help: {
        about: `
Makes you a member of the namespace of an invite. Give the code of the invite, or a link that ends with it.
If you have no user on the server yet, log in with the invite instead: tracebook login --invite CODE
On a terminal you are asked for a name, by which the other members know you, if you have none.

${secretHelp('TRACEBOOK_INVITE_CODE')}`,
        examples: [
          ['tracebook invite accept a1B2c3D4e'],
          ['tracebook invite accept', 'asks for the code'],
          ['tracebook invite accept https://traces.example.org/invite/a1B2c3D4e'],
          ['tracebook invite accept a1B2c3D4e --json', 'for scripts'],
        ],
        documents: [['{"type":"joined","namespace"}', 'the namespace, with your role in it']],
      },
      namespace: false,
      load: async () => (await import('../invite.ts')).accept,
    },
  )

const invite = (): Command =>
  clientCommand(
    new Command('invite')
      .addOption(new Option('--role <role>', 'the role of the new member (default: member)').choices(roles))
      .option('--email <address>', 'only a user with this address may accept')
      .option('--uses <count>', 'how many users may accept; 0: any number (default: 1)', wholeNumber(6)),
    {
      help: {
        about: `
Creates an invite to your namespace, or to that of --namespace, if you are its admin. Send the command that
is printed to the person you invite: its code works for 24 hours and once, or as often as --uses says. With
--email only a user with that address, verified by the code host, may accept.`,
        examples: [
          ['tracebook invite --namespace team'],
          ['tracebook invite --namespace team --role admin --email ada@example.org'],
          ['tracebook invite --namespace team --uses 0', 'for everyone who has the code'],
          ['tracebook invite --namespace team --json', 'for scripts'],
          ['tracebook invite accept a1B2c3D4e', 'join with an invite'],
        ],
        documents: [inviteDocument],
      },
      load: async () => (await import('../invite.ts')).make,
    },
  )
    .addCommand(listInvites())
    .addCommand(revokeInvite())
    .addCommand(acceptInvite())

export const namespaceCommands = { namespaces, members, invite }
