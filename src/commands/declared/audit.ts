import { Command } from 'commander'
import { jsonOption, serverOption, withAction } from './command.ts'
import { idHelp, serviceEnvironment, traceArgument } from './help.ts'
import { diff, log, show } from './history.ts'
import { collect } from './values.ts'

const verifyHelp = `
Compares every event of the log with its leaf in the Merkle tree, and the tree with the newest signed
checkpoint and with the one that was kept by the last check. Names each event that was changed, removed,
inserted, moved or reordered. Reads the database of the service and changes nothing in it; the service may
keep running.

  tracebook audit verify                                 the log of DATABASE_URL, or of DATA_DIR
  tracebook audit verify --server https://traces.example.org   by the API: that the log continues what was kept
  tracebook audit verify --offline FILE                  a file of \`tracebook audit proof\` or \`evidence\`, without a service

The newest checkpoint is kept in the configuration folder for the next check, by the id of the log, its origin
and the addresses at which it was served. Keep a copy elsewhere: anyone who can change the database may be able
to change this folder, too. The first check has no checkpoint to compare with, and says so; with --require-kept
nothing is checked then, so that a script notices. If a checkpoint was kept of a log with another id, at the same
address or with the same origin, the log is refused: accept it with --accept-log, and its new key with
--accept-key.

The newest checkpoint must be signed by the key of --key, else by that of AUDIT_KEY, AUDIT_KEY_FILE or DATA_DIR,
else by the key of the kept checkpoint. A key that has replaced another one, and a former key that was unknown at
the last check, must be accepted with --accept-key.

Events that were lost with the end of the log, after a failover or with a backup, are named. When the service
misses them it reports the loss in a line of its log; --accept-lost with the word \`accept\` of that line says
that you know of it: exactly these events may be missing then.

An evidence file is checked step by step, and what holds is said in sentences. Give the key of the log that you
know from elsewhere with --key, and for the lines of commits a clone of the repository with --repo.

With --json, stdout holds one JSON document per line: {"type":"finding","kind",…} for each finding, then
{"type":"verified"|"refused",…}; for a bundle {"type":"proven",…}, for an evidence file {"type":"evidence",
"origin","size","events","sessions","commits","lines":{"checked","of"},"erased","withheld","keyGiven"} or
{"type":"refused","reason","step","place"}.

Environment:
  DATABASE_URL          the database of the service
  DATA_DIR              without DATABASE_URL: the folder of a service, running or not (default: data)
  AUDIT_KEY, AUDIT_KEY_FILE  the key of the service, if it is set there
  EVENTSTORE_URL        the log, if the service has it in EventStoreDB
  TRACEBOOK_CONFIG_DIR  the folder for kept checkpoints, instead of the platform's own

Exit codes:
  0  verified
  1  it could not be checked
  2  wrong usage; with --server also: not logged in
  3  the check found a difference
  4  no checkpoint was kept before, and --require-kept was given`

const verify = (): Command =>
  withAction(
    new Command('verify')
      .description(
        'Check the log against its Merkle tree and its signed checkpoints, or a file of proofs against its key',
      )
      .option('--server [url]', 'check a service by its API (default: $TRACEBOOK_URL, else that of the last login)')
      .option('--offline <file>', 'check a bundle or an evidence file, without a service')
      .option('--repo <folder>', 'with --offline: the repository of the commits in an evidence file')
      .option('--key <key>', 'the public key of the log, as you know it: <name>+<hash>+<base64>')
      .option(
        '--accept-key <key>',
        'a key that has replaced another one, or was replaced; may be repeated',
        collect,
        [],
      )
      .option('--accept-log <id>', 'a log with the address or the origin of another one; may be repeated', collect, [])
      .option('--require-kept', 'refuse a log of which no checkpoint was kept before')
      .option('--accept-lost <loss>', 'a loss that the service has reported; may be repeated', collect, [])
      .addOption(jsonOption()),
    verifyHelp,
    async () => (await import('../audit/verify.ts')).verify,
  )

const proofHelp = `
Prints a bundle: the event, its path to a signed checkpoint of the log, and the key of the log. It can
be checked without the service: tracebook audit verify --offline BUNDLE

  tracebook audit proof 0192f0c1 3 > bundle.json

Needs a login as a member of the trace's namespace. For an event that is seconds old, the next checkpoint is
waited for.

${idHelp}

Environment:
  TRACEBOOK_URL         the server, when --server is not given
  TRACEBOOK_CONFIG_DIR  the folder of the login, instead of the platform's own

Exit codes:
  0  printed
  1  the server refused, or did not answer
  2  wrong usage, not logged in, or there is no such event`

const proof = (): Command =>
  withAction(
    new Command('proof')
      .description('Print a proof that an event of a trace is in the log')
      .argument('<id>', traceArgument)
      .argument('<revision>', 'the revision of the event in the trace')
      .addOption(serverOption()),
    proofHelp,
    async () => (await import('../audit/proof.ts')).proof,
  )

const evidenceHelp = `
Makes one file that shows a stranger which lines of commits stand in recorded sessions, and that the log holds
these events: proofs from each event to a signed checkpoint, the ranges of lines, and the sessions. It is checked
without the service, by \`tracebook audit verify --offline FILE\` or by a program of your own; the format, what it
proves and what it does not are in src/commands/audit/README.md.

  tracebook audit evidence v1.2..v1.3 --output v1.3.evidence.json
  tracebook audit evidence --trace 0192f0c1 > session.evidence.json
  tracebook audit evidence HEAD --hide msg-17 --output head.evidence.json
  tracebook audit evidence --deleted 5e550000-0000-4000-8000-000000000001 --output receipt.evidence.json

The file has the text of the messages that wrote these lines, and with --trace of all messages of a session: who
gets it can read them, and a file cannot be recalled. --hide gives of one message only the hash, --hashes of all.
Nothing is written before all steps of the check have passed. Checkpoints are waited for, 20 seconds in all.

Needs a login as a member of the namespace; --deleted as an admin.

${idHelp}

Environment:
  TRACEBOOK_URL         the server, when --server is not given
  TRACEBOOK_CONFIG_DIR  the folder of the login, instead of the platform's own

Exit codes:
  0  made and checked
  1  the server refused, or did not answer, or what was asked for has changed meanwhile
  2  wrong usage, not logged in, not found, or the file is there already
  3  what the service answered proves nothing, or its log does not continue the checkpoint of --since`

const evidence = (): Command =>
  withAction(
    new Command('evidence')
      .description('Make a file with which strangers can check what sessions wrote')
      .argument('[commits...]', 'ranges such as main..HEAD, or commits (default: @{upstream}..HEAD, else HEAD)')
      .option('--trace <id>', 'also a whole session; may be repeated', collect, [])
      .option('--deleted <id>', 'also the deletion of a trace, by its own id; may be repeated', collect, [])
      .option('--hashes', 'of all events only the hashes, without their text')
      .option('--hide <message>', 'of the events of this message only the hashes; may be repeated', collect, [])
      .option('--since <file>', 'also prove that the log continues the checkpoint in this file')
      .option('--output <file>', 'a new file, instead of standard output')
      .option('--remote <name>', 'the remote by which its sessions are known (default: all remotes)')
      .option('--namespace <slug>', 'the namespace (default: by the rules of the repository, else that of your login)')
      .addOption(serverOption()),
    evidenceHelp,
    async () => (await import('../audit/evidence/evidence.ts')).evidence,
  )

const newKeyHelp = `
Prints a new private key for AUDIT_KEY, or for the file of AUDIT_KEY_FILE, and on stderr the public key
to be published. The origin names the log for good: a host, or a host and a path, without spaces and plus signs.

  tracebook audit new-key traces.example.org/log > audit.key

Exit codes:
  0  printed
  2  wrong usage`

const newKey = (): Command =>
  withAction(
    new Command('new-key')
      .description('Create a key that signs checkpoints')
      .argument('<origin>', 'the name of the log'),
    newKeyHelp,
    async () => (await import('../audit/new-key.ts')).newKey,
  )

const erasuresHelp = `
Lists the deleted traces from the log: when and by whom they were deleted ("system": the service, because the
namespace has a retention period), and whether their content is erased. A deletion stays in the log for good,
without content. Of earlier deletions of the same trace the newest 20 are known, without the number of messages. A trace of which only the past was erased is listed until that is done.

A line of --json: trace {id, externalId}, namespace {id, slug}, createdAt and deletedAt in milliseconds,
deletedBy (the id of a user, or "system"), displayName, messageCount, state ("done" or "pending"), onlyPast
(true: the trace itself stays), and, for a pending one, reason and attempts. Unknown values are absent.

"done" means that no table and no event holds the content any more. How long disks keep its bytes is described
in src/server/erasure/README.md.

Examples:
  tracebook audit erasures
  tracebook audit erasures --pending --json

${serviceEnvironment}

Exit codes:
  0  listed
  1  the log or the database could not be read
  2  wrong usage`

const erasures = (): Command =>
  withAction(
    new Command('erasures')
      .description('List what was deleted, by whom and when, and whether it is erased')
      .option('--json', 'print JSON, one document per line')
      .option('--pending', 'only what is not erased yet'),
    erasuresHelp,
    async () => (await import('../audit/erasures.ts')).erasures,
  )

const replayHelp = `
Builds new read models from the log beside the served ones, which proves that the log can be replayed.
With --compare each row is compared with the served one, at the same position of the log, and each
difference is named: "missing" and "extra" say what is wrong with a served row. Rows of streams in
quarantine are left out, and the streams named. The new read models are dropped, unless --swap puts them in
place of the served ones, which also repairs differences. The service keeps running meanwhile.

A line of --json: type "difference" with group, table, kind ("missing", "extra", "different", "table missing",
"table extra", "columns differ"), key and columns; type "quarantined" with group, stream and reason; type
"replayed" with group and position, and with --compare the number of differences.

Examples:
  tracebook audit replay --compare
  tracebook audit replay --compare --json

${serviceEnvironment}

Exit codes:
  0  replayed, and with --compare equal
  1  failed
  2  wrong usage
  3  there are differences, or streams in quarantine, which were not compared`

const replay = (): Command =>
  withAction(
    new Command('replay')
      .description('Build new read models beside the served ones, and compare them')
      .option('--group <name>', 'which read models (default: all, one after the other)')
      .option('--compare', 'compare them with the served ones, row by row')
      .option('--swap', 'put the new ones in place of the served ones')
      .option('--json', 'print JSON, one document per line'),
    replayHelp,
    async () => (await import('../audit/replay.ts')).replay,
  )

const exportHelp = `
Writes events as JSON lines to stdout, or to a new file: a header, a line for each event in the order of the
log, with id, stream, revision, position, type, and metadata and data as the recorded texts, and a trailer with
the number of events and the SHA-256 of all lines before it (\`head -n -1 FILE | sha256sum\`). Content deleted
before the export is not in it; content deleted later remains in the file.

  tracebook audit export --out log.ndjson
  tracebook audit export --resume log.ndjson     after an interruption, or to add new events
  tracebook audit export --verify log.ndjson     the file on its own, then against the log

--verify names each event that differs, is missing in the log, or is missing in the file; events erased since
the export are no difference. With --offline it checks only the file, without a service.

${serviceEnvironment}

Exit codes:
  0  exported; with --verify: nothing differs
  1  failed
  2  wrong usage
  3  with --verify: the file is incomplete or was changed, or the log differs from it`

const exportCommand = (): Command =>
  withAction(
    new Command('export')
      .description('Write the log, or a part of it, to a file that can be checked')
      .option('--namespace <slug>', 'only a namespace and its traces')
      .option('--trace <id>', 'only one trace: its id, or with --namespace its externalId')
      .option('--out <file>', 'write to a new file instead of stdout')
      .option('--resume <file>', 'continue a file')
      .option('--verify <file>', 'check a file')
      .option('--offline', 'with --verify: check only the file itself'),
    exportHelp,
    async () => (await import('../audit/export.ts')).exportLog,
  )

const importHelp = `
Imports a complete exported log into an empty one, with the ids, revisions and times of its events. The whole
file is checked first: if it was changed or cut off, nothing is written. A file of one namespace or trace is
refused: users and sessions are not in it. If it is interrupted, also by Ctrl-C, another run continues.

The target is the log of --to, given as for \`tracebook log copy\`, else EVENTSTORE_URL, else DATABASE_URL, else
the PostgreSQL of DATA_DIR, which is started for it and must not be served. Start the service on it
afterwards, with a log in EventStoreDB on an empty database: it builds the read models. The log is a new one,
with another logId. Pictures of namespaces are not in a log: copy the table tracebook.avatars.

Examples:
  tracebook audit import log.ndjson

Exit codes:
  0  imported and verified
  1  failed, refused (the file is incomplete, or the log not empty), or interrupted
  2  wrong usage`

const importCommand = (): Command =>
  withAction(
    new Command('import')
      .description('Import an exported log into an empty one')
      .argument('<file>', 'a file of `tracebook audit export`')
      .option('--to <log>', 'the log to write: a URL, or `embedded`'),
    importHelp,
    async () => (await import('../audit/import.ts')).importLog,
  )

const audit = (): Command => {
  const command = new Command('audit')
  const parts = [log, show, diff, verify, proof, evidence, newKey, erasures, replay, exportCommand, importCommand]
  for (const part of parts) command.addCommand(part())
  return command
}

export const auditCommands = { audit }
