import { hostname, userInfo } from 'node:os'
import { Command } from 'commander'
import { withAction } from './command.ts'
import { serviceEnvironment } from './help.ts'
import { logPosition, someText } from './values.ts'

const copyHelp = `
A log is given as postgres://… or esdb://… (esdb+discover://, kurrentdb://, kurrentdb+discover://), or as
the word "embedded": the PostgreSQL in DATA_DIR, which is started for the copy.
Stop the service first: events that are written during a copy need another run. With "embedded" the copy is
refused while a service runs on DATA_DIR.

  tracebook log copy --from embedded --to esdb://es1:2113?tls=true
  DATA_DIR=/srv/tracebook tracebook log copy --from embedded --to postgres://me@db/tracebook

The target must be empty, or hold a part of this source: an interrupted run, also by Ctrl-C, continues where
it stopped. At the end the whole target is read and compared. Read models are not copied: a service with the
new log builds them, in a database that has never followed the old one.

Events have other revisions in a stream whose beginning was erased, and behind an event that is larger than one
of the two logs takes at once (about 1 MiB in EventStoreDB). The command says in how many streams. A link with
?revision= to such a trace may show another moment, or none; one with ?at= shows the same as before.

The audit tree is in the database, not in the log, and holds leaves of erased events. It is copied into the
database of the target, which must not have one, and compared with the copied log: \`tracebook audit verify\`
can check it at once; if the source was checked before, accept the new log with --accept-log. With
EventStoreDB on either side, name the database of that service:

  tracebook log copy --from embedded --to esdb://es1:2113 --target-database postgres://me@db/tracebook

Environment:
  DATA_DIR         the folder of "embedded" (default: data)
  DISK_RESERVE_MB  the space that a copy to "embedded" leaves free there (default: 256)

Exit codes:
  0  copied and verified
  1  failed, refused (the target holds another log), or interrupted
  2  wrong usage`

const copy = (): Command =>
  withAction(
    new Command('copy')
      .description('Copy a log between PostgreSQL and EventStoreDB, and verify the copy')
      .requiredOption('--from <log>', 'the log to read: a URL, or `embedded`')
      .requiredOption('--to <log>', 'the log to write: a URL, or `embedded`')
      .option('--source-database <url>', 'the database of the service whose log is copied from EventStoreDB')
      .option('--target-database <url>', 'the database of the service whose log is copied to EventStoreDB'),
    copyHelp,
    async () => (await import('../log/copy.ts')).copy,
  )

const scavengeHelp = `
Erased events leave the disk of EventStoreDB with a scavenge; a log in PostgreSQL needs none. The scavenge
runs in the server, also after this command has ended. A server scavenges itself only: the command starts one on
each node of the cluster, which it finds by asking the hosts of the URL, and prints a line for each.

Examples:
  tracebook log scavenge
  tracebook log scavenge --url 'esdb://admin:password@es1:2113,es2:2113,es3:2113?tls=true'

Environment:
  EVENTSTORE_URL  the servers, when --url is not given

Exit codes:
  0  started on every node
  1  a node refused, did not answer, or has a scavenge running since before
  2  wrong usage`

const scavenge = (): Command =>
  withAction(
    new Command('scavenge')
      .description('Free the disk space of events erased from a log in EventStoreDB')
      .option('--url <url>', 'the servers (default: $EVENTSTORE_URL)'),
    scavengeHelp,
    async () => (await import('../log/scavenge.ts')).scavenge,
  )

const quarantineHelp = `
The rows of such a stream stay as they were before the event that failed. Reads and writes of the stream get
503; all other streams are served. What to do:
  1. find out what is wrong with the event, with the code, or with the database
  2. fix that, and run \`tracebook log replay <stream>\`
  3. or give up the event: \`tracebook log skip --position <position> --why <text>\`

A line of --json: group, stream, position and revision (as text), eventId, type, reason, and at, the time of
the event in milliseconds.

Examples:
  tracebook log quarantine
  tracebook log quarantine --json

Environment:
  DATABASE_URL  the database of the service
  DATA_DIR      without DATABASE_URL: the folder of a running service (default: data)

Exit codes:
  0  no stream is in quarantine
  1  the database could not be read
  2  wrong usage
  3  streams are in quarantine`

const quarantine = (): Command =>
  withAction(
    new Command('quarantine')
      .description('List the streams in quarantine: one of their events could not be applied')
      .option('--json', 'print JSON, one document per line'),
    quarantineHelp,
    async () => (await import('../log/quarantine.ts')).list,
  )

const replayHelp = `
Run this after the cause was fixed: all rows of the stream are deleted and rebuilt from its events, in one
transaction, and the stream is served again at once. If one of its events still cannot be applied, the
stream stays in quarantine from there on, and nothing else has changed. A service may be running or not;
projections wait during the replay.

Examples:
  tracebook log replay trace-0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b

${serviceEnvironment}

Exit codes:
  0  the stream is served again
  1  failed
  2  wrong usage, or the stream is not in quarantine: nothing was changed
  3  the stream stays in quarantine`

const replay = (): Command =>
  withAction(
    new Command('replay')
      .description('Rebuild the rows of a stream in quarantine from the log')
      .argument('<stream>', 'as `tracebook log quarantine` lists it'),
    replayHelp,
    async () => (await import('../log/quarantine.ts')).replay,
  )

const skipHelp = `
An event is added to the log that records which event is skipped, who decided so, and why. The skipped event
stays in the log, but no read model applies it any more, not even after \`tracebook rebuild\`: readers lose
what it said. This cannot be undone. While a projector is running, the rows of the stream are rebuilt without
the event within seconds; otherwise as soon as one runs.

Examples:
  tracebook log skip --position 1204 --why "a title that no version can read"

${serviceEnvironment}

Exit codes:
  0  the event is skipped
  1  failed
  2  wrong usage, or no event at this position keeps a stream in quarantine: nothing was changed
  3  the event is skipped, and another one keeps its stream in quarantine`

/** `user@host` of this process; with the user's number if it has no name, as in some containers. */
const currentUser = (): string => {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    return `${process.getuid?.() ?? 'unknown'}@${hostname()}`
  }
}

const skip = (): Command =>
  withAction(
    new Command('skip')
      .description('Skip an event for good that keeps its stream in quarantine')
      .requiredOption(
        '--position <position>',
        'the position of the event, as `tracebook log quarantine` lists it',
        logPosition,
      )
      .requiredOption('--why <text>', 'the reason, for later readers of the log', someText)
      .option('--by <name>', 'who decides it', someText, currentUser()),
    skipHelp,
    async () => (await import('../log/quarantine.ts')).skip,
  )

const restoredHelp = `
Run this after restoring a backup of the log: what was written since that backup is lost, and the clients
that wrote it must learn of it. A new epoch of the log begins, \`logId\` of \`GET /v1/session\` changes, and
clients upload what is missing. A running service notices it within a second, and answers 503 for a
moment, in which it is opened again; a stopped one notices it at its start.
Nothing in the log changes; running it twice does no harm.

Examples:
  tracebook log restored
  DATABASE_URL=postgres://me@db/tracebook tracebook log restored

Environment:
  DATABASE_URL    the database of the service
  DATA_DIR        without DATABASE_URL: the folder of a service, running or not (default: data)
  EVENTSTORE_URL  the log, if the service has it in EventStoreDB; no database is needed then

Exit codes:
  0  a new epoch has begun
  1  failed: the log is out of reach, or there is none
  2  wrong usage`

const restored = (): Command =>
  withAction(
    new Command('restored').description(
      'Record that a backup of the log was restored, so that clients upload what it lacks',
    ),
    restoredHelp,
    async () => (await import('../log/restored.ts')).restored,
  )

const log = (): Command => {
  const command = new Command('log')
  for (const part of [copy, scavenge, quarantine, replay, skip, restored]) command.addCommand(part())
  return command
}

export const logCommands = { log }
