import { Command } from 'commander'
import { yesOption, withAction } from './command.ts'
import { helpText, serviceEnvironment } from './help.ts'

const jsonOption = ['--json', 'print JSON, one document per line'] as const

const serveHelp = `
Configuration is environment variables: the README lists those that most services need, and links to
all others.

Examples:
  tracebook serve              # everything in one process, at http://127.0.0.1:3000
  tracebook serve --roles api  # with DATABASE_URL: one node of several`

const serve = (): Command =>
  withAction(
    new Command('serve').option(
      '--roles <list>',
      'the roles of this process: api, projector, worker (default: all; also ROLES)',
    ),
    serveHelp,
    async () => {
      ;(await import('../malloc-threshold.ts')).reexecWithMallocThreshold() // before the service is loaded for nothing
      return (await import('../serve.ts')).start
    },
  )

const models = (): Command =>
  new Command('models').addCommand(
    withAction(
      new Command('refresh').description('Read the catalogue of CATALOGUE_URL now, and store what changed'),
      '\nExamples:\n  tracebook models refresh',
      async () => (await import('../models.ts')).refresh,
    ),
  )

const rebuildHelp = `
Uses DATABASE_URL, or the service that runs on DATA_DIR. The service keeps running.

Examples:
  tracebook rebuild`

const rebuild = (): Command =>
  withAction(
    new Command('rebuild').argument(
      '[group]',
      'which read models: main, timeline, search or attribution (default: all, one after the other)',
    ),
    rebuildHelp,
    async () => (await import('../rebuild.ts')).rebuildGroups,
  )

const usersHelp = `
Lists all users of a service from its database, for operators: how they sign in, the namespaces they are
members of, when they last used the service, and how many traces they have uploaded, with the characters of
their messages (counted as for QUOTA_BYTES). Users with the most come first. "tracebook namespaces --all"
lists the sizes of namespaces.

A line of --json: user {id, displayName}, identities [{id, type, login, email, emailVerified}],
namespaces [{id, slug, role}], traces, bytes, and lastUsedAt in milliseconds. Unknown values are
absent.

Examples:
  tracebook users
  tracebook users --json

${serviceEnvironment}

Exit codes:
  0  listed
  1  the log or the database could not be read
  2  wrong usage`

const removeUserHelp = `
Removes a user from the service: every device and account with which they sign in is removed, so their
sessions end, on all nodes within a second. They are removed from all namespaces, and the open invites
that they made are revoked. In the log these are events without an actor; timelines attribute them to the
service.

Their traces stay, and so does their own namespace, which nobody can sign in to any more; its public traces
remain readable. A namespace with other members whose last admin they were is left without an admin; this is
reported. Signing in with the same device or account afterwards creates a new user without any of this, if
SIGN_UP allows it. This cannot be undone. Repeating it does no harm.

You are asked to confirm first; without a terminal, --yes is required.

A line of --json, of type "removed": user {id}, identities (how many were removed), left and stays
[{id, slug, role}]: the namespaces that they left, and those whose last admin they are, with others, the
number of other members.

Examples:
  tracebook users remove 7c9e6679
  tracebook users remove 7c9e6679-7425-40de-944b-e07fc1f90ae7 --yes --json

${serviceEnvironment}

Exit codes:
  0  the user is removed, or was removed before
  1  failed: run it again
  2  wrong usage, no such user, or not confirmed: nothing was changed`

const users = (): Command =>
  withAction(
    new Command('users').option(...jsonOption),
    usersHelp,
    async () => (await import('../users.ts')).list,
  ).addCommand(
    withAction(
      new Command('remove')
        .description('Remove a user from the service')
        .argument('<user>', 'the user: the id, or a prefix of it of at least four characters')
        .addOption(yesOption())
        .option(...jsonOption),
      removeUserHelp,
      async () => (await import('../users.ts')).remove,
    ),
  )

const backupHelp = `
The file holds everything that was acknowledged before the backup began: the log, the audit tree with the
history of its keys, pictures of namespaces, and when sessions were last used. The service keeps running
meanwhile. The file appears only when it is complete; it then replaces a file of that name. Only its owner
can read it. It holds what people have uploaded, so keep it as safe as the service.

Not in it:
  the key that signs checkpoints   keep a copy of DATA_DIR/audit.key, or of AUDIT_KEY, in another place
  settings                         the environment of the service
  what can be rebuilt              read models, jobs, sign-ins in progress, the catalogue of models
  what clients keep                logins and records of uploads are on their machines
  a log in EventStoreDB            this is refused: use the backups of its server

Examples:
  tracebook backup /backups/tracebook.backup
  tracebook backup /dev/stdout | zstd > tracebook.backup.zst
  DATABASE_URL=postgres://me@db/tracebook tracebook backup tracebook.backup

Environment:
  DATABASE_URL     the database of the service
  DATA_DIR         without DATABASE_URL: the folder of a service, running or not (default: data)
  DISK_RESERVE_MB  the space that a backup leaves free where FILE is (default: 256)

Exit codes:
  0  the backup is written, and on the disk
  1  failed: nothing of it remains, and an existing file of that name is unchanged
  2  wrong usage, or the log is in EventStoreDB`

const backup = (): Command =>
  withAction(
    new Command('backup').argument('<file>', 'the file to write'),
    backupHelp,
    async () => (await import('../backup.ts')).backup,
  )

const restoreHelp = `
The whole file is checked first: if it was changed or cut off, nothing is written. No existing data is
overwritten: the folder, or the database, must not hold the data of a service. If the restore is interrupted,
run it again; until it is complete, \`tracebook serve\` refuses that folder or database.

Put audit.key back into DATA_DIR before the first start, or the service creates another key. Then start
it: it builds the read models from the log. What was written after the backup is missing; clients
detect that, and upload what they still have.

Examples:
  tracebook restore /backups/tracebook.backup
  DATABASE_URL=postgres://me@db/empty tracebook restore tracebook.backup

Environment:
  DATABASE_URL     the empty database
  DATA_DIR         without DATABASE_URL: the folder, which is created if it is missing (default: data)
  DISK_RESERVE_MB  the space that it leaves free in DATA_DIR (default: 256)

Exit codes:
  0  restored
  1  failed: data exists already, the file is not a complete backup, or it was interrupted
  2  wrong usage, or there is no such file`

const restore = (): Command =>
  withAction(
    new Command('restore').argument('<file>', 'a file of `tracebook backup`'),
    restoreHelp,
    async () => (await import('../restore.ts')).restore,
  )

const doctorHelp = helpText({
  about: `
Shows what each part of the database takes, how the log has grown in the last day and week, and what ends
first at that growth, and when: the disk, the room to build read models again, connections, segments of the
search index, the time of a rebuild, the lag of read models, and WAL that is kept for standbys.

It only reads, whether the service runs or not. No statement takes longer than a second: rows are as
PostgreSQL estimates them, and so are sizes where the files are too many. An amount grows as the log does, by
as much for each event as so far; a day counts as the last one, or as the mean of the last week if that has more.

Of --json, growth has lastDay and lastWeek, or unknown, which says why; sizes {part, bytes, rows, isEstimate},
where a part is log, tree, the name of a group of read models, other or unused; limits {name, unit, now, limit,
days, unknown, helps}, with the names disk, room, connections, segments, rebuild, lag and wal, where 0 days mean
that it has ended, and no days that an end is not foreseen, or, where unknown says why, not known; lags {group,
events, ms, isStopped}; missingRights {right, hides, grant}. What is not known is absent.`,
  examples: [['tracebook doctor'], ['tracebook doctor --json']],
  documents: [['{"type":"doctor","at","events","growth","sizes","limits","lags"?,"missingRights"}', 'what was found']],
  environment: `Environment:
  DATABASE_URL          the database of the service
  DATA_DIR              without DATABASE_URL: the folder of a service, running or not (default: data)
  DATABASE_CONNECTIONS  how many connections each process may open (default: 42)
  DISK_RESERVE_MB       the space that has to stay free in DATA_DIR (default: 256)
  EVENTSTORE_URL        the log, if the service has it in EventStoreDB: its growth is not seen`,
  exitCodes: {
    0: 'nothing ends within 30 days',
    1: 'the database could not be read, or a right is missing, which is named',
    2: 'wrong usage',
    3: 'something has ended, or ends within 30 days',
  },
})

const doctor = (): Command =>
  withAction(
    new Command('doctor').option(...jsonOption),
    doctorHelp,
    async () => (await import('../doctor/doctor.ts')).examine,
  )

const openapi = (): Command =>
  withAction(
    new Command('openapi'),
    '\nExamples:\n  tracebook openapi > openapi.json',
    async () => (await import('../openapi.ts')).print,
  )

export const serviceCommands = { serve, models, rebuild, users, backup, restore, doctor, openapi }
